package filter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// topics returns n content topics.
func topics(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("/topic/%d", i))
	}
	return all
}

// TestRequests asks for everything that can be asked for, in this order.
func TestRequests(t *testing.T) {
	const (
		ping           = pb.FilterSubscribeRequest_SUBSCRIBER_PING
		subscribe      = pb.FilterSubscribeRequest_SUBSCRIBE
		unsubscribe    = pb.FilterSubscribeRequest_UNSUBSCRIBE
		unsubscribeAll = pb.FilterSubscribeRequest_UNSUBSCRIBE_ALL
	)
	s, peer := newServer(t, Options{MaxTopics: 150}), newHost(t)
	connect(t, peer, s.host)
	a := proto.String(topicA)
	long := strings.Repeat("x", 256)
	for i, tt := range []struct {
		name    string
		kind    pb.FilterSubscribeRequest_FilterSubscribeType
		pubsub  *string
		content []string
		code    uint32
		desc    string
		topics  int // afterwards
	}{
		{"ping of nobody", ping, nil, nil, 404, "no subscriptions", 0},
		{"unsubscribe of nobody", unsubscribe, a, topics(1), 404, "no subscriptions", 0},
		{"unsubscribe all of nobody", unsubscribeAll, nil, nil, 404, "no subscriptions", 0},
		{"no pubsub topic", subscribe, nil, topics(1), 400, "pubsub topic is empty", 0},
		{"empty pubsub topic", subscribe, proto.String(""), topics(1), 400, "pubsub topic is empty", 0},
		{"no content topic", subscribe, a, nil, 400, "no content topic", 0},
		{"an empty content topic", subscribe, a, []string{"x", ""}, 400, "content topic is empty", 0},
		{"a pubsub topic of 257 bytes", subscribe, proto.String(long + "x"), topics(1), 400, "pubsub topic of 257 bytes, at most 256", 0},
		{"a content topic of 257 bytes", subscribe, a, []string{"x", long + "x"}, 400, "content topic of 257 bytes, at most 256", 0},
		{"101 content topics", subscribe, a, topics(101), 400, "101 content topics, at most 100", 0},
		{"100 content topics", subscribe, a, topics(100), 200, "OK", 100},
		{"the same", subscribe, a, topics(100), 200, "OK", 100},
		{"ping", ping, nil, nil, 200, "OK", 100},
		{"ping with criteria", ping, proto.String(""), []string{""}, 200, "OK", 100},
		{"past the peer's bound", subscribe, proto.String(topicB), topics(51), 503, "151 topics of one peer, at most 150", 100},
		{"up to it, one twice", subscribe, proto.String(topicB), append(topics(50), topics(1)...), 200, "OK", 150},
		{"unsubscribe from no pubsub topic", unsubscribe, nil, topics(1), 400, "pubsub topic is empty", 150},
		{"unsubscribe from another", unsubscribe, proto.String("/other"), topics(1), 404, "none of these topics", 150},
		{"unsubscribe from some", unsubscribe, a, append(topics(60), "/unknown"), 200, "OK", 90},
		{"unsubscribe from these again", unsubscribe, a, topics(60), 404, "none of these topics", 90},
		{"unknown type", 4, nil, nil, 400, "type 4 is unknown", 90},
		{"unsubscribe all", unsubscribeAll, nil, nil, 200, "OK", 0},
		{"unsubscribe all again", unsubscribeAll, nil, nil, 404, "no subscriptions", 0},
		{"subscribe anew", subscribe, a, topics(1), 200, "OK", 1},
		{"unsubscribe from the last", unsubscribe, a, topics(1), 200, "OK", 0},
		{"topics of 256 bytes", subscribe, &long, []string{long}, 200, "OK", 1},
		{"unsubscribe from longer ones", unsubscribe, &long, []string{long + "x"}, 400, "content topic of 257 bytes", 1},
		{"unsubscribe from them", unsubscribe, &long, []string{long}, 200, "OK", 0},
		{"ping of nobody again", ping, nil, nil, 404, "no subscriptions", 0},
	} {
		id := fmt.Sprint("request ", i)
		resp := ask(t, peer, s.host, &pb.FilterSubscribeRequest{RequestId: id, FilterSubscribeType: tt.kind, PubsubTopic: tt.pubsub, ContentTopics: tt.content})
		if resp.GetRequestId() != id || resp.GetStatusCode() != tt.code || !strings.Contains(resp.GetStatusDesc(), tt.desc) {
			t.Errorf("%s: %v, want %d %q", tt.name, resp, tt.code, tt.desc)
		}
		if got := s.Stats(); got.Topics != tt.topics || (got.Subscribers == 0) != (tt.topics == 0) {
			t.Errorf("%s: %d topics, want %d; %d peers", tt.name, got.Topics, tt.topics, got.Subscribers)
		}
	}
	want := [refusals]uint64{RefuseInvalid: 10, RefuseUnknown: 7, RefuseFull: 1}
	if got := s.Stats(); got.Refused != want || got.Requests != 11 || got.Removed != [removals]uint64{RemoveUnsubscribed: 3} {
		t.Errorf("%+v", got)
	}
}

