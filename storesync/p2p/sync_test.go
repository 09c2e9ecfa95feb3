package p2p

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// One session heals both sides, whoever begins it, and the next finds nothing to
// do (C76 in its plain form: equal sets transfer nothing).
func TestSync(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b *shelf
	}{
		{"both lack some", shelfOf(0, 300), shelfOf(100, 450)},
		{"nothing here", shelfOf(0, 0), shelfOf(0, 200)},
		{"nothing there", shelfOf(0, 200), shelfOf(0, 0)},
		{"equal", shelfOf(0, 200), shelfOf(0, 200)},
		{"both empty", shelfOf(0, 0), shelfOf(0, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := start(t, c.a, Options{}), start(t, c.b, Options{})
			lacksA, lacksB := missing(a.shelf, b.shelf), missing(b.shelf, a.shelf)
			r := a.sync(t, b)
			same(t, a.shelf, b.shelf)
			if r.Need != lacksA || r.Have != lacksB || r.Received != lacksA || r.Served != lacksB || r.More || r.Pending != 0 {
				t.Errorf("%+v, want %d needed and received, %d had and served", r, lacksA, lacksB)
			}
			again := a.sync(t, b)
			if again.Received+again.Served+again.Need+again.Have != 0 || again.Rounds != 1 {
				t.Errorf("second session: %+v, want one round and nothing else", again)
			}
			expectCounts(t, a, lacksA, lacksB)
			expectCounts(t, b, lacksB, lacksA)
		})
	}
}

// missing returns how many messages of b are not in a.
func missing(a, b *shelf) (n int) {
	for h := range b.messages {
		if a.messages[h] == nil {
			n++
		}
	}
	return n
}

// expectCounts: each message that came is decoded and hashed once, each that was
// sent is encoded once, and nothing else is.
func expectCounts(t *testing.T, n *node, received, sent int) {
	t.Helper()
	if !counters.Enabled {
		return
	}
	got := make(map[string]counters.Counts)
	for _, c := range counters.Load(n.counts) {
		got[c.Site] = c.Counts
	}
	in, out := got["p2p.receive"], got["p2p.send"]
	if in.Decodes != uint64(received) || in.Hashes != uint64(received) || out.Encodes != uint64(sent) || len(got) > 2 {
		t.Errorf("counted %+v, want %d decodes and hashes, %d encodes", got, received, sent)
	}
}

// Property: whatever is where, one session makes both sides equal as sets; keys
// share timestamps, and ranges are as they come (iroh PR#1426).
func TestSetEquality(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a, b := start(t, newShelf(), Options{PeerRate: 1000}), start(t, newShelf(), Options{PeerRate: 1000})
	for round := range 10 {
		for i := range 80 {
			m := numbered(1000*round + i)
			*m.Timestamp = 1000 + random.Int64N(20)
			where := random.IntN(3)
			if where != 1 {
				a.put(m)
			}
			if where != 0 {
				b.put(m)
			}
		}
		began, with := a, b
		if random.IntN(2) == 0 {
			began, with = b, a
		}
		began.sync(t, with)
		same(t, a.shelf, b.shelf)
	}
	if len(a.keys()) != 800 {
		t.Errorf("%d keys, want 800", len(a.keys()))
	}
}

// A limit on frames keeps nothing back: whoever reads a longer one ends the session.
// What is over another limit of one session is left for the next.
func TestSmallFrames(t *testing.T) {
	small := Options{FrameBytes: MinFrameBytes}
	for _, c := range []struct {
		name    string
		a, b    Options
		into    int // 0: a is empty, 1: b is
		session int // how many it takes
	}{
		{"answering side's limit, pulled", Options{}, small, 0, 1},
		{"answering side's limit, pushed", Options{}, small, 1, 1},
		{"beginning side's limit, pulled", small, Options{}, 0, 1},
		{"asks for 600 at once", Options{Ask: 600}, Options{}, 0, 3},
		{"peer asks for 600 at once", Options{}, Options{Ask: 600}, 1, 3},
		{"serves 600 at once", Options{}, Options{ServeMessages: 600}, 0, 3},
		{"serves 20 kB at once", Options{}, Options{ServeBytes: 20_000}, 0, 3},
		{"three rounds at once", Options{Rounds: 3, FrameBytes: 1 << 16}, Options{}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			shelves := []*shelf{shelfOf(0, 1500), shelfOf(0, 1500)}
			shelves[c.into] = newShelf()
			a, b := start(t, shelves[0], c.a), start(t, shelves[1], c.b)
			sessions := 1
			for a.sync(t, b).More {
				sessions++
			}
			same(t, a.shelf, b.shelf)
			if sessions != c.session {
				t.Errorf("%d sessions, want %d", sessions, c.session)
			}
		})
	}
}

