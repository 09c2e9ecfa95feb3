package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/relay"
)

func TestStartFailures(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	inUse := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", taken.Addr().(*net.TCPAddr).Port)
	notSQLite := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(notSQLite, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing", "archive.db")
	for name, c := range map[string]struct {
		options Options
		want    []string
	}{
		"address in use":          {Options{Listen: []string{inUse}}, []string{"node: listen on " + inUse, "in use"}},
		"one of two in use":       {Options{Listen: []string{loopback, inUse}}, []string{"node: listen on " + inUse, "in use"}},
		"address of another host": {Options{Listen: []string{"/ip4/192.0.2.1/tcp/4001"}}, []string{"192.0.2.1"}},
		"transport not spoken":    {Options{Listen: []string{loopback, "/ip4/127.0.0.1/udp/0/webrtc-direct"}}, []string{"webrtc-direct"}},
		"archive in no directory": {Options{Archive: "sqlite:" + missing}, []string{"node: open archive", missing}},
		"archive is no database":  {Options{Archive: "sqlite:" + notSQLite}, []string{"node: open archive", notSQLite}},
		"recording in no directory": {
			Options{Archive: "memory", Record: corpus.Options{Path: missing}}, []string{"corpus: create " + missing},
		},
		"recording is a database": {
			Options{Archive: "memory", Record: corpus.Options{Path: notSQLite}}, []string{"corpus: create", notSQLite, "no recording"},
		},
		"archive is a directory": {Options{Archive: "sqlite:" + t.TempDir()}, []string{"node: open archive"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			n, err := New(c.options)
			if err != nil {
				t.Fatal(err)
			}
			err = n.Run(deadline(t))
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not tell of %q", err, want)
				}
			}
			if closed(n.Ready()) {
				t.Error("ready, though it did not start")
			}
			expect(t, n, "/healthz", http.StatusServiceUnavailable, errStopped.Error())
			if err := n.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			goleak.VerifyNone(t, before)
		})
	}
}

// Two nodes must not share a port, as they would if both reused it.
func TestAddressOfAnotherNode(t *testing.T) {
	for _, listen := range []string{loopback, "/ip4/127.0.0.1/tcp/0/ws", "/ip4/127.0.0.1/udp/0/quic-v1"} {
		owner := run(t, Options{Listen: []string{listen}})
		address := owner.AddrInfo().Addrs[0].String()
		n, err := New(Options{Listen: []string{address}})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			select {
			case <-n.Ready(): // which it should not be
				n.Close()
			case <-n.done:
			}
		}()
		if err := n.Run(deadline(t)); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("a second node on %s: %v", address, err)
		}
	}
}

func TestLifecycle(t *testing.T) {
	t.Run("close before run", func(t *testing.T) {
		n, err := New(options(shard0))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(n.Close(), n.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := n.Run(deadline(t)); err == nil {
			t.Error("ran after Close")
		}
	})
	t.Run("context ended before run", func(t *testing.T) {
		o := options(shard0)
		o.Archive, o.Sync = "sqlite:"+filepath.Join(t.TempDir(), "archive.db"), true
		n, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(deadline(t))
		cancel()
		if err := n.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Run("context ends", func(t *testing.T) {
		o := options(shard0)
		o.Archive = "memory"
		n, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(deadline(t))
		go func() { <-n.Ready(); cancel() }()
		if err := n.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
		if err := n.Archive().Ready(); !errors.Is(err, archive.ErrClosed) {
			t.Errorf("archive: %v, want closed", err)
		}
	})
	t.Run("run while running", func(t *testing.T) {
		n := run(t, options(shard0))
		if err := n.Run(deadline(t)); err == nil {
			t.Error("ran twice")
		}
	})
	t.Run("close twice at once", func(t *testing.T) {
		n := run(t, options(shard0))
		both := make(chan error, 2)
		for range 2 {
			go func() { both <- n.Close() }()
		}
		if err := errors.Join(<-both, <-both); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

// A node whose archive has died must not go on, as in waku-org/nwaku#4064 one
// did.
func TestPanickingArchiveEndsRun(t *testing.T) {
	n, backend := faultyNode(t, Options{})
	r := runNode(t, n)
	backend.fault <- func() error { panic("disk on fire") }
	publish(t, r, shard0, 0, 1)
	err := <-r.ended
	if err == nil || !strings.Contains(err.Error(), "archive") || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("run: %v, want the archive's panic", err)
	}
	expect(t, n, "/healthz", http.StatusServiceUnavailable, "stopped")
	expect(t, n, "/readyz", http.StatusServiceUnavailable, "stopped")
	if s := n.Relay().Stats()[0]; s.Causes[relay.DropStore] != 1 || s.Delivered != 0 {
		t.Errorf("stats %+v, want one message dropped by the store", s)
	}
}

// Nothing else may leave the node healthy without a part of it either.
func TestClosedPartEndsRun(t *testing.T) {
	for name, closePart := range map[string]func(*Node) error{
		"relay":   func(n *Node) error { return n.Relay().Close() },
		"archive": func(n *Node) error { return n.Archive().Close() },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(shard0)
			o.Archive = "memory"
			r := run(t, o)
			if err := closePart(r.Node); err != nil {
				t.Fatal(err)
			}
			if err := <-r.ended; err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("run: %v, want an error that names the %s", err, name)
			}
		})
	}
}

func TestOptionsValidate(t *testing.T) {
	err := Options{
		Relay: relay.Options{
			Topics: []string{""}, OutboundQueue: -1,
			Store: new(app).stage,
		},
		Listen: []string{loopback, "127.0.0.1:4001"},
		Peers: []string{
			"/ip4/127.0.0.1/tcp/1",
			"/p2p/12D3KooWAgD6qZGqsPVFsLbsRrGSFxUc2TmHa3R1oLgkz8Es2LBV",
		},
		Archive: "mysql:x", ArchiveQueue: -2, ArchiveBatch: -3,
		Record: corpus.Options{Path: "x", MaxBytes: 1, Files: -1},
	}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"Topics[0]", "OutboundQueue -1", "Relay.Store", `Listen[1] "127.0.0.1:4001"`, `Peers[0] "/ip4/127.0.0.1/tcp/1"`,
		"Peers[1]", "no address", `Archive "mysql:…"`, "sqlite:FILE", "ArchiveQueue -2", "ArchiveBatch -3", "MaxBytes 1", "Files -1",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %s in:\n%v", want, err)
		}
	}
	if _, err := New(Options{Sync: true}); err == nil || !strings.Contains(err.Error(), "Sync") {
		t.Errorf("a sync set without an archive: %v", err)
	}
	for name, want := range map[string]string{
		"": "", "memory": "", "sqlite::memory:": "", "sqlite:x.db": "x.db", "sqlite:a:b": "a:b",
	} {
		if file, err := ArchiveFile(name); err != nil || file != want {
			t.Errorf("file of archive %q: %q, %v; want %q", name, file, err, want)
		}
	}
	if _, err := ArchiveFile("mysql:x"); err == nil || !strings.Contains(err.Error(), `"mysql:…"`) {
		t.Errorf("file of an unknown archive: %v", err)
	}
	for _, name := range []string{"sqlite:file:x?mode=ro", "sqlite::memory:x"} {
		if err := (Options{Archive: name}).Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("archive %q: %v", name, err)
		}
	}
	if err := (Options{}).Validate(); err != nil {
		t.Errorf("zero options: %v", err)
	}
}
