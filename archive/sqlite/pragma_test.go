package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
)

// Each connection of a pool has the settings, not the first one alone.
func TestEveryConnectionIsSet(t *testing.T) {
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	want := map[string]string{
		"journal_mode": "wal", "synchronous": "1", "busy_timeout": "10000",
		"foreign_keys": "1", "wal_autocheckpoint": "16384", "query_only": "0", "page_size": "4096",
	}
	requirePragmas(t, d.writer, 1, want)
	requirePragmas(t, d.keeper, 1, want)
	want["query_only"] = "1"
	requirePragmas(t, d.reader, readers, want)
}

func TestOptionsSetTheConnections(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want map[string]string
	}{
		{Memory, Options{}, map[string]string{"journal_mode": "memory", "page_size": "16384"}},
		{"each.db", Options{Sync: SyncEach}, map[string]string{"journal_mode": "wal", "synchronous": "2"}},
		{"page.db", Options{page: 65536}, map[string]string{"journal_mode": "wal", "page_size": "65536"}},
	} {
		if c.name != Memory {
			c.name = filepath.Join(t.TempDir(), c.name)
		}
		d, err := c.o.Open(t.Context(), c.name)
		if err != nil {
			t.Fatal(err)
		}
		requirePragmas(t, d.writer, 1, c.want)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := (Options{Sync: 7}).Open(t.Context(), Memory); err == nil {
		t.Error("Sync 7 was accepted")
	}
}

func requirePragmas(t *testing.T, db *sql.DB, n int, want map[string]string) {
	t.Helper()
	for range n { // all held at once, so that each is another one
		conn, err := db.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		for name, value := range want {
			var got string
			if err := conn.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != value {
				t.Errorf("%s = %s, want %s", name, got, value)
			}
		}
	}
}

func TestReadsUseTheirIndex(t *testing.T) {
	d, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	var key message.Key
	for _, c := range []struct {
		selection archive.Selection
		plan      string
	}{
		{archive.Selection{Hashes: []message.Hash{{}}, Data: true}, "SEARCH messages USING INDEX messages_hash (hash=?)"},
		{archive.Selection{}, "SCAN messages USING COVERING INDEX sqlite_autoindex_messages_1"},
		{archive.Selection{Descending: true, Topic: "t"}, "SCAN messages USING INDEX sqlite_autoindex_messages_1"},
		{archive.Selection{After: &key}, "SEARCH messages USING COVERING INDEX sqlite_autoindex_messages_1 ((timestamp,hash)>(?,?))"},
		{archive.Selection{After: &key, Before: &key, ContentTopics: []string{"a", "b"}, Data: true}, "SEARCH messages USING INDEX sqlite_autoindex_messages_1 ((timestamp,hash)>(?,?) AND (timestamp,hash)<(?,?))"},
		{archive.Selection{Before: &key, Descending: true, Sizes: true}, "SEARCH messages USING INDEX sqlite_autoindex_messages_1 ((timestamp,hash)<(?,?))"},
	} {
		query, args := statement(c.selection)
		rows, err := d.reader.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		requirePlan(t, rows, c.plan)
	}
	for _, c := range []struct {
		query, plan string
		args        []any
	}{
		{unsyncedSQL, "SEARCH messages USING INDEX messages_place ((segment,offset)>(?,?))", []any{1, 0}},
		{endSQL, "SEARCH messages USING COVERING INDEX messages_place (segment>?)", nil},
	} {
		rows, err := d.reader.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+c.query, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		requirePlan(t, rows, c.plan)
	}
}

func requirePlan(t *testing.T, rows *sql.Rows, want string) {
	t.Helper()
	defer func() { _ = rows.Close() }()
	steps := 0
	for ; rows.Next(); steps++ {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		if detail != want {
			t.Errorf("step %q, want %q", detail, want)
		}
	}
	if steps != 1 || rows.Err() != nil {
		t.Errorf("%d steps, error %v", steps, rows.Err())
	}
}