func TestMalformedRequestsAreAnswered(t *testing.T) {
	s, peer := newServer(t, Options{}), newHost(t)
	connect(t, peer, s.host)
	for i, tt := range []struct{ name, bytes, desc string }{
		{"nothing", "", "EOF"},
		{"no request id", "\x02\x10\x01", "request id is empty"},
		{"not protobuf", "\x02\xff\xff", "malformed"},
		{"request id not UTF-8", "\x04\x0a\x02\xc0\x80", "malformed"},
		{"cut", "\x09\x0a", "ends after 1"},
		{"too long", "\xff\xff\xff\xff\x07", "at most 65536"},
	} {
		resp := request(t, peer, s.host, []byte(tt.bytes))
		if resp.GetStatusCode() != 400 || !strings.Contains(resp.GetStatusDesc(), tt.desc) {
			t.Errorf("%s: %v, want 400 %q", tt.name, resp, tt.desc)
		}
		got := s.Stats()
		if sum := got.Refused[RefuseMalformed] + got.Refused[RefuseInvalid]; sum != uint64(i+1) {
			t.Errorf("%s: refused %v", tt.name, got.Refused)
		}
	}
}

func TestTableIsBounded(t *testing.T) {
	s := newServer(t, Options{MaxPeers: 2})
	var all []light
	for range 3 {
		all = append(all, newLight(t, s))
	}
	all[0].subscribe(t, s.host, topicA, content)
	all[1].subscribe(t, s.host, topicA, content)
	err := all[2].Subscribe(deadline(t), s.host.ID(), topicA, content)
	if status := new(StatusError); !errors.As(err, &status) || status.Code != StatusUnavailable || !strings.Contains(err.Error(), "2 peers are subscribed") {
		t.Errorf("the third peer: %v", err)
	}
	all[0].subscribe(t, s.host, topicB, content) // who is in has room
	if err := all[1].UnsubscribeAll(deadline(t), s.host.ID()); err != nil {
		t.Fatal(err)
	}
	all[2].subscribe(t, s.host, topicA, content)
	env := numbered(t, topicA, 1, 10)
	s.stage(t, env)
	all[0].expect(t, env)
	all[2].expect(t, env)
	if got := s.Stats(); got.Copies != 2 || got.Subscribers != 2 || got.Topics != 3 {
		t.Errorf("%+v", got)
	}
}

