package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/postgres"
	"github.com/msgpath/msgpath/internal/postgrestest"
	"github.com/msgpath/msgpath/message"
)

// What a wire may wait for. Migrations end with "commit".
const (
	aCommit   = "COMMIT\x00"
	aRollback = "rollback\x00"
)

// A wire carries connections to a server and does to the first request that holds
// what it waits for what fault says.
type wire struct {
	listener net.Listener
	socket   string // of the server
	request  string
	fault    func(l *link, commit []byte)
	pumps    sync.WaitGroup

	faulted   atomic.Bool
	undecided chan struct{} // closed when the server has said that a transaction is in progress
	once      sync.Once
}

// A link is one connection through the wire.
type link struct {
	wire           *wire
	client, server net.Conn
	muted          atomic.Bool   // what the server says is dropped
	answered       chan struct{} // gets a value when some was
}

// through returns the database at to as it is reached through a wire.
func through(t *testing.T, to, request string, fault func(*link, []byte)) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{socket: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"), request: request, fault: fault, undecided: make(chan struct{})}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	w.pumps.Go(w.accept)
	t.Cleanup(func() { w.listener.Close(); w.pumps.Wait() })
	u.Host, u.RawQuery = w.listener.Addr().String(), "sslmode=disable"
	return u.String()
}

func (w *wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("unix", w.socket)
		if err != nil { // as if there were no wire
			client.Close()
			continue
		}
		l := &link{wire: w, client: client, server: server, answered: make(chan struct{}, 1)}
		w.pumps.Go(l.requests)
		w.pumps.Go(l.answers)
	}
}

func (l *link) requests() {
	defer l.server.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := l.client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], []byte(l.wire.request)) && l.wire.faulted.CompareAndSwap(false, true) {
			l.wire.fault(l, buffer[:n])
			return
		}
		if _, err := l.server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (l *link) answers() {
	defer l.client.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := l.server.Read(buffer)
		switch {
		case err != nil:
			return
		case l.muted.Load():
			l.answered <- struct{}{}
			continue
		}
		if bytes.Contains(buffer[:n], []byte("in progress")) {
			l.wire.once.Do(func() { close(l.wire.undecided) })
		}
		if _, err := l.client.Write(buffer[:n]); err != nil && !l.muted.Load() {
			return
		}
	}
}

// send gives the server a commit, and waits for the answer, which nobody gets.
func (l *link) send(commit []byte) {
	l.muted.Store(true)
	if _, err := l.server.Write(commit); err == nil {
		<-l.answered
	}
}

// Rows whose commit was on its way when the connection broke are new, once,
// whatever became of it.
func TestLostCommit(t *testing.T) {
	for name, fault := range map[string]func(*link, []byte){
		"never arrives":     func(l *link, _ []byte) { l.client.Close() },
		"answer is lost":    func(l *link, commit []byte) { l.send(commit); l.client.Close() },
		"arrives late":      func(l *link, commit []byte) { l.client.Close(); <-l.wire.undecided; l.send(commit) },
		"late, and aborted": func(l *link, _ []byte) { l.client.Close(); <-l.wire.undecided },
	} {
		t.Run(name, func(t *testing.T) {
			log := make(records, 100)
			d := openWith(t, postgres.Options{Logger: slog.New(log)}, through(t, postgrestest.Database(t), aCommit, fault))
			(<-insert(t.Context(), d, rows(0, 4))).requireFresh(t, 4)
			log.await(t, logAway)
			log.await(t, logBack)
			requireSize(t, d, 4)
			if again := <-insert(t.Context(), d, rows(0, 4)); again.err != nil || again.fresh[0] {
				t.Errorf("again: %v, %v, want nothing new", again.fresh, again.err)
			}
		})
	}
}

// deletion inserts six rows beside d and deletes four of them through it.
func deletion(t *testing.T, url string, d *postgres.Database) <-chan error {
	t.Helper()
	(<-insert(t.Context(), open(t, url), rows(0, 6))).requireFresh(t, 6)
	done := make(chan error, 1)
	go func() { done <- d.Delete(t.Context(), keysOf(rows(0, 4))) }()
	return done
}

func keysOf(rows []archive.Row) (keys []message.Key) {
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	return keys
}

// Rows whose deletion was being committed when the connection broke are deleted, and
// the Delete has worked, whatever became of that commit.
func TestLostDelete(t *testing.T) {
	for name, fault := range map[string]func(l *link, commit []byte, waits <-chan struct{}){
		"never arrives":     func(l *link, _ []byte, _ <-chan struct{}) { l.client.Close() },
		"answer is lost":    func(l *link, commit []byte, _ <-chan struct{}) { l.send(commit); l.client.Close() },
		"arrives late":      func(l *link, commit []byte, waits <-chan struct{}) { l.client.Close(); <-waits; l.send(commit) },
		"late, and aborted": func(l *link, _ []byte, waits <-chan struct{}) { l.client.Close(); <-waits },
	} {
		t.Run(name, func(t *testing.T) {
			url, waits := postgrestest.Database(t), make(chan struct{})
			d := open(t, through(t, url, aCommit, func(l *link, commit []byte) { fault(l, commit, waits) }))
			done := deletion(t, url, d)
			if strings.Contains(name, "late") {
				awaitLock(t, url)
				close(waits)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			requireSize(t, d, 2)
		})
	}
}

// A server that does not come back leaves open what became of a commit.
func TestDeleteUndecided(t *testing.T) {
	server := postgrestest.Start(t)
	stopped := func(l *link, commit []byte) {
		l.send(commit)
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}
	d := openWith(t, postgres.Options{Patience: 100 * time.Millisecond}, through(t, server.URL(), aCommit, stopped))
	if err := <-deletion(t, server.URL(), d); err == nil || !strings.Contains(err.Error(), "rows may be deleted: given up") {
		t.Errorf("delete: %v", err)
	}
}

// ended is a context that has ended and that nothing waits for.
type ended struct{ context.Context }

func (ended) Err() error { return context.Canceled }

// A network that falls silent when a Delete has given up does not hold Close.
func TestDeleteGivenUpInSilence(t *testing.T) {
	url, silent := postgrestest.Database(t), make(chan struct{})
	defer close(silent)
	d, err := postgres.Open(t.Context(), through(t, url, aRollback, func(*link, []byte) { <-silent }))
	if err != nil {
		t.Fatal(err)
	}
	(<-insert(t.Context(), d, rows(0, 1))).requireFresh(t, 1)
	done := make(chan error, 2)
	go func() {
		done <- d.Delete(ended{t.Context()}, keysOf(rows(0, 1)))
		done <- d.Close()
	}()
	for _, want := range []error{context.Canceled, nil} {
		select {
		case err := <-done:
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("hangs, want %v", want)
		}
	}
	requireSize(t, open(t, url), 1)
}
