package filter

import (
	"bufio"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/msgpath/msgpath/message"
)

// nwaku#2319: a paused filter peer made publishing time out. Here its stream
// blocks for ever, its queue fills, and only its own copies are dropped.
func TestPausedPeerHoldsUpNobody(t *testing.T) {
	s := newServer(t, Options{Queue: 2, Timeout: time.Hour})
	paused := bare(t, func(network.Stream) {}) // reads nothing
	subscribeBare(t, paused, s, topicA, content)
	other := newLight(t, s)
	other.subscribe(t, s.host, topicA, content)
	const n = 200
	for i := range n {
		env := numbered(t, topicA, i, 100_000)
		s.stage(t, env) // returns though one stream is blocked
		other.expect(t, env)
	}
	got := s.Stats()
	if got.Pushed < n || got.Due != n || got.Copies != 2*n || got.Dropped[DropQueue] == 0 || got.Waiting != 2 {
		t.Errorf("%+v", got)
	}
	if lost := got.Dropped[DropStream] + got.Dropped[DropWrite] + got.Dropped[DropRemoved]; lost > 0 {
		t.Errorf("%d copies lost otherwise", lost)
	}
	if err := s.Close(); err != nil { // also while one stream is blocked
		t.Fatal(err)
	}
	s.account(t)
}

// nwaku#2320: a message that was published twice was pushed twice. Here it is once
// within the window, and again after it.
func TestOncePerMessageWithinTheWindow(t *testing.T) {
	const window = time.Minute
	s := newServer(t, Options{Window: window})
	l := newLight(t, s)
	l.subscribe(t, s.host, topicA, content)
	first, second := numbered(t, topicA, 1, 10), numbered(t, topicA, 2, 10)
	again := message.Wrap(first.Counts(), message.Format{}, topicA, first.Bytes())
	s.stage(t, first)
	s.stage(t, again)
	s.stage(t, second)
	l.expect(t, first, second)
	s.window.mu.Lock()
	s.window.admitted[0].at = s.window.admitted[0].at.Add(-window)
	s.window.mu.Unlock()
	s.stage(t, again)
	l.expect(t, first)
	if got := s.Stats(); got.Due != 3 || got.Repeated != 1 || got.Pushed != 3 {
		t.Errorf("%+v", got)
	}
}

// go-waku#1124: a server went on pushing for what its client had unsubscribed. It
// is not delivered, and counted.
func TestUnsubscribedIsNotDelivered(t *testing.T) {
	old := bare(t, nil)
	l := newLight(t)
	connect(t, l.host, old)
	l.subscribe(t, old, topicA, content, "/other")
	l.subscribe(t, old, topicB, "/other")
	if err := l.Unsubscribe(deadline(t), old.ID(), topicA, content); err != nil {
		t.Fatal(err)
	}
	st, err := old.NewStream(deadline(t), l.host.ID(), PushProtocol)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Reset()
	stale, wanted := numbered(t, topicA, 1, 10), sealed(t, topicA, "/other", 2, 10)
	for _, push := range []struct {
		topic string
		env   *message.Envelope
	}{{topicA, stale}, {topicB, stale}, {"", wanted}, {topicA, wanted}} {
		if _, err := newFrame(message.Hash{}, pair{pubsub: push.topic}, push.env.Bytes()).WriteTo(st); err != nil {
			t.Fatal(err)
		}
	}
	l.expect(t, wanted)
	if got := l.Stats(); got != (ClientStats{Delivered: 1, Unwanted: 3}) {
		t.Errorf("%+v", got)
	}
}

// go-waku#960: an explicit pubsub topic was replaced by one derived from the
// content topic. Here none is ever derived, and no error names another.
func TestExplicitPubsubTopicIsKept(t *testing.T) {
	s := newServer(t, Options{})
	l := newLight(t, s)
	l.subscribe(t, s.host, topicA, content)
	s.stage(t, numbered(t, topicB, 1, 10))
	env := numbered(t, topicA, 2, 10)
	s.stage(t, env)
	l.expect(t, env)
	if got := s.Stats(); got.Due != 1 || got.Copies != 1 {
		t.Errorf("%+v", got)
	}
	for _, act := range []error{
		l.Subscribe(deadline(t), s.host.ID(), "", content),
		l.Unsubscribe(deadline(t), s.host.ID(), "", content),
	} {
		if act == nil || !strings.Contains(act.Error(), "pubsub topic is empty") || strings.Contains(act.Error(), "/waku/2") {
			t.Errorf("without a pubsub topic: %v", act)
		}
	}
	err := l.Unsubscribe(deadline(t), s.host.ID(), topicB, content)
	if status := new(StatusError); !errors.As(err, &status) || status.Code != StatusNotFound || strings.Contains(err.Error(), topicA) {
		t.Errorf("unsubscribe from what is not subscribed: %v", err)
	}
}

