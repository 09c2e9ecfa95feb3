package p2p

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message"
)

// What a peer that answers must not do ends the session with an error that names
// it, is counted, and shuns the peer; nothing that was not asked for is accepted.
func TestHostileAnswers(t *testing.T) {
	have := shelfOf(0, 5)
	unwanted := map[string]bool{"another message": true, "unasked message": true, "same hash, other time": true}
	for name, c := range map[string]struct {
		play func(w *wire)
		want string
	}{
		"another message": {func(w *wire) {
			reconciled(t, w, have)
			_ = w.write(kindMessage, messageFrame(t, topic, numbered(99))...)
		}, "another message"},
		"another topic": {func(w *wire) {
			reconciled(t, w, have)
			_ = w.write(kindMessage, messageFrame(t, "/waku/2/rs/0/9", have.messages[have.keys()[0].Hash])...)
		}, "another message"},
		"garbage": {func(w *wire) {
			reconciled(t, w, have)
			_ = w.write(kindMessage, []byte{byte(len(topic))}, []byte(topic), []byte("\xff\xff\xff"))
		}, "message"},
		"topic without an end": {func(w *wire) {
			reconciled(t, w, have)
			_ = w.write(kindMessage, []byte{100, 'a'})
		}, "topic: 100 bytes wanted"},
		"unasked message": {func(w *wire) {
			reconciledGreeting(t, w)
			_ = w.write(kindMessage, messageFrame(t, topic, numbered(0))...)
		}, "unasked message"},
		"endless messages": {func(w *wire) {
			reconciled(t, w, have)
			for range 1000 {
				for _, k := range have.keys() {
					if w.write(kindMessage, messageFrame(t, topic, have.messages[k.Hash])...) != nil || w.flush() != nil {
						return
					}
				}
			}
		}, "unasked message"},
		"huge frame": {func(w *wire) {
			_, _ = w.expect(kindHello, maxHello)
			_, _ = w.out.Write(binary.AppendUvarint(nil, math.MaxInt64))
		}, "want 1 to"},
		"length without an end": {func(w *wire) {
			_, _ = w.expect(kindHello, maxHello)
			_, _ = w.out.Write(bytes.Repeat([]byte{0x80}, 20))
		}, "length of a frame"},
		"empty frame": {func(w *wire) {
			_, _ = w.expect(kindHello, maxHello)
			_, _ = w.out.Write([]byte{0})
		}, "frame of 0 bytes"},
		"malformed hello": {func(w *wire) {
			_, _ = w.expect(kindHello, maxHello)
			_ = w.write(kindHello, []byte{version, 200})
		}, "hello"},
		"wider range": {func(w *wire) {
			_, _ = w.expect(kindHello, maxHello)
			mine := wide()
			mine.to = math.MaxInt64
			_ = w.write(kindHello, mine.encode())
		}, "range"},
		"another hash": {func(w *wire) {
			_, _ = w.expect(kindHello, maxHello)
			mine := wide()
			mine.hash = "md5"
			_ = w.write(kindHello, mine.encode())
		}, "md5"},
		"malformed Negentropy": {func(w *wire) {
			reconciledGreeting(t, w)
			_ = w.write(kindReconcile, []byte{0x61, 0, 0, 3})
		}, "malformed frame"},
		"huge claim": {func(w *wire) {
			reconciledGreeting(t, w)
			_ = w.write(kindReconcile, []byte{0x61, 0, 0, 2, 0x82, 0x80, 0x80, 0x00})
		}, "4194304 ids"},
		"an unknown kind": {func(w *wire) {
			reconciledGreeting(t, w)
			_ = w.write(kind(77))
		}, "kind(77)"},
		"a malformed absence": {func(w *wire) {
			reconciled(t, w, have)
			_ = w.write(kindAbsent, []byte{77})
		}, "absence"},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			a, h := start(t, newShelf(), Options{Now: func() time.Time { return now }}), newHostile(t)
			h.answer(func(w *wire, _ network.Stream) { c.play(w); _ = w.flush(); _, _, _ = w.read(1 << 20) })
			connect(t, a.host, h.host)
			_, err := a.Sync(deadline(t), h.host.ID())
			if !errors.Is(err, ErrFault) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("sync: %v, want a fault that tells of %q", err, c.want)
			}
			s := a.Stats()
			if s.Sessions[Began][Faulted] != 1 || s.Pending != 0 || len(a.ledger.slots) != 0 {
				t.Errorf("stats %+v, %d claims left", s, len(a.ledger.slots))
			}
			if (s.Unwanted > 0) != (unwanted[name] || errors.Is(err, errUnasked) || errors.Is(err, errOther)) {
				t.Errorf("%d unwanted", s.Unwanted)
			}
			for _, id := range a.accepted() {
				if have.messages[id] == nil {
					t.Errorf("accepted %s", id)
				}
			}
			if !a.roster.shunned(h.host.ID()) {
				t.Error("the peer is not shunned")
			}
			if now = now.Add(DefaultShunTime); a.roster.shunned(h.host.ID()) {
				t.Error("the peer is shunned for ever")
			}
		})
	}
}

