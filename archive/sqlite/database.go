package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/segments"
)

// Memory is the name of a database that lives in memory and ends with Close.
const Memory = ":memory:"

// A store keeps payloads at places that the caller chooses.
type store interface {
	Append(at segments.Place, payloads ...[]byte) error
	Read(at segments.Place) ([]byte, error)
	Close() error
}

// readers bounds the connections that read a file at one time.
const readers = 4

//go:embed migrations/*.sql
var migrations embed.FS

// Database is an archive backend in one SQLite database. That of a file keeps
// large payloads in segments beside it, see package segments.
type Database struct {
	name     string
	options  Options
	writer   *sql.DB        // exactly one connection
	reader   *sql.DB        // the same as writer for a database in memory
	keeper   *sql.DB        // checkpoints beside the writer; nil in memory
	payloads store          // where those go that do not lie in their rows
	dir      *segments.Dir  // the same for a file; nil in memory
	next     segments.Place // where the next payload goes, in memory; a file is asked

	direct direct // of the writer, for inserts

	flusher flusher
	lost    int // rows that recover deleted

	// Each method holds mu for reading while it uses a connection, so that
	// Close returns when all are free.
	mu     sync.RWMutex
	closed bool
}

var _ archive.Backend = (*Database)(nil)

// Open opens the database called name with the default [Options].
func Open(ctx context.Context, name string) (*Database, error) { return Options{}.Open(ctx, name) }

// Open opens the database called name, [Memory] or the path of a file, which is
// created if it is not there, and brings its schema up to date. The directory
// must exist. Links are followed, and a relative path is that of now. Several
// processes may have one file open. Payloads that a loss of power took are missed
// here, see [Database.Lost]; a file that was moved without any is refused.
func (o Options) Open(ctx context.Context, name string) (*Database, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	d, err := connect(name, o.withDefaults(name))
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %q: %w", name, err)
	}
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %q: %w", name, err), d.release())
	}
	return d, nil
}

// PayloadDir returns the folder of the segments of a database file, which is the
// file itself and not a link to it.
func PayloadDir(file string) string { return file + ".payloads" }

func connect(name string, o Options) (*Database, error) {
	d := &Database{name: name, options: o}
	var err error
	if name == Memory {
		d.writer, err = pool(Memory, 1, o.memory())
		d.reader, d.payloads, d.next = d.writer, segments.NewMemory(), segments.Place{Segment: 1}
		return d, err
	}
	if err := CheckName(name); err != nil {
		return nil, err
	}
	file, err := resolve(name)
	if err != nil {
		return nil, fmt.Errorf("unable to open database file: %w", err)
	}
	uri := fileURI(file)
	for _, p := range []struct {
		pool  **sql.DB
		n     int
		setup url.Values
	}{{&d.writer, 1, o.file()}, {&d.reader, readers, o.file("query_only(1)")}, {&d.keeper, 1, o.file()}} {
		if *p.pool, err = pool(uri, p.n, p.setup); err != nil {
			return nil, err
		}
	}
	d.dir = segments.New(PayloadDir(file))
	d.payloads = d.dir
	return d, nil
}

// CheckName says what is wrong with a name that Open would refuse; nil if it
// would try.
func CheckName(name string) error {
	switch {
	case name == Memory:
		return nil
	case name == "":
		return errors.New("no file path")
	case strings.HasPrefix(name, "file:"), strings.HasPrefix(name, Memory):
		return errors.New("want :memory: or a file path, without options")
	case strings.ContainsRune(name, 0):
		return errors.New("file path holds a zero byte")
	}
	return nil
}

// resolve returns the absolute path of a file, or of one that is not there yet,
// without links: SQLite follows links, and the payloads lie beside what it finds.
func resolve(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	file, err := filepath.EvalSymlinks(abs)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, filepath.Base(abs))
	target, err := os.Readlink(file)
	if err != nil {
		return file, nil // a new file, and no link to one
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return resolve(target)
}

// fileURI returns an absolute path as a URI, in which no character has a meaning.
func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// pool returns up to n connections to dsn that never expire: the last
// connection to a database in memory is the database. Transactions take the
// write lock when they begin, where SQLite waits for it; one that reads first
// and writes later is refused at once while another writes.
func pool(dsn string, n int, setup url.Values) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dsn + "?" + setup.Encode())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	return db, nil
}

// begin begins a transaction that ends with the caller's Commit or Rollback and not
// with ctx, so that nobody else gets the write lock while segments are written.
// Its wait for a connection ends with ctx. The second result is to be closed at
// the end.
func (d *Database) begin(ctx context.Context) (*sql.Tx, *sql.Conn, error) {
	conn, err := d.writer.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return tx, conn, nil
}

func (d *Database) prepare(ctx context.Context) error {
	if err := migrate(ctx, d.writer); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if d.dir != nil {
		if err := d.recover(ctx); err != nil {
			return fmt.Errorf("recover: %w", err)
		}
	}
	return nil
}

// migrate brings the schema up to date. Another process may be doing the same:
// a step that fails because the other was faster is tried again, and finds
// itself done.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	for range 5 {
		if _, err = p.Up(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// Close synchronises and closes the connections, after the calls at work. SQLite
// moves the write ahead log of a file into it when its last connection closes.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if err := errors.Join(d.flushLast(context.Background()), d.release()); err != nil {
		return fmt.Errorf("sqlite: close %q: %w", d.name, err)
	}
	return nil
}

func (d *Database) release() error {
	err := d.direct.release(d.writer)
	if d.dir != nil {
		err = errors.Join(err, d.reader.Close(), d.keeper.Close())
	}
	return errors.Join(err, d.writer.Close(), d.payloads.Close())
}

// use reserves d for the caller, who calls d.mu.RUnlock unless it fails.
func (d *Database) use() error {
	d.mu.RLock()
	if d.closed {
		d.mu.RUnlock()
		return archive.ErrClosed
	}
	return nil
}
