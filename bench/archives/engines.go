package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/cockroachdb/pebble/v2"
	_ "github.com/mattn/go-sqlite3"
	"github.com/ncruces/go-sqlite3"
)

const (
	schema = `CREATE TABLE messages (key BLOB NOT NULL PRIMARY KEY, hash BLOB NOT NULL, payload BLOB NOT NULL);
		CREATE UNIQUE INDEX messages_hash ON messages (hash)`
	insert = `INSERT INTO messages VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
)

func synchronous(each bool) string {
	if each {
		return "FULL"
	}
	return "NORMAL"
}

// appended is a file.
type appended struct {
	*os.File
	each bool
}

func openAppend(name string, each bool) (engine, error) {
	f, err := os.Create(name)
	return appended{f, each}, err
}

func (a appended) insert(batch []message) error {
	for _, m := range batch {
		if _, err := a.Write(m.payload); err != nil {
			return err
		}
	}
	if a.each {
		return a.Sync()
	}
	return nil
}

func (a appended) finish() error { return errors.Join(a.Sync(), a.Close()) }

// cgo is SQLite compiled by a C compiler.
type cgo struct {
	db   *sql.DB
	stmt *sql.Stmt
}

func mattn(page int) func(string, bool) (engine, error) {
	return func(name string, each bool) (engine, error) {
		db, err := sql.Open("sqlite3", "file:"+name+"?_txlock=immediate&_sync="+synchronous(each))
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		if _, err := db.Exec(fmt.Sprintf("PRAGMA page_size=%d; PRAGMA journal_mode=WAL; %s", page, schema)); err != nil {
			return nil, err
		}
		stmt, err := db.Prepare(insert)
		return cgo{db, stmt}, err
	}
}

func (c cgo) insert(batch []message) error {
	tx, err := c.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	stmt := tx.Stmt(c.stmt)
	for _, m := range batch {
		if _, err := stmt.Exec(m.key, m.key[8:], m.payload); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (c cgo) finish() error {
	_, err := c.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, c.db.Close())
}

// wasm is SQLite compiled to WebAssembly and from there to Go, through its own
// interface and not database/sql.
type wasm struct {
	conn *sqlite3.Conn
	stmt *sqlite3.Stmt
}

func ncruces(page int) func(string, bool) (engine, error) {
	return func(name string, each bool) (engine, error) {
		conn, err := sqlite3.Open("file:" + name)
		if err != nil {
			return nil, err
		}
		if err := conn.Exec(fmt.Sprintf("PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=%s; %s",
			page, synchronous(each), schema)); err != nil {
			return nil, err
		}
		stmt, _, err := conn.Prepare(insert)
		return wasm{conn, stmt}, err
	}
}

func (w wasm) insert(batch []message) (err error) {
	tx, err := w.conn.BeginImmediate()
	if err != nil {
		return err
	}
	defer tx.End(&err)
	for _, m := range batch {
		if err := errors.Join(w.stmt.BindBlob(1, m.key), w.stmt.BindBlob(2, m.key[8:]), w.stmt.BindBlob(3, m.payload)); err != nil {
			return err
		}
		if err := w.stmt.Exec(); err != nil {
			return err
		}
	}
	return nil
}

func (w wasm) finish() error {
	return errors.Join(w.conn.Exec("PRAGMA wal_checkpoint(TRUNCATE)"), w.stmt.Close(), w.conn.Close())
}

// lsm is a log-structured merge tree. It looks for each key before it is set, as
// an archive must say whether a message is new.
type lsm struct {
	db   *pebble.DB
	each bool
}

func pebbles(separate bool) func(string, bool) (engine, error) {
	return func(name string, each bool) (engine, error) {
		o := &pebble.Options{
			FormatMajorVersion: pebble.FormatNewest, MemTableSize: 64 << 20,
			Logger: quiet{log.New(io.Discard, "", 0)},
		}
		o.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
			return pebble.ValueSeparationPolicy{Enabled: separate, MinimumSize: 4096, MaxBlobReferenceDepth: 10}
		}
		db, err := pebble.Open(name, o)
		return lsm{db, each}, err
	}
}

// quiet is a pebble.Logger.
type quiet struct{ *log.Logger }

func (q quiet) Infof(format string, args ...any)  { q.Printf(format, args...) }
func (q quiet) Errorf(format string, args ...any) { q.Printf(format, args...) }

func (l lsm) insert(batch []message) error {
	b := l.db.NewIndexedBatch()
	defer func() { _ = b.Close() }()
	for _, m := range batch {
		_, c, err := b.Get(m.key[8:])
		if err == nil {
			_ = c.Close()
			continue
		}
		if !errors.Is(err, pebble.ErrNotFound) {
			return err
		}
		if err := errors.Join(b.Set(m.key[8:], m.payload, nil), b.Set(m.key, nil, nil)); err != nil {
			return err
		}
	}
	if l.each {
		return b.Commit(pebble.Sync)
	}
	return b.Commit(pebble.NoSync)
}

func (l lsm) finish() error { return errors.Join(l.db.Flush(), l.db.Close()) }