// reconciledGreeting plays an honest answerer up to its hello and the first frame.
func reconciledGreeting(t *testing.T, w *wire) {
	body, err := w.expect(kindHello, maxHello)
	if err != nil {
		return
	}
	theirs, err := parseTerms(body)
	if err != nil {
		t.Error(err)
	}
	mine := wide()
	mine.from, mine.to = theirs.from, theirs.to
	_ = w.write(kindHello, mine.encode())
	_, _ = w.expect(kindReconcile, 1<<20)
}

// A peer that begins is held to the same.
func TestHostileBegins(t *testing.T) {
	for name, c := range map[string]struct {
		play  func(w *wire)
		fault bool
	}{
		"no hello":                    {func(w *wire) { _ = w.write(kindWant) }, true},
		"range that ends first":       {func(w *wire) { b := wide(); b.from, b.to = 5, 4; _ = w.write(kindHello, b.encode()) }, true},
		"frames too small":            {func(w *wire) { b := wide(); b.frame = 100; _ = w.write(kindHello, b.encode()) }, true},
		"another version":             {func(w *wire) { b := wide(); b.version = 9; _ = w.write(kindHello, b.encode()) }, false},
		"a round after a want":        {func(w *wire) { greetAs(t, w); _ = w.write(kindWant); _ = w.write(kindReconcile, []byte{0x61}) }, true},
		"half an id":                  {func(w *wire) { greetAs(t, w); _ = w.write(kindWant, make([]byte, 40)) }, true},
		"too many ids":                {func(w *wire) { greetAs(t, w); _ = w.write(kindWant, make([]byte, 32*(DefaultBatch+1))) }, true},
		"too many ids on offer":       {func(w *wire) { greetAs(t, w); _ = w.write(kindOffer, make([]byte, 32*(DefaultBatch+1))) }, true},
		"a message that nobody asked": {func(w *wire) { greetAs(t, w); _ = w.write(kindMessage, messageFrame(t, topic, numbered(0))...) }, true},
		"another message than offered": {func(w *wire) {
			greetAs(t, w)
			id := hashOf(numbered(0))
			_ = w.write(kindOffer, id[:])
			_, _ = w.expect(kindWant, 1<<16)
			_ = w.write(kindMessage, messageFrame(t, topic, numbered(1))...)
		}, true},
		"a message out of the range": {func(w *wire) {
			greetAs(t, w)
			m := numbered(0)
			m.Timestamp = proto.Int64(time.Now().Add(time.Hour).UnixNano())
			id := hashOf(m)
			_ = w.write(kindOffer, id[:])
			_, _ = w.expect(kindWant, 1<<16)
			_ = w.write(kindMessage, messageFrame(t, topic, m)...)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b, h := start(t, shelfOf(10, 20), Options{}), newHostile(t)
			w, _ := h.open(b)
			c.play(w)
			_ = w.flush()
			_, _ = io.Copy(io.Discard, w.in) // until the good side ends the stream
			endSession(t, b)
			s := b.Stats()
			if got := s.Sessions[Answered][Faulted] == 1; got != c.fault {
				t.Errorf("fault %v, want %v: %+v", got, c.fault, s)
			}
			if len(b.accepted()) != 0 || len(b.ledger.slots) != 0 {
				t.Errorf("accepted %d, %d claims left", len(b.accepted()), len(b.ledger.slots))
			}
			if c.fault && !b.roster.shunned(h.host.ID()) {
				t.Error("the peer is not shunned")
			}
		})
	}
}