var errDisk = errors.New("disk full")

// What is not stored is fetched again in the next round, and not before (nwaku#3471).
func TestNotStored(t *testing.T) {
	a, b := start(t, newShelf(), Options{}), start(t, shelfOf(0, 10), Options{})
	var waiting []*message.Envelope
	a.accept = func(env *message.Envelope) (bool, error) {
		waiting = append(waiting, env)
		return false, nil
	}
	if r := a.sync(t, b); r.Received != 10 || r.Pending != 10 {
		t.Fatalf("%+v, want 10 pending", r)
	}
	if r := a.sync(t, b); r.Need != 10 || r.Received != 0 {
		t.Errorf("while pending: %+v, want 10 needed and none asked for", r)
	}
	for i, env := range waiting {
		if i%2 == 0 {
			a.Stored(env, errDisk)
		} else {
			a.commit(env)
		}
	}
	a.accept = nil
	if r := a.sync(t, b); r.Need != 5 || r.Received != 5 {
		t.Errorf("after 5 failures: %+v, want 5 received", r)
	}
	same(t, a.shelf, b.shelf)
	s := a.Stats()
	if s.Received != 15 || s.Synced != 10 || s.Failed != 5 || s.Pending != 0 {
		t.Errorf("stats %+v", s)
	}
}

// A failure makes the next session go over everything again, however old it is.
func TestFailureRewinds(t *testing.T) {
	now := time.Now()
	o := Options{Range: time.Second, Now: func() time.Time { return now }}
	a, b := start(t, newShelf(), o), start(t, shelfOf(0, 10), o) // of 1970
	a.accept = func(*message.Envelope) (bool, error) { return false, errDisk }
	if r := a.sync(t, b); r.Failed != 10 {
		t.Fatalf("%+v, want 10 failed", r)
	}
	a.accept = nil
	if r := a.sync(t, b); r.Received != 10 {
		t.Errorf("%+v, want 10 received", r)
	}
	b.put(numbered(11))
	if r := a.sync(t, b); r.Need != 0 {
		t.Errorf("%+v: a message of 1970 is out of the range once all was synced", r)
	}
}

// A message that is refused is fetched once, and again when that is forgotten
// (nips PR#540). One that fails is fetched a bounded number of times.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		times int
	}{
		{"refused", fmt.Errorf("too old: %w", ErrRefused), 1},
		{"failing", errDisk, patience},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Now()
			a, b := start(t, newShelf(), Options{Now: func() time.Time { return now }}), start(t, shelfOf(0, 3), Options{})
			a.accept = func(*message.Envelope) (bool, error) { return false, c.err }
			for range 3 * patience {
				a.sync(t, b)
				b.sync(t, a) // offered, it is refused too
			}
			if got := len(a.accepted()); got != 3*c.times {
				t.Errorf("fetched %d times, want %d", got, 3*c.times)
			}
			now = now.Add(DefaultRefusalTTL)
			a.accept = nil
			a.sync(t, b)
			same(t, a.shelf, b.shelf)
		})
	}
}

// A peer that has more messages that are refused than are remembered is asked for
// no other until they are forgotten, and not for all of them in turn.
func TestRefusalsFull(t *testing.T) {
	now := time.Now()
	o := Options{Refusals: 5, Batch: 1, Now: func() time.Time { return now }}
	a, b, c := start(t, newShelf(), o), start(t, shelfOf(0, 20), Options{}), start(t, shelfOf(0, 20), Options{})
	a.accept = func(*message.Envelope) (bool, error) { return false, ErrRefused }
	for period := range 2 {
		for range 5 {
			if r := a.sync(t, b); !r.More {
				t.Errorf("%+v, want more left", r)
			}
		}
		if got, want := len(a.accepted()), (period+1)*5; got != want {
			t.Errorf("period %d: fetched %d times, want %d", period, got, want)
		}
		now = now.Add(DefaultRefusalTTL)
	}
	a.sync(t, b)
	a.accept = nil
	a.sync(t, c) // another peer is asked for them all
	same(t, a.shelf, c.shelf)
}

