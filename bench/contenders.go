package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the bare driver

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/postgres"
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
	case postgres.IsURL(name):
		return contender{"postgres", func(ctx context.Context, _ string) (inserter, error) {
			return inSchema(ctx, name, func(url string) (inserter, error) { return openInserter(postgres.Open(ctx, url)) })
		}, func(ctx context.Context, _ string) (inserter, error) {
			return inSchema(ctx, name, func(url string) (inserter, error) { return openBarePostgres(ctx, url) })
		}}, nil
	}
	return contender{}, fmt.Errorf("archive: want memory, sqlite::memory:, %s or postgres://…", archivePath)
}

// backendInserter is an archive's backend.
type backendInserter struct{ archive.Backend }

func openInserter[B archive.Backend](b B, err error) (inserter, error) {
	if err != nil {
		return nil, err
	}
	return backendInserter{b}, nil
}

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
	pageSize := "PRAGMA page_size=4096"
	if name == sqlite.Memory {
		pageSize = fmt.Sprintf("PRAGMA page_size=%d", sqlite.MemoryPageBytes)
	}
	for _, statement := range []string{
		pageSize, "PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", "PRAGMA wal_autocheckpoint=16384", // as the archive has them
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

// schemaInserter has its tables in a schema of its own, which ends with it.
type schemaInserter struct {
	inserter
	drop func() error
}

func (s schemaInserter) Close() error { return errors.Join(s.inserter.Close(), s.drop()) }

// benchSchema is dropped when it is there: nothing else may have the name.
const benchSchema = "msgpath_bench_archive"

// inSchema opens an inserter in a new schema of the database at a URL.
func inSchema(ctx context.Context, address string, open func(address string) (inserter, error)) (inserter, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the URL of the database cannot be read") // the error would show its password
	}
	execute := func(statement string) error {
		ctx := context.WithoutCancel(ctx)
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, statement)
		return errors.Join(err, conn.Close(ctx))
	}
	const drop = "DROP SCHEMA IF EXISTS " + benchSchema + " CASCADE"
	if err := errors.Join(execute(drop), execute("CREATE SCHEMA "+benchSchema)); err != nil {
		return nil, err
	}
	query := parsed.Query()
	query.Set("search_path", benchSchema)
	parsed.RawQuery = query.Encode()
	i, err := open(parsed.String())
	if err != nil {
		return nil, errors.Join(err, execute(drop))
	}
	return schemaInserter{i, func() error { return execute(drop) }}, nil
}

// barePostgres is the driver with a table of the archive's columns.
type barePostgres struct{ conn *pgx.Conn }

func openBarePostgres(ctx context.Context, address string) (inserter, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, `CREATE TABLE messages (timestamp BIGINT NOT NULL, hash BYTEA NOT NULL, topic BYTEA NOT NULL, content_topic BYTEA NOT NULL,
		stamped BOOLEAN NOT NULL, version BIGINT, ephemeral BOOLEAN, meta BYTEA, rate_limit_proof BYTEA, payload BYTEA NOT NULL,
		PRIMARY KEY (timestamp, hash));
		CREATE UNIQUE INDEX messages_hash ON messages (hash);
		ALTER TABLE messages ALTER COLUMN payload SET STORAGE EXTERNAL`)
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return &barePostgres{conn}, nil
}

func (b *barePostgres) insert(ctx context.Context, rows []archive.Row) error {
	return pgx.BeginFunc(ctx, b.conn, func(tx pgx.Tx) error {
		var all pgx.Batch
		for _, r := range rows {
			values := bareValues(r)
			values[2], values[3] = []byte(r.Topic), []byte(r.Message.GetContentTopic())
			if payload := r.Message.GetPayload(); payload == nil {
				values[len(values)-1] = []byte{}
			}
			all.Queue("INSERT INTO messages ("+bareColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING", values...)
		}
		return tx.SendBatch(ctx, &all).Close()
	})
}

func (b *barePostgres) settle(context.Context) error { return nil }

func (b *barePostgres) Close() error { return b.conn.Close(context.Background()) }