// endSession waits until no session of n is on.
func endSession(t testing.TB, n *node) {
	t.Helper()
	ended := make(chan struct{})
	go func() { n.sessions.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-deadline(t).Done():
		t.Fatal("the session does not end")
	}
}

// A stream that is dropped in the middle of a transfer is nobody's fault, leaves
// no claim behind, and what is missing comes in the next round (nwaku#3471).
func TestDroppedStream(t *testing.T) {
	have := shelfOf(0, 100)
	a, h, b := start(t, newShelf(), Options{}), newHostile(t), start(t, have, Options{})
	h.answer(func(w *wire, s network.Stream) {
		_, body := reconciled(t, w, have)
		ids, err := parseIDs(body, DefaultBatch)
		if err != nil || len(ids) < 10 {
			t.Errorf("asked for %d: %v", len(ids), err)
			return
		}
		for _, id := range ids[:10] {
			_ = w.write(kindMessage, messageFrame(t, topic, have.messages[id])...)
		}
		_, _ = w.out.Write([]byte{50, byte(kindMessage), 14}) // and a part of the next
		_ = w.flush()
		_ = s.CloseWrite()
	})
	connect(t, a.host, h.host)
	r, err := a.Sync(deadline(t), h.host.ID())
	if !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrFault) || r.Received != 10 {
		t.Errorf("%+v, %v, want 10 received and the end of the stream", r, err)
	}
	if s := a.Stats(); s.Sessions[Began][Failed] != 1 || s.Pending != 0 || len(a.ledger.slots) != 0 || a.roster.shunned(h.host.ID()) {
		t.Errorf("stats %+v, %d claims left", s, len(a.ledger.slots))
	}
	a.sync(t, b)
	same(t, a.shelf, b.shelf)
}

// Whoever is asked and does not send keeps no message of other peers away: a session
// beside it does not count as complete, however old the message is.
func TestStalledClaim(t *testing.T) {
	now := time.Now()
	o := Options{Range: time.Second, Now: func() time.Time { return now }}
	have := shelfOf(0, 3)                        // of 1970
	for _, begins := range []bool{true, false} { // whether this side begins the sessions with the honest peer
		a, h, b := start(t, newShelf(), o), newHostile(t), start(t, shelfOf(0, 3), o)
		asked, release := make(chan struct{}), make(chan struct{})
		h.answer(func(w *wire, s network.Stream) {
			reconciled(t, w, have)
			close(asked)
			<-release
			_ = s.Reset()
		})
		connect(t, a.host, h.host)
		stalled := make(chan error, 1)
		go func() { _, err := a.Sync(deadline(t), h.host.ID()); stalled <- err }()
		<-asked
		from, to := a, b
		if !begins {
			from, to = b, a
		}
		if r := from.syncBeside(t, to); r.Received+r.Served != 0 || !r.More {
			t.Errorf("beside the claim: %+v, want nothing, and more to come", r)
		}
		close(release)
		if err := <-stalled; err == nil {
			t.Error("a session that the peer left worked")
		}
		endSession(t, to)
		if r := from.sync(t, to); r.More {
			t.Errorf("after the claim: %+v, want no more", r)
		}
		same(t, a.shelf, b.shelf)
	}
}

// A transfer that the peer refuses is retried in the next round, and not taken for
// done (nwaku#3471).
func TestRefusedTransfer(t *testing.T) {
	have := shelfOf(0, 3)
	a, h := start(t, newShelf(), Options{}), newHostile(t)
	h.answer(func(w *wire, _ network.Stream) {
		reconciled(t, w, have)
		_ = w.write(kindDecline, []byte("unwanted peer"))
		_ = w.flush()
		_, _, _ = w.read(1 << 10)
	})
	connect(t, a.host, h.host)
	for range 2 {
		r, err := a.Sync(deadline(t), h.host.ID())
		if err == nil || r.Need != 3 {
			t.Errorf("%+v, %v, want 3 needed and an error", r, err)
		}
	}
}