// A request that does not come in time ends, and so does one that is under way when
// the server stops.
func TestSlowRequests(t *testing.T) {
	for _, timeout := range []time.Duration{time.Nanosecond, time.Hour} {
		s, peer := newServer(t, Options{Timeout: timeout}), newHost(t)
		connect(t, peer, s.host)
		st, err := peer.NewStream(deadline(t), s.host.ID(), SubscribeProtocol)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Write([]byte{9}); err != nil {
			t.Fatal(err)
		}
		if timeout == time.Hour {
			s.awaitRequest(t)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		_ = st.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := st.Read(make([]byte, 1)); !errors.Is(err, network.ErrReset) {
			t.Errorf("timeout %v: %v, want a reset", timeout, err)
		}
	}
}

// awaitRequest waits until a request is being read.
func (s server) awaitRequest(t testing.TB) {
	t.Helper()
	ctx := deadline(t)
	for n := 0; n == 0; {
		s.streams.mu.Lock()
		n = len(s.streams.open)
		s.streams.mu.Unlock()
		if ctx.Err() != nil {
			t.Fatal("no request came")
		}
	}
}

// still is a host without a network: nobody can be reached.
type still struct{ host.Host }

var errStill = errors.New("no network")

func (still) SetStreamHandler(protocol.ID, network.StreamHandler) {}
func (still) RemoveStreamHandler(protocol.ID)                     {}
func (still) NewStream(context.Context, peer.ID, ...protocol.ID) (network.Stream, error) {
	return nil, errStill
}

// inBubble runs a Server without a network while time is the test's.
func inBubble(t *testing.T, o Options, test func(s server)) {
	synctest.Test(t, func(t *testing.T) {
		p, err := New(still{}, o)
		if err != nil {
			t.Fatal(err)
		}
		run(t, p)
		test(server{Server: p})
	})
}

// do makes a request of a peer, and returns its status.
func (s server) do(t *testing.T, from peer.ID, kind pb.FilterSubscribeRequest_FilterSubscribeType, content ...string) uint32 {
	t.Helper()
	req := &pb.FilterSubscribeRequest{RequestId: "x", FilterSubscribeType: kind, PubsubTopic: proto.String(topicA), ContentTopics: content}
	err := s.Server.do(context.Background(), from, req, time.Now())
	return s.response(req, err).GetStatusCode()
}

// A subscription ends when its peer neither subscribes nor pings for the TTL.
func TestSubscriptionsExpire(t *testing.T) {
	inBubble(t, Options{TTL: 4 * time.Minute}, func(s server) {
		for _, p := range []peer.ID{"pings", "subscribes", "silent", "late"} {
			s.do(t, p, pb.FilterSubscribeRequest_SUBSCRIBE, content)
		}
		subscribed := func(want int, when string) {
			t.Helper()
			synctest.Wait()
			if got := s.Stats().Subscribers; got != want {
				t.Errorf("%s: %d peers, want %d", when, got, want)
			}
		}
		time.Sleep(3*time.Minute + 59*time.Second)
		subscribed(4, "just before")
		s.do(t, "pings", pb.FilterSubscribeRequest_SUBSCRIBER_PING)
		s.do(t, "subscribes", pb.FilterSubscribeRequest_SUBSCRIBE, content)
		time.Sleep(999 * time.Millisecond)
		subscribed(4, "just before, again")
		time.Sleep(time.Millisecond)
		subscribed(2, "at the TTL")
		if code := s.do(t, "late", pb.FilterSubscribeRequest_SUBSCRIBER_PING); code != StatusNotFound {
			t.Errorf("ping after the end: %d", code)
		}
		time.Sleep(3*time.Minute + 59*time.Second + 500*time.Millisecond) // between two sweeps
		subscribed(2, "run out, and not swept")
		if code := s.do(t, "pings", pb.FilterSubscribeRequest_SUBSCRIBER_PING); code != StatusNotFound {
			t.Errorf("ping of what has run out: %d", code)
		}
		time.Sleep(time.Minute)
		subscribed(0, "a sweep later")
		if got := s.Stats(); got.Removed[RemoveExpired] != 4 || got.Topics != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// A peer is removed when pushes have failed for as long as the option says, and not
// before.
func TestUnreachableForAMinute(t *testing.T) {
	inBubble(t, Options{TTL: time.Hour}, func(s server) {
		s.do(t, "away", pb.FilterSubscribeRequest_SUBSCRIBE, content)
		for i := range 4 {
			time.Sleep(20 * time.Second)
			if s.Stats().Subscribers != 1 {
				t.Errorf("removed after %d failures", i)
			}
			s.stage(t, numbered(t, topicA, i, 10))
			synctest.Wait()
		}
		if got := s.Stats(); got.Subscribers != 0 || got.Removed[RemoveUnreachable] != 1 || got.Dropped[DropStream] != 4 {
			t.Errorf("%+v", got)
		}
		s.account(t)
	})
}

// fillQueue stages 13 large messages for a peer that does not read: two are pushed,
// 10 wait behind the third, which does not fit into yamux's window.
func (s server) fillQueue(t *testing.T) {
	t.Helper()
	for i := range 13 {
		s.stage(t, numbered(t, topicA, i, 100_000))
	}
	s.awaitStats(t, func(got Stats) bool { return got.Pushed == 2 && got.Waiting == 10 })
}

// awaitStats waits until the stats are as they shall be.
func (s server) awaitStats(t *testing.T, are func(Stats) bool) {
	t.Helper()
	ctx := deadline(t)
	for got := s.Stats(); !are(got); got = s.Stats() {
		if ctx.Err() != nil {
			t.Fatalf("%+v", got)
		}
	}
}

// What waits for a peer that unsubscribes from some topics is dropped if it is of
// these, and counted; the peer stays and gets the rest.
func TestUnsubscribedWithCopiesWaiting(t *testing.T) {
	s := newServer(t, Options{Timeout: time.Hour})
	reads := make(chan struct{})
	slow := bare(t, func(st network.Stream) {
		<-reads
		_, _ = io.Copy(io.Discard, st)
	})
	subscribeBare(t, slow, s, topicA, content, "/other")
	s.fillQueue(t)
	s.stage(t, sealed(t, topicA, "/other", 100, 10))
	resp := ask(t, slow, s.host, &pb.FilterSubscribeRequest{
		RequestId: "2", FilterSubscribeType: pb.FilterSubscribeRequest_UNSUBSCRIBE,
		PubsubTopic: proto.String(topicA), ContentTopics: []string{content},
	})
	if resp.GetStatusCode() != StatusOK {
		t.Fatal(resp)
	}
	close(reads)
	s.awaitStats(t, func(got Stats) bool { return got.Waiting == 0 && got.Pushed+got.Dropped[DropRemoved] == got.Copies })
	if got := s.Stats(); got.Pushed != 4 || got.Dropped != [drops]uint64{DropRemoved: 10} || got.Subscribers != 1 {
		t.Errorf("%+v, want the one that was being written, and the other topic's", got)
	}
}

// What waits for a peer whose subscriptions end is dropped, and counted.
func TestRemovedWithCopiesWaiting(t *testing.T) {
	s := newServer(t, Options{Timeout: time.Hour})
	blocked := bare(t, func(network.Stream) {})
	subscribeBare(t, blocked, s, topicA, content)
	s.fillQueue(t)
	ask(t, blocked, s.host, &pb.FilterSubscribeRequest{RequestId: "2", FilterSubscribeType: pb.FilterSubscribeRequest_UNSUBSCRIBE_ALL})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got := s.Stats()
	if got.Copies != 13 || got.Dropped != [drops]uint64{DropRemoved: 11} {
		t.Errorf("%+v", got)
	}
	s.account(t)
}

// Messages that nobody is subscribed to are not hashed, and those that cannot be
// decoded are an error.
func TestStagesOfUnwantedAndBroken(t *testing.T) {
	s := newServer(t, Options{})
	s.stage(t, numbered(t, topicA, 1, 10))
	if got := s.Stats(); got.Due+got.Copies != 0 || len(s.window.due) != 0 {
		t.Errorf("%+v", got)
	}
	broken := message.Wrap(numbered(t, topicA, 1, 1).Counts(), message.Format{}, topicA, []byte{0xff})
	for _, err := range []error{s.Match(t.Context(), broken), s.Push(t.Context(), broken)} {
		if err == nil || !strings.HasPrefix(err.Error(), "filter: ") {
			t.Errorf("broken message: %v", err)
		}
	}
	l := newLight(t, s)
	l.subscribe(t, s.host, topicA, content)
	env := numbered(t, topicA, 2, 10)
	if err := s.Push(t.Context(), env); err != nil { // nobody has matched it
		t.Fatal(err)
	}
	if got := s.Stats(); got.Copies != 0 {
		t.Errorf("pushed what is not due: %+v", got)
	}
}

// The bytes that go out are those that came in: one buffer for all peers.
func TestFrameIsShared(t *testing.T) {
	inBubble(t, Options{}, func(s server) {
		s.mu.Lock()
		var subs []*subscriber
		for _, p := range []peer.ID{"a", "b", "c"} {
			sub := &subscriber{peer: p, pairs: make(map[pair]bool), queue: make(chan *frame, 1), end: func() {}}
			s.table.add(sub, pairs(topicA, []string{content}))
			subs = append(subs, sub)
		}
		s.mu.Unlock()
		env := numbered(t, topicA, 1, 100)
		s.stage(t, env)
		first := <-subs[0].queue
		if &first.data[0] != &env.Bytes()[0] || !bytes.Equal(first.data, env.Bytes()) {
			t.Error("the message was copied")
		}
		for _, sub := range subs[1:] {
			if f := <-sub.queue; f != first {
				t.Error("a frame was made for one peer")
			}
		}
	})
}
