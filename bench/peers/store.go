package peers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/msgpath/msgpath/message/pb"
)

const schema = `CREATE TABLE messages (
	id BLOB PRIMARY KEY, topic TEXT NOT NULL, content_topic TEXT NOT NULL,
	version INTEGER, timestamp INTEGER, meta BLOB, payload BLOB NOT NULL)`

const insertRow = `INSERT OR IGNORE INTO messages
	(id, topic, content_topic, version, timestamp, meta, payload) VALUES (?, ?, ?, ?, ?, ?, ?)`

// store is the database of one node.
type store struct {
	db     *sql.DB
	insert *sql.Stmt
}

// openStore opens a new database in a file, or in memory if file is "".
func openStore(ctx context.Context, file string) (*store, error) {
	db, err := sql.Open("sqlite", dataSource(file))
	if err != nil {
		return nil, fmt.Errorf("peers: open database: %w", err)
	}
	db.SetMaxOpenConns(1) // SQLite has one writer, and a database in memory one connection
	s := &store{db: db}
	if _, err = db.ExecContext(ctx, schema); err == nil {
		s.insert, err = db.PrepareContext(ctx, insertRow)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("peers: prepare database: %w", err), db.Close())
	}
	return s, nil
}

// dataSource returns what database/sql is given; busy_timeout is in ms.
func dataSource(file string) string {
	if file == "" {
		return ":memory:"
	}
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)"}}
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: pragmas.Encode()}).String()
}

func (s *store) save(ctx context.Context, id []byte, topic string, m *pb.WakuMessage) error {
	_, err := s.insert.ExecContext(ctx, id, topic, m.GetContentTopic(), m.Version, m.Timestamp, m.GetMeta(), m.GetPayload())
	if err != nil {
		return fmt.Errorf("peers: insert message: %w", err)
	}
	return nil
}

func (s *store) close() error { return errors.Join(s.insert.Close(), s.db.Close()) }
