package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/internal/postgrestest"
	"github.com/msgpath/msgpath/message"
)

// filled returns a database with n rows whose statistics are known.
func filled(t *testing.T, n int) *Database {
	t.Helper()
	d, err := Open(t.Context(), postgrestest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	var rows []archive.Row
	for i := range n {
		rows = append(rows, archivetest.Numbered(uint64(i), int64(i), 1000))
	}
	if _, err := d.Insert(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if _, err := d.writer.Exec(t.Context(), "VACUUM ANALYZE messages"); err != nil {
		t.Fatal(err)
	}
	return d
}

// Each selection goes by an index; one without data reads nothing else.
func TestPlans(t *testing.T) {
	d := filled(t, 5000)
	key := &message.Key{Timestamp: 2500}
	for name, c := range map[string]struct {
		s    archive.Selection
		want string
	}{
		"keys":           {archive.Selection{Limit: 512}, "Index Only Scan using messages_pkey"},
		"keys after":     {archive.Selection{After: key, Limit: 512}, "Index Only Scan using messages_pkey"},
		"sizes":          {archive.Selection{Sizes: true, Limit: 512}, "Index Only Scan using messages_pkey"},
		"newest first":   {archive.Selection{Before: key, Descending: true, Data: true, Limit: 20}, "Index Scan Backward using messages_pkey"},
		"content topics": {archive.Selection{ContentTopics: []string{"/archivetest/1/numbered/proto"}, After: key, Data: true, Limit: 20}, "Index Scan using messages_pkey"},
		"one hash":       {archive.Selection{Hashes: make([]message.Hash, 1), Data: true, Limit: 1}, "Index Scan using messages_hash"},
		"hashes":         {archive.Selection{Hashes: make([]message.Hash, 50), Data: true, Limit: 50}, "messages_hash"},
	} {
		query, args := statement(c.s)
		requirePlan(t, d, name, c.want, query, args...)
	}
	text := plan(t, d, deleteSQL, []int64{1}, [][]byte{make([]byte, 32)})
	if !strings.Contains(text, "Index") || strings.Contains(text, "Seq Scan on messages m") {
		t.Errorf("delete: want an index\n%s", text)
	}
	if text := plan(t, d, sizeSQL); strings.Contains(text, "messages ") || strings.Contains(text, "messages_pkey") {
		t.Errorf("size reads the messages\n%s", text)
	}
}

func requirePlan(t *testing.T, d *Database, name, want, query string, args ...any) {
	t.Helper()
	if text := plan(t, d, query, args...); !strings.Contains(text, want) || strings.Contains(text, "Seq Scan") {
		t.Errorf("%s: want %s\n%s", name, want, text)
	}
}

func plan(t *testing.T, d *Database, query string, args ...any) string {
	t.Helper()
	rows, err := d.writer.Query(t.Context(), "EXPLAIN "+query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(lines, "\n")
}

// The bounds of connections, and what the server is told of each.
func TestConnections(t *testing.T) {
	d := filled(t, 1)
	if w, r := d.writer.Config().MaxConns, d.reader.Config().MaxConns; w != 1 || r != DefaultReaders {
		t.Errorf("%d and %d connections, want 1 and %d", w, r, DefaultReaders)
	}
	for name, want := range map[string]string{
		"application_name": "msgpath", "statement_timeout": "10s", "idle_in_transaction_session_timeout": "10s",
	} {
		var got string
		if err := d.reader.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, %v, want %q", name, got, err, want)
		}
	}
}
