package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/msgpath/msgpath/archive"
)

// oldest is the first version of PostgreSQL that has what an insert asks for.
const oldest = 13

//go:embed migrations/*.sql
var migrations embed.FS

// Database is an archive backend in one PostgreSQL database.
type Database struct {
	options Options
	writer  *pgxpool.Pool // one connection
	reader  *pgxpool.Pool

	away outage // whether the server is, as far as inserts know

	// Each method holds mu for reading while it uses a connection, so that
	// Close returns when all are free.
	mu      sync.RWMutex
	closed  bool
	closing chan struct{} // closed by Close: no insert waits any longer
	once    sync.Once
}

var _ archive.Backend = (*Database)(nil)

// Open opens the database at url with the default [Options].
func Open(ctx context.Context, url string) (*Database, error) { return Options{}.Open(ctx, url) }

// Open opens the database at url, "postgres://USER:PASSWORD@HOST:PORT/DATABASE"
// or libpq's keywords, and brings its schema up to date. Several processes may do
// so at once. What url leaves out, the password most of all, comes from the
// environment and files that libpq reads (PGPASSWORD, ~/.pgpass). Errors show no
// more of it than host, user and database. A server that does not answer is an error at once: it is insert that waits.
func (o Options) Open(ctx context.Context, url string) (*Database, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	base, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err)
	}
	d, err := o.withDefaults().connect(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err)
	}
	return d, nil
}

func (o Options) connect(ctx context.Context, base *pgxpool.Config) (*Database, error) {
	if err := migrate(ctx, o.pool(base, 1)); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	d := &Database{options: o, closing: make(chan struct{})}
	var err error
	if d.writer, err = pgxpool.NewWithConfig(ctx, o.pool(base, 1)); err != nil {
		return nil, err
	}
	if d.reader, err = pgxpool.NewWithConfig(ctx, o.pool(base, o.Readers)); err != nil {
		d.writer.Close()
		return nil, err
	}
	return d, nil
}

// migrate brings the schema up to date, under a lock that the server holds for
// whoever is first.
func migrate(ctx context.Context, c *pgxpool.Config) (err error) {
	c.ConnConfig.RuntimeParams["statement_timeout"] = "0" // a step may have much to do
	db := stdlib.OpenDB(*c.ConnConfig)
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := checkVersion(ctx, db); err != nil {
		return err
	}
	p, err := provider(db)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// provider returns what changes the schema of db.
func provider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300), lock.WithUnlockTimeout(1, 60)) // s, times
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker),
		goose.WithTableName("messages_version"), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// checkVersion refuses a server that is too old.
func checkVersion(ctx context.Context, db *sql.DB) error {
	var text string
	if err := db.QueryRowContext(ctx, "SHOW server_version_num").Scan(&text); err != nil {
		return err
	}
	number, err := strconv.Atoi(text)
	if err == nil && number/10000 < oldest {
		err = fmt.Errorf("server is PostgreSQL %d: want %d or later", number/10000, oldest)
	}
	return err
}

// Shared reports that other nodes may have stored what Insert finds there already.
func (d *Database) Shared() bool { return true }

// Ready returns nil, or why inserts wait for the server or have given up on it.
func (d *Database) Ready() error { return d.away.reason() }

// Close closes the connections, after the calls at work. An insert that waits for
// the server gives up.
func (d *Database) Close() error {
	d.once.Do(func() { close(d.closing) })
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		d.writer.Close()
		d.reader.Close()
	}
	return nil
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
