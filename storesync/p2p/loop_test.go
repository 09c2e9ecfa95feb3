package p2p

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/message"
)

// Run's sessions come at Interval, give or take Jitter, and sooner until one has
// worked.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := offline(t, newShelf(), Options{Interval: time.Minute, Rand: rand.New(rand.NewPCG(1, 1))})
		ctx, cancel := context.WithCancel(t.Context())
		var waits []time.Duration
		last := time.Now()
		s.loop(ctx, func(context.Context) bool {
			waits = append(waits, time.Since(last))
			last = time.Now()
			if len(waits) == 20 {
				cancel()
			}
			return len(waits) > 2
		})
		different := make(map[time.Duration]bool)
		for i, wait := range waits {
			if i < 3 && wait != startInterval {
				t.Errorf("wait %d: %v, want %v until a session has worked", i, wait, startInterval)
			}
			if i >= 3 && (wait < 48*time.Second || wait >= 72*time.Second) {
				t.Errorf("wait %d: %v, want a minute, give or take a fifth", i, wait)
			}
			different[wait] = true
		}
		if len(waits) != 20 || len(different) < 10 {
			t.Errorf("%d waits, %d different", len(waits), len(different))
		}
	})
}

// Without an Interval, nothing is begun.
func TestLoopAnswersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := offline(t, newShelf(), Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		s.loop(ctx, func(context.Context) bool { t.Error("a session is begun"); return true })
	})
}

// Run begins sessions by itself, goes on with a peer for as long as there is more,
// and passes over one that is shunned.
func TestRunSyncs(t *testing.T) {
	b, h := start(t, shelfOf(0, 50), Options{}), newHostile(t)
	seen, asked := make(chan struct{}, 100), make(chan struct{}, 1000)
	s := newShelf()
	s.accept = func(*message.Envelope) (bool, error) { seen <- struct{}{}; return true, nil }
	a := start(t, s, Options{
		Interval: 50 * time.Millisecond, Ask: 20,
		Peers: func() []peer.ID {
			asked <- struct{}{}
			return []peer.ID{b.host.ID(), h.host.ID()}
		},
	})
	a.roster.shun(h.host.ID())
	connect(t, a.host, b.host)
	for range 50 {
		select {
		case <-seen:
		case <-deadline(t).Done():
			t.Fatal("not all messages came")
		}
	}
	for len(asked) > 0 {
		<-asked
	}
	<-asked // the sessions that brought them are over
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, a.shelf, b.shelf)
	if got := a.Stats().Sessions[Began]; got[Partial] != 2 || got[Completed] == 0 {
		t.Errorf("sessions %v", got)
	}
}

// Sessions in a row are shared among peers: one that always has a little more, as a
// slow one would, does not keep the others waiting, and the row ends when nobody has
// more that is taken.
func TestRowOfSessions(t *testing.T) {
	a := start(t, newShelf(), Options{Ask: 1, Batch: 1})
	slow, other, spoiled := start(t, shelfOf(0, 30), Options{}), start(t, shelfOf(100, 103), Options{}), start(t, shelfOf(200, 203), Options{})
	for _, n := range []*node{slow, other, spoiled} {
		connect(t, a.host, n.host)
	}
	peers := []peer.ID{slow.host.ID(), other.host.ID()}
	a.opts.Peers = func() []peer.ID {
		endSession(t, slow)
		endSession(t, other)
		return peers
	}
	if !a.syncAny(deadline(t)) || missing(a.shelf, other.shelf) != 0 || len(a.accepted()) < inRow-1 {
		t.Errorf("in one row %d came, and %d of the other peer did not", len(a.accepted()), missing(a.shelf, other.shelf))
	}
	before := a.Stats().Sessions[Began]
	a.accept = func(*message.Envelope) (bool, error) { return false, ErrRefused }
	peers = []peer.ID{spoiled.host.ID()}
	a.syncAny(deadline(t))
	if got := a.Stats().Sessions[Began]; got[Partial] != before[Partial]+1 {
		t.Errorf("sessions %v after %v, want one more: nothing was taken", got, before)
	}
}

// Without Options.Peers, those connected are asked that speak the protocol.
func TestCandidates(t *testing.T) {
	a, b, other := start(t, newShelf(), Options{}), start(t, newShelf(), Options{}), newHost(t)
	connect(t, a.host, other)
	a.sync(t, b) // by then the peer has told what it speaks
	if got := a.candidates(); len(got) != 1 || got[0] != b.host.ID() {
		t.Errorf("candidates %v, want %v", got, b.host.ID())
	}
}

func TestLifecycle(t *testing.T) {
	h := newHost(t)
	t.Run("close before run", func(t *testing.T) {
		s := newSyncer(t, h, newShelf(), Options{})
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if err := s.Run(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("run: %v", err)
		}
		if _, err := s.Sync(t.Context(), "peer"); !errors.Is(err, ErrClosed) {
			t.Errorf("sync: %v", err)
		}
	})
	t.Run("context ends", func(t *testing.T) {
		s := newSyncer(t, h, newShelf(), Options{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-s.Ready(); cancel() }()
		if err := s.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
		if err := s.Run(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("second run: %v", err)
		}
	})
	t.Run("close during a session", func(t *testing.T) {
		a, far := start(t, newShelf(), Options{}), newHostile(t)
		w, _ := far.open(a)
		greetAs(t, w)
		ended := make(chan error, 1)
		go func() { ended <- a.Close() }()
		if _, _, err := w.read(10); err == nil {
			t.Error("the session went on")
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if s := a.Stats(); s.Running != 0 || s.Sessions[Answered][Failed] != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestOptionsValidate(t *testing.T) {
	if err := (Options{}).Validate(); err != nil {
		t.Errorf("zero options: %v", err)
	}
	_, err := New(nil, Store{}, Options{
		FrameBytes: 100, Rounds: -1, Interval: -time.Second, StepTime: -1, Jitter: time.Hour,
		Format: message.Format{Hash: 9},
	})
	for _, want := range []string{
		"host is nil", "Snapshot", "FrameBytes 100 is below 4097", "Rounds -1", "Interval -1s", "StepTime -1ns",
		"Jitter 1h0m0s is more", "unknown hash",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q in:\n%v", want, err)
		}
	}
	for side := range sides {
		for outcome := range outcomes {
			if strings.Contains(side.String()+outcome.String(), "(") {
				t.Errorf("%v %v has no name", side, outcome)
			}
		}
	}
}
