package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the bare driver

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// An inserter keeps rows: an archive's backend, or what is under it.
type inserter interface {
	insert(ctx context.Context, rows []archive.Row) error
	settle(ctx context.Context) error // does what inserts put off
	Close() error
}

// An opener opens a new, empty inserter, which may have its files in a folder that is
// removed when it is closed.
type opener func(ctx context.Context, folder string) (inserter, error)

// A contender is an archive and the bare driver under it.
type contender struct {
	name          string
	archive, bare opener
}

// contenderOf returns the archive called name.
func contenderOf(name string) (contender, error) {
	switch {
	case name == "memory":
		return contender{name, func(context.Context, string) (inserter, error) {
			return backendInserter{archive.NewMemory()}, nil
		}, func(context.Context, string) (inserter, error) { return make(mapInserter), nil }}, nil
	case name == "sqlite:"+sqlite.Memory:
		return contender{name, func(ctx context.Context, _ string) (inserter, error) {
			return openInserter(sqlite.Open(ctx, sqlite.Memory))
		}, func(ctx context.Context, _ string) (inserter, error) { return openBareSQLite(ctx, sqlite.Memory) }}, nil
	case strings.HasPrefix(name, "sqlite:"):
		return contender{archivePath, func(ctx context.Context, folder string) (inserter, error) {
			return openInserter(sqlite.Open(ctx, filepath.Join(folder, "archive.db")))
		}, func(ctx context.Context, folder string) (inserter, error) {
			return openBareSQLite(ctx, filepath.Join(folder, "bare.db"))
		}}, nil
	}
	return contender{}, fmt.Errorf("archive %q: want memory, sqlite::memory: or %s", name, archivePath)
}

// backendInserter is an archive's backend.
type backendInserter struct{ archive.Backend }

func openInserter(b archive.Backend, err error) (inserter, error) { return backendInserter{b}, err }

func (b backendInserter) insert(ctx context.Context, rows []archive.Row) error {
	fresh, err := b.Insert(ctx, rows)
	for i := range fresh {
		if !fresh[i] {
			return fmt.Errorf("row %s was known", rows[i].Key.Hash)
		}
	}
	return err
}

func (b backendInserter) settle(ctx context.Context) error {
	if c, ok := b.Backend.(checkpointer); ok {
		return c.Checkpoint(ctx)
	}
	return nil
}

// mapInserter is what an archive in memory is without one.
type mapInserter map[message.Hash]*pb.WakuMessage

func (m mapInserter) insert(_ context.Context, rows []archive.Row) error {
	for _, r := range rows {
		m[r.Key.Hash] = r.Message
	}
	return nil
}

func (m mapInserter) settle(context.Context) error { return nil }
func (m mapInserter) Close() error                 { return nil }

// bareSQLite is the driver with a table of the archive's columns, payloads in rows.
type bareSQLite struct {
	db   *sql.DB
	stmt *sql.Stmt
}

// bareColumns are an archive's, for both databases.
const bareColumns = "timestamp, hash, topic, content_topic, stamped, version, ephemeral, meta, rate_limit_proof, payload"

func openBareSQLite(ctx context.Context, name string) (inserter, error) {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	b := &bareSQLite{db: db}
	for _, statement := range []string{
		"PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL",
		`CREATE TABLE messages (timestamp INTEGER NOT NULL, hash BLOB NOT NULL, topic TEXT NOT NULL, content_topic TEXT NOT NULL,
			stamped INTEGER NOT NULL, version INTEGER, ephemeral INTEGER, meta BLOB, rate_limit_proof BLOB, payload BLOB NOT NULL,
			PRIMARY KEY (timestamp, hash))`,
		`CREATE UNIQUE INDEX messages_hash ON messages (hash)`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	b.stmt, err = db.PrepareContext(ctx, "INSERT INTO messages ("+bareColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return b, nil
}

func (b *bareSQLite) insert(ctx context.Context, rows []archive.Row) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	stmt := tx.StmtContext(ctx, b.stmt)
	for _, r := range rows {
		if _, err := stmt.ExecContext(ctx, bareValues(r)...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// bareValues are those of bareColumns.
func bareValues(r archive.Row) []any {
	m := r.Message
	return []any{
		r.Key.Timestamp, r.Key.Hash[:], r.Topic, m.GetContentTopic(), m.Timestamp != nil, m.Version, m.Ephemeral, m.GetMeta(), m.GetRateLimitProof(), m.GetPayload(),
	}
}

func (b *bareSQLite) settle(ctx context.Context) error {
	_, err := b.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

func (b *bareSQLite) Close() error { return errors.Join(b.stmt.Close(), b.db.Close()) }