// nwaku#3271: of several pushes over one stream a client read the first only.
func TestSeveralPushesOnOneStream(t *testing.T) {
	old := bare(t, nil)
	l := newLight(t)
	connect(t, l.host, old)
	l.subscribe(t, old, topicA, content)
	st, err := old.NewStream(deadline(t), l.host.ID(), PushProtocol)
	if err != nil {
		t.Fatal(err)
	}
	var all []*message.Envelope
	for i := range 3 {
		env := numbered(t, topicA, i, 1000*i)
		all = append(all, env)
		if _, err := newFrame(message.Hash{}, pair{pubsub: topicA}, env.Bytes()).WriteTo(st); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	l.expect(t, all...)
}

// The other side of nwaku#3271: the server keeps one stream, and opens another for
// a peer that reads one push and closes.
func TestServerKeepsItsStream(t *testing.T) {
	for _, tt := range []struct {
		name          string
		each, streams int
	}{{"reads on", 3, 1}, {"reads one", 1, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, Options{})
			read, opened := make(chan int, 3), make(chan struct{}, 3)
			reader := bare(t, func(st network.Stream) {
				opened <- struct{}{}
				r := bufio.NewReader(st)
				for i := range tt.each {
					if _, _, err := readPush(r, 1<<20); err != nil {
						t.Errorf("push %d: %v", i, err)
					}
					if i == tt.each-1 {
						_ = st.Close()
					}
					read <- i
				}
			})
			subscribeBare(t, reader, s, topicA, content)
			for i := range 3 {
				s.stage(t, numbered(t, topicA, i, 10))
				select {
				case <-read:
				case <-deadline(t).Done():
					t.Fatalf("push %d did not come: %+v", i, s.Stats())
				}
				if tt.each == 1 {
					s.awaitGone(t, reader)
				}
			}
			if len(opened) != tt.streams {
				t.Errorf("%d streams, want %d", len(opened), tt.streams)
			}
		})
	}
}

// account checks that nothing is lost in silence.
func (s server) account(t testing.TB) {
	t.Helper()
	got := s.Stats()
	sum := got.Pushed + uint64(got.Waiting)
	for _, n := range got.Dropped {
		sum += n
	}
	if got.Copies != sum {
		t.Errorf("%d copies, %d accounted for: %+v", got.Copies, sum, got)
	}
}

// awaitGone waits until the server has left its streams to a peer.
func (s server) awaitGone(t testing.TB, p host.Host) {
	t.Helper()
	ctx := deadline(t)
	for {
		open := 0
		for _, c := range s.host.Network().ConnsToPeer(p.ID()) {
			for _, st := range c.GetStreams() {
				if st.Protocol() == PushProtocol {
					open++
				}
			}
		}
		if open == 0 {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%d streams are open", open)
		}
	}
}

// go-waku#71: a server pushed to an unreachable client indefinitely.
func TestUnreachablePeerIsRemoved(t *testing.T) {
	s := newServer(t, Options{Unreachable: 1}) // ns: at the second failure
	l := newLight(t, s)
	l.subscribe(t, s.host, topicA, content)
	first := numbered(t, topicA, 0, 10)
	s.stage(t, first)
	l.expect(t, first)
	if err := l.host.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := deadline(t)
	for i := 1; s.Stats().Subscribers > 0; i++ {
		s.stage(t, numbered(t, topicA, i, 10))
		if ctx.Err() != nil {
			t.Fatalf("still subscribed: %+v", s.Stats())
		}
	}
	s.log.await(t, 1, "filter peer removed")
	before := s.Stats()
	s.stage(t, numbered(t, topicA, -1, 10))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got := s.Stats()
	if got.Removed[RemoveUnreachable] != 1 || got.Topics != 0 || got.Due != before.Due {
		t.Errorf("%+v", got)
	}
	s.account(t)
}
