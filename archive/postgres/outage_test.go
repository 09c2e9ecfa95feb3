package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/postgres"
	"github.com/msgpath/msgpath/internal/postgrestest"
	"github.com/msgpath/msgpath/message"
)

// What the database logs when its server is away and when an insert works again.
const (
	logAway = "postgres is away, writes wait"
	logBack = "postgres is back"
)

// records is a log whose messages can be waited for.
type records chan string

func (r records) Enabled(context.Context, slog.Level) bool { return true }
func (r records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r records) WithGroup(string) slog.Handler            { return r }
func (r records) Handle(_ context.Context, rec slog.Record) error {
	r <- rec.Message
	return nil
}

func (r records) await(t *testing.T, text string) {
	t.Helper()
	select {
	case got := <-r:
		if got != text {
			t.Fatalf("logged %q, want %q", got, text)
		}
	case <-time.After(time.Minute):
		t.Fatalf("nothing logged, want %q", text)
	}
}

func rows(first, n int) (all []archive.Row) {
	for i := range n {
		all = append(all, archivetest.Numbered(uint64(first+i), int64(first+i), 100))
	}
	return all
}

func requireSize(t *testing.T, d *postgres.Database, messages int) {
	t.Helper()
	if s, err := d.Size(t.Context()); err != nil || s.Messages != int64(messages) {
		t.Fatalf("size %+v, %v, want %d messages", s, err, messages)
	}
}

// inserting is an Insert under way.
type inserting struct {
	fresh []bool
	err   error
}

func insert(ctx context.Context, d *postgres.Database, rows []archive.Row) <-chan inserting {
	done := make(chan inserting, 1)
	go func() {
		fresh, err := d.Insert(ctx, rows)
		done <- inserting{fresh, err}
	}()
	return done
}

// requireFresh fails unless every row was new.
func (i inserting) requireFresh(t *testing.T, n int) {
	t.Helper()
	if i.err != nil || len(i.fresh) != n || slices.Contains(i.fresh, false) {
		t.Fatalf("insert: %v, %v, want %d new rows", i.fresh, i.err, n)
	}
}

// A server that is stopped or killed while rows are inserted loses none of them,
// and each is told new once.
func TestOutage(t *testing.T) {
	server := postgrestest.Start(t)
	for name, end := range map[string]func() error{"stop": server.Stop, "kill": server.Kill} {
		t.Run(name, func(t *testing.T) {
			url, err := server.Create(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			log := make(records, 100)
			d := openWith(t, postgres.Options{Logger: slog.New(log)}, url)
			const batches, size = 400, 5
			half, done := make(chan struct{}), make(chan int)
			go func() { done <- insertBatches(t, d, batches, size, half) }()
			<-half
			if err := end(); err != nil {
				t.Fatal(err)
			}
			log.await(t, logAway)
			if d.Ready() == nil {
				t.Error("ready while the server is away")
			}
			if err := server.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			log.await(t, logBack)
			if n := <-done; n != batches*size {
				t.Errorf("%d rows are new, want %d", n, batches*size)
			}
			if err := d.Ready(); err != nil {
				t.Error(err)
			}
			requireSize(t, d, batches*size)
		})
	}
}

// insertBatches returns how many rows were new, and closes half when half are
// inserted.
func insertBatches(t *testing.T, d *postgres.Database, batches, size int, half chan<- struct{}) (n int) {
	for i := range batches {
		if i == batches/2 {
			close(half)
		}
		fresh, err := d.Insert(t.Context(), rows(i*size, size))
		if err != nil {
			t.Errorf("insert: %v", err)
		}
		for _, f := range fresh {
			if f {
				n++
			}
		}
	}
	return n
}

// away returns an opened database whose server has been stopped.
func away(t *testing.T, o postgres.Options) (*postgrestest.Server, *postgres.Database) {
	t.Helper()
	server := postgrestest.Start(t)
	d := openWith(t, o, server.URL())
	requireSize(t, d, 0) // a connection is open
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	return server, d
}

// A server that is read-only, as a standby is until it is promoted, is waited for.
func TestReadOnly(t *testing.T) {
	url, log := postgrestest.Database(t), make(records, 100)
	name := url[strings.LastIndex(url, "/")+1 : strings.Index(url, "?")]
	admin := connect(t, url)
	d := openWith(t, postgres.Options{Logger: slog.New(log)}, url)
	exec(t, admin, `ALTER DATABASE "`+name+`" SET default_transaction_read_only = on`) // for those who connect from now on
	done := insert(t.Context(), d, rows(0, 3))
	log.await(t, logAway)
	if err := d.Ready(); err == nil || !strings.Contains(err.Error(), "25006") {
		t.Errorf("ready: %v, want SQLSTATE 25006", err)
	}
	exec(t, admin, `ALTER DATABASE "`+name+`" RESET default_transaction_read_only`)
	(<-done).requireFresh(t, 3)
	log.await(t, logBack)
}

func TestAway(t *testing.T) {
	log := make(records, 100)
	server, d := away(t, postgres.Options{Logger: slog.New(log)})

	ctx, cancel := context.WithCancel(t.Context())
	done := insert(ctx, d, rows(0, 3))
	log.await(t, logAway)
	cancel()
	if got := <-done; !errors.Is(got.err, context.Canceled) {
		t.Errorf("insert with a done context: %v", got.err)
	}
	if err := d.Delete(t.Context(), []message.Key{rows(0, 1)[0].Key}); err == nil {
		t.Error("deleted without a server")
	}
	if _, err := d.Size(t.Context()); err == nil {
		t.Error("has a size without a server")
	}

	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	requireSize(t, d, 0) // the connection that the server ended is not an error
	(<-insert(t.Context(), d, rows(0, 3))).requireFresh(t, 3)
	log.await(t, logBack)

	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	done = insert(t.Context(), d, rows(3, 3))
	log.await(t, logAway)
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if got := <-done; !errors.Is(got.err, archive.ErrClosed) {
		t.Errorf("insert beside close: %v", got.err)
	}
}

// When patience is over no insert waits any more, until one works.
func TestPatienceEnds(t *testing.T) {
	const patience = 200 * time.Millisecond
	log := make(records, 100)
	server, d := away(t, postgres.Options{Patience: patience, Logger: slog.New(log)})
	begin := time.Now()
	for range 3 {
		got := <-insert(t.Context(), d, rows(0, 3))
		if got.err == nil || !strings.Contains(got.err.Error(), "given up after 200ms") {
			t.Fatalf("insert: %v", got.err)
		}
		if took := time.Since(begin); took < patience {
			t.Fatalf("given up after %v", took)
		}
	}
	log.await(t, logAway)
	if d.Ready() == nil {
		t.Error("ready without a server")
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	(<-insert(t.Context(), d, rows(0, 3))).requireFresh(t, 3)
	log.await(t, logBack)
	if err := d.Ready(); err != nil {
		t.Error(err)
	}
}