// Slow peers: whoever does not read, does not answer, or drips bytes, is left
// when a step has taken too long; the session is over at its own end at the latest.
func TestSlowPeers(t *testing.T) {
	large := newShelf()
	for i := range 64 {
		m := numbered(i)
		m.Payload = make([]byte, 100_000)
		large.put(m)
	}
	for name, c := range map[string]struct {
		play func(w *wire, far duplexPipe)
		o    Options
		took time.Duration
	}{
		"says nothing": {func(*wire, duplexPipe) {}, Options{}, DefaultStepTime},
		"drips": {func(_ *wire, far duplexPipe) {
			for {
				if _, err := far.Write([]byte{0x81}); err != nil {
					return
				}
				time.Sleep(DefaultStepTime / 4)
			}
		}, Options{}, DefaultStepTime},
		"does not read": {func(w *wire, _ duplexPipe) {
			_ = w.write(kindHello, wide().encode())
			_, _ = w.expect(kindHello, maxHello)
			var ids []message.Hash
			for _, k := range large.keys() {
				ids = append(ids, k.Hash)
			}
			_ = w.write(kindWant, appendIDs(nil, ids))
			_ = w.flush()
		}, Options{}, DefaultStepTime},
		"takes for ever": {func(w *wire, _ duplexPipe) {
			_ = w.write(kindHello, wide().encode())
			_, _ = w.expect(kindHello, maxHello)
			for {
				time.Sleep(DefaultStepTime / 2)
				if w.write(kindWant) != nil || w.flush() != nil {
					return
				}
			}
		}, Options{SessionTime: time.Minute}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				syncer := offline(t, large, c.o)
				near, far := pipe()
				var playing sync.WaitGroup
				playing.Go(func() { c.play(newWire(far, time.Hour, time.Now().Add(time.Hour)), far) })
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), syncer.opts.SessionTime)
				defer cancel()
				err := (&session{Syncer: syncer, peer: "far"}).talk(ctx, near, Answered)
				if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took != c.took {
					t.Errorf("ended after %v with %v, want %v", took, err, c.took)
				}
				near.Close()
				far.Close()
				playing.Wait()
			})
		})
	}
}

// What is over the size that the peer takes, and what is not there, is not sent.
func TestServesNoLargerThanAsked(t *testing.T) {
	m := numbered(0)
	m.Payload = make([]byte, 2000)
	b, h := start(t, newShelf(m, numbered(1)), Options{}), newHostile(t)
	w, _ := h.open(b)
	mine := wide()
	mine.message = 1000
	_ = w.write(kindHello, mine.encode())
	if _, err := w.expect(kindHello, maxHello); err != nil {
		t.Fatal(err)
	}
	large, small, none := hashOf(m), hashOf(numbered(1)), hashOf(numbered(2))
	_ = w.write(kindWant, slices.Concat(large[:], small[:], none[:]))
	for i, want := range []kind{kindAbsent, kindMessage, kindAbsent} {
		got, body, err := w.read(1 << 20)
		if err != nil || got != want {
			t.Fatalf("answer %d: %v %x, %v, want %v", i, got, body, err, want)
		}
	}
	_ = w.write(kindDone)
	if _, err := w.expect(kindDone, 10); err != nil {
		t.Error(err)
	}
}

// What a peer asks for is looked for a bounded number of times in a session, be it
// there or not.
func TestLooksForNoMoreThanServed(t *testing.T) {
	b, h := start(t, newShelf(), Options{ServeMessages: 100}), newHostile(t)
	w, _ := h.open(b)
	greetAs(t, w)
	for batch := range 10 {
		_ = w.write(kindWant, make([]byte, idSize*DefaultBatch))
		for i := range DefaultBatch {
			want := absentHere
			if batch*DefaultBatch+i >= 100 {
				want = absentLater
			}
			k, body, err := w.read(10)
			if err != nil || k != kindAbsent || body[0] != byte(want) {
				t.Fatalf("answer %d of batch %d: %v %x, %v, want absence %d", i, batch, k, body, err, want)
			}
		}
	}
	_ = w.write(kindDone)
	if _, err := w.expect(kindDone, 10); err != nil {
		t.Error(err)
	}
	endSession(t, b)
	if n := b.looked; n != 100 || b.Stats().Sessions[Answered][Partial] != 1 {
		t.Errorf("looked for %d, want 100; %+v", n, b.Stats())
	}
}
