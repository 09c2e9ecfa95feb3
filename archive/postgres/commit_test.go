package postgres_test

import (
	"bytes"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/msgpath/msgpath/archive/postgres"
	"github.com/msgpath/msgpath/internal/postgrestest"
)

// A wire carries connections to a server and does to the first COMMIT of an insert
// what fault says. Migrations end with "commit".
type wire struct {
	listener net.Listener
	socket   string // of the server
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
func through(t *testing.T, to string, fault func(*link, []byte)) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{socket: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"), fault: fault, undecided: make(chan struct{})}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	w.pumps.Go(func() { w.accept(t) })
	t.Cleanup(func() { w.listener.Close(); w.pumps.Wait() })
	u.Host, u.RawQuery = w.listener.Addr().String(), "sslmode=disable"
	return u.String()
}

func (w *wire) accept(t *testing.T) {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("unix", w.socket)
		if err != nil {
			t.Error(err)
			client.Close()
			return
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
		if bytes.Contains(buffer[:n], []byte("COMMIT\x00")) && l.wire.faulted.CompareAndSwap(false, true) {
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
			d := openWith(t, postgres.Options{Logger: slog.New(log)}, through(t, postgrestest.Database(t), fault))
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
