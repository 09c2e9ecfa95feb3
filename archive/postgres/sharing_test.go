package postgres_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/postgres"
	"github.com/msgpath/msgpath/internal/postgrestest"
	"github.com/msgpath/msgpath/message"
)

// Several nodes may find a database empty at once.
func TestOpenTogether(t *testing.T) {
	url := postgrestest.Database(t)
	var opening sync.WaitGroup
	for i := range 3 {
		opening.Go(func() {
			d, err := postgres.Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := d.Insert(t.Context(), rows(i, 1)); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	requireSize(t, open(t, url), 3)
}

// Nodes that insert the same messages in different orders, and delete them, do not
// fail, and each message is new to one of them.
func TestNodesTogether(t *testing.T) {
	const nodes, batches, size = 3, 30, 40
	url := postgrestest.Database(t)
	fresh := make([]int, nodes)
	var inserting sync.WaitGroup
	for node := range nodes {
		d := open(t, url)
		inserting.Go(func() {
			for b := range batches {
				fresh[node] += insertShuffled(t, d, rows(b*size, size), node)
			}
		})
	}
	inserting.Wait()
	if sum := fresh[0] + fresh[1] + fresh[2]; sum != batches*size {
		t.Errorf("new to %v, want %d in all", fresh, batches*size)
	}
	requireSize(t, open(t, url), batches*size)
	deleteTogether(t, rows(0, batches*size), open(t, url), open(t, url))
	requireSize(t, open(t, url), 0)
}

func insertShuffled(t *testing.T, d *postgres.Database, batch []archive.Row, node int) (n int) {
	if node == 1 {
		slices.Reverse(batch)
	}
	if node == 2 {
		batch = slices.Concat(batch[len(batch)/2:], batch[:len(batch)/2])
	}
	fresh, err := d.Insert(t.Context(), batch)
	if err != nil {
		t.Errorf("insert: %v", err)
	}
	for _, f := range fresh {
		if f {
			n++
		}
	}
	return n
}

func deleteTogether(t *testing.T, all []archive.Row, nodes ...*postgres.Database) {
	var keys []message.Key
	for _, r := range all {
		keys = append(keys, r.Key)
	}
	var deleting sync.WaitGroup
	for _, d := range nodes {
		mine := slices.Clone(keys)
		slices.Reverse(keys)
		deleting.Go(func() {
			for chunk := range slices.Chunk(mine, 400) {
				if err := d.Delete(t.Context(), chunk); err != nil {
					t.Errorf("delete: %v", err)
				}
			}
		})
	}
	deleting.Wait()
}

// Nodes whose connections fall on the same row of the size wait for each other, and
// lose nothing of it.
func TestSharedSize(t *testing.T) {
	url := postgrestest.Database(t)
	d, other := open(t, url), connect(t, url)
	hold := func(sign string) {
		exec(t, other, "BEGIN")
		exec(t, other, "UPDATE messages_size SET messages = messages "+sign+" 1, bytes = bytes "+sign+" 10")
	}
	requireBytes := func(messages, bytes int64) {
		t.Helper()
		got, err := d.Size(t.Context())
		if want := (archive.Size{Messages: messages, Bytes: bytes}); err != nil || got != want {
			t.Errorf("size %+v, %v, want %+v", got, err, want)
		}
	}
	batch := rows(0, 3)
	size := archive.SizeOf(batch[0].Topic, batch[0].Message)

	hold("+")
	done := insert(t.Context(), d, slices.Concat(batch, batch))
	awaitLock(t, url)
	exec(t, other, "COMMIT")
	if got := <-done; got.err != nil {
		t.Fatal(got.err)
	}
	requireBytes(16+3, 160+3*size)

	hold("-")
	deleted := make(chan error, 1)
	keys := []message.Key{batch[0].Key, batch[1].Key, {Timestamp: 9}}
	go func() { deleted <- d.Delete(t.Context(), keys) }()
	awaitLock(t, url)
	exec(t, other, "COMMIT")
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	requireBytes(1, size)
}

// awaitLock returns when a connection of the backend's waits for another.
func awaitLock(t *testing.T, url string) {
	t.Helper()
	watch := connect(t, url)
	for waiting := false; !waiting; {
		if err := watch.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE application_name = 'msgpath' AND datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
}

// connect returns a connection beside the backend's.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// An insert that the server ends to resolve a deadlock with others is tried again.
func TestDeadlock(t *testing.T) {
	url := postgrestest.Database(t)
	d, other := open(t, url), connect(t, url)
	batch := rows(0, 2)
	slices.SortFunc(batch, func(a, b archive.Row) int { return slices.Compare(a.Key.Hash[:], b.Key.Hash[:]) })
	exec(t, other, "SET deadlock_timeout = '1min'") // it is the insert that is ended
	exec(t, other, "BEGIN")
	exec(t, other, rawInsert, batch[1].Key.Timestamp, batch[1].Key.Hash[:])
	done := insert(t.Context(), d, batch)
	awaitLock(t, url) // holds the first row, wants the second
	exec(t, other, rawInsert, batch[0].Key.Timestamp, batch[0].Key.Hash[:])
	exec(t, other, "COMMIT")
	if got := <-done; got.err != nil || slices.Contains(got.fresh, true) {
		t.Fatalf("insert: %v, %v, want nothing new", got.fresh, got.err)
	}
}

const rawInsert = `INSERT INTO messages (timestamp, hash, stamped, size, topic, content_topic, payload)
	VALUES ($1, $2, true, 0, '', 't', '')`

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}
