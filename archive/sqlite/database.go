package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"github.com/msgpath/msgpath/archive"
)

// Memory is the name of a database that lives in memory and ends with Close.
const Memory = ":memory:"

// readers bounds the connections that read a file at one time.
const readers = 4

//go:embed migrations/*.sql
var migrations embed.FS

// Database is an archive backend in one SQLite database.
type Database struct {
	name   string
	writer *sql.DB // exactly one connection
	reader *sql.DB // the same as writer for a database in memory

	insert, get, page *sql.Stmt

	// Each method holds mu for reading while it uses a connection, so that
	// Close returns when all are free.
	mu     sync.RWMutex
	closed bool
}

var _ archive.Backend = (*Database)(nil)

// Open opens the database called name, [Memory] or the path of a file, which is
// created if it is not there, and brings its schema up to date. The directory
// must exist. Several processes may have one file open.
func Open(ctx context.Context, name string) (*Database, error) {
	d, err := connect(name)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %q: %w", name, err)
	}
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %q: %w", name, err), d.closePools())
	}
	return d, nil
}

func connect(name string) (*Database, error) {
	d := &Database{name: name}
	var err error
	if name == Memory {
		d.writer, err = pool(Memory, 1, memoryPragmas)
		d.reader = d.writer
		return d, err
	}
	uri, err := fileURI(name)
	if err != nil {
		return nil, err
	}
	if d.writer, err = pool(uri, 1, filePragmas); err != nil {
		return nil, err
	}
	d.reader, err = pool(uri, readers, append(filePragmas[:len(filePragmas):len(filePragmas)], "query_only(1)"))
	return d, err
}

// CheckName says what is wrong with a name that Open would refuse; nil if it
// would try.
func CheckName(name string) error {
	if name == Memory {
		return nil
	}
	_, err := fileURI(name)
	return err
}

// fileURI returns path as a URI, in which no character of path has a meaning.
func fileURI(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("no file path")
	case strings.HasPrefix(path, "file:"), strings.HasPrefix(path, Memory):
		return "", errors.New("want :memory: or a file path, without options")
	case strings.ContainsRune(path, 0):
		return "", errors.New("file path holds a zero byte")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), nil
}

// Every connection runs these when it opens. busy_timeout comes first, since
// the change to WAL itself may find the file locked. Units: ms, bytes (page),
// KiB (negative cache), pages (checkpoint).
var (
	memoryPragmas = []string{"foreign_keys(1)"}
	filePragmas   = []string{
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(1)",
		"wal_autocheckpoint(16384)",
	}
)

// pool returns up to n connections to dsn that never expire: the last
// connection to a database in memory is the database. Transactions take the
// write lock when they begin, where SQLite waits for it; one that reads first
// and writes later is refused at once while another writes.
func pool(dsn string, n int, pragmas []string) (*sql.DB, error) {
	options := url.Values{"_txlock": {"immediate"}, "_pragma": pragmas}
	connector, err := sqlite.NewConnector(dsn + "?" + options.Encode())
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

func (d *Database) prepare(ctx context.Context) (err error) {
	if err := migrate(ctx, d.writer); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if d.insert, err = d.writer.PrepareContext(ctx, insertSQL); err != nil {
		return err
	}
	if d.get, err = d.reader.PrepareContext(ctx, getSQL); err != nil {
		return err
	}
	d.page, err = d.reader.PrepareContext(ctx, pageSQL)
	return err
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

// Close closes the connections, after the calls at work. SQLite moves the write
// ahead log of a file into it when its last connection closes.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if err := d.closePools(); err != nil {
		return fmt.Errorf("sqlite: close %q: %w", d.name, err)
	}
	return nil
}

func (d *Database) closePools() error {
	if d.reader == d.writer {
		return d.writer.Close()
	}
	return errors.Join(d.reader.Close(), d.writer.Close())
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