// One peer's refused copy keeps nobody else's away: a hash does not cover every
// field of a message.
func TestRefusedCopy(t *testing.T) {
	m := numbered(0)
	forged := &pb.WakuMessage{Payload: m.Payload, ContentTopic: m.ContentTopic, Timestamp: m.Timestamp, RateLimitProof: []byte("forged")}
	a, b, c := start(t, newShelf(), Options{}), start(t, newShelf(forged), Options{}), start(t, newShelf(m), Options{})
	a.accept = func(env *message.Envelope) (bool, error) {
		if m, _ := env.Message(siteReceive); m.RateLimitProof != nil {
			return false, ErrRefused
		}
		return true, nil
	}
	if r := a.sync(t, b); r.Refused != 1 {
		t.Errorf("%+v, want the forged copy refused", r)
	}
	if r := a.sync(t, c); r.Received != 1 || r.Refused != 0 {
		t.Errorf("%+v, want the genuine copy", r)
	}
	same(t, a.shelf, c.shelf)
}

// What no store keeps, and what this node's limits do not let pass, is refused
// and blamed on nobody.
func TestRefusedOnArrival(t *testing.T) {
	ephemeral, large, meta := numbered(0), numbered(1), numbered(2)
	yes := true
	ephemeral.Ephemeral = &yes
	large.Payload = make([]byte, 10_000)
	meta.Meta = make([]byte, 60)
	strict := Options{Format: message.Format{Limits: message.Limits{MaxSize: 5000, MaxMeta: 10}}}
	a, b := start(t, newShelf(), strict), start(t, newShelf(ephemeral, large, meta, numbered(3)), Options{})
	r := a.sync(t, b)
	if r.Received != 3 || r.Refused != 2 || r.Absent != 1 || len(a.keys()) != 1 || r.More {
		t.Errorf("%+v, want one stored, two refused, one not sent", r)
	}
	if r := a.sync(t, b); r.Received+r.Absent != 0 || r.Need != 3 {
		t.Errorf("second session: %+v, want nothing asked for", r)
	}
}

// Messages younger than Settle may be under way and are left out, and a session
// covers what both sides' clocks and bounds allow.
func TestRange(t *testing.T) {
	now := time.Now()
	at := func(ago time.Duration) *pb.WakuMessage {
		m := numbered(int(ago))
		*m.Timestamp = now.Add(-ago).UnixNano()
		return m
	}
	clock := func() time.Time { return now }
	young, recent, old := at(5*time.Second), at(time.Minute), at(48*time.Hour)
	for _, c := range []struct {
		name string
		a, b Options
		want int
	}{
		{"first session", Options{}, Options{}, 2},
		{"this side's bound", Options{CatchUp: time.Hour}, Options{}, 1},
		{"the peer's bound", Options{}, Options{CatchUp: time.Hour}, 1},
		{"the peer's settling", Options{}, Options{Settle: 2 * time.Minute}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.a.Now, c.b.Now = clock, clock
			c.a.Settle = 20 * time.Second
			c.b.Settle = max(c.b.Settle, 20*time.Second)
			a, b := start(t, newShelf(), c.a), start(t, newShelf(young, recent, old), c.b)
			if r := a.sync(t, b); r.Received != c.want {
				t.Errorf("%+v, want %d received", r, c.want)
			}
		})
	}
}

// Sessions are declined with a reason that the peer learns, and a message is
// asked for by one session at a time.
func TestDeclined(t *testing.T) {
	t.Run("another hash", func(t *testing.T) {
		a, b := start(t, newShelf(), Options{}), start(t, newShelf(), Options{Format: message.Format{Hash: message.WakuSHA256}})
		expectDeclined(t, a, b, "blake3")
	})
	t.Run("too many of a peer", func(t *testing.T) {
		a, b := start(t, newShelf(), Options{}), start(t, newShelf(), Options{PeerRate: 2, PeerPeriod: time.Hour})
		a.sync(t, b)
		a.sync(t, b)
		expectDeclined(t, a, b, "more than 2 sessions")
	})
	t.Run("too many at once, and one a peer", func(t *testing.T) {
		a, b := start(t, newShelf(), Options{}), start(t, newShelf(), Options{Sessions: 1})
		h := newHostile(t)
		w, s := h.open(b)
		greetAs(t, w)
		expectDeclined(t, a, b, "1 sessions are on")
		second, _ := h.open(b)
		_ = second.write(kindHello, wide().encode())
		if _, err := second.expect(kindHello, maxHello); !errors.Is(err, ErrDeclined) {
			t.Errorf("second session of one peer: %v", err)
		}
		_ = s.Reset()
	})
	t.Run("one begun with a peer", func(t *testing.T) {
		a, h := start(t, newShelf(), Options{}), newHostile(t)
		begun, release := make(chan struct{}), make(chan struct{})
		h.answer(func(w *wire, _ network.Stream) { close(begun); <-release })
		connect(t, a.host, h.host)
		ended := make(chan error, 1)
		go func() { _, err := a.Sync(context.Background(), h.host.ID()); ended <- err }()
		<-begun
		if _, err := a.Sync(deadline(t), h.host.ID()); !errors.Is(err, ErrBusy) {
			t.Errorf("second session: %v, want ErrBusy", err)
		}
		close(release)
		if err := <-ended; err == nil {
			t.Error("a session that the peer left without a word worked")
		}
	})
}

// A peer that is not connected is not dialled, though its address is known.
func TestDoesNotDial(t *testing.T) {
	a, b := start(t, newShelf(), Options{}), start(t, shelfOf(0, 3), Options{})
	a.host.Peerstore().AddAddrs(b.host.ID(), b.host.Addrs(), time.Hour)
	if _, err := a.Sync(deadline(t), b.host.ID()); err == nil {
		t.Error("a session without a connection worked")
	}
	if n := len(a.host.Network().Conns()); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func expectDeclined(t *testing.T, a, b *node, why string) {
	t.Helper()
	connect(t, a.host, b.host)
	_, err := a.Sync(deadline(t), b.host.ID())
	if !errors.Is(err, ErrDeclined) || !strings.Contains(err.Error(), why) {
		t.Errorf("sync: %v, want declined because of %q", err, why)
	}
	if s := a.Stats(); s.Sessions[Began][Declined] == 0 {
		t.Errorf("not counted: %+v", s)
	}
}

func greetAs(t *testing.T, w *wire) {
	t.Helper()
	_ = w.write(kindHello, wide().encode())
	if _, err := w.expect(kindHello, maxHello); err != nil {
		t.Fatal(err)
	}
}

// Pending is bounded: what there is no room for is left for another session.
func TestPendingBound(t *testing.T) {
	o := Options{Pending: 10, StepTime: time.Millisecond * 500}
	a, b := start(t, newShelf(), o), start(t, shelfOf(0, 100), Options{})
	var waiting []*message.Envelope
	a.accept = func(env *message.Envelope) (bool, error) { waiting = append(waiting, env); return false, nil }
	r := a.sync(t, b)
	if r.Received != 10 || r.Pending != 10 || !r.More {
		t.Fatalf("%+v, want 10 pending and more to come", r)
	}
	a.accept = nil
	for _, env := range waiting {
		a.commit(env)
	}
	a.sync(t, b)
	same(t, a.shelf, b.shelf)
}

// Two peers at once are not asked for the same message.
func TestOneFetchOfAMessage(t *testing.T) {
	a := start(t, newShelf(), Options{})
	b, c := start(t, shelfOf(0, 500), Options{}), start(t, shelfOf(0, 500), Options{})
	connect(t, a.host, b.host)
	connect(t, a.host, c.host)
	errs := make(chan error, 2)
	for _, p := range []*node{b, c} {
		go func() { _, err := a.Sync(deadline(t), p.host.ID()); errs <- err }()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	all := a.accepted()
	slices.SortFunc(all, func(x, y message.Hash) int { return slices.Compare(x[:], y[:]) })
	if len(slices.Compact(all)) != len(a.accepted()) {
		t.Errorf("%d messages accepted, %d different", len(a.accepted()), len(slices.Compact(all)))
	}
	same(t, a.shelf, b.shelf)
}
