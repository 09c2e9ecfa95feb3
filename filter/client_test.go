package filter

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

func TestClientAgainstServer(t *testing.T) {
	s := newServer(t, Options{})
	l := newLight(t, s)
	if err := l.Ping(deadline(t), s.host.ID()); !isStatus(err, StatusNotFound) {
		t.Errorf("ping before: %v", err)
	}
	l.subscribe(t, s.host, topicA, content, "/other")
	if err := l.Ping(deadline(t), s.host.ID()); err != nil {
		t.Errorf("ping: %v", err)
	}
	first, last := numbered(t, topicA, 1, 100), numbered(t, topicA, 3, message.DefaultMaxSize-100)
	s.stage(t, first)
	l.expect(t, first)
	if err := l.Unsubscribe(deadline(t), s.host.ID(), topicA, content); err != nil {
		t.Fatal(err)
	}
	s.stage(t, numbered(t, topicA, 2, 100))
	l.subscribe(t, s.host, topicA, content)
	s.stage(t, last)
	l.expect(t, last)
	if err := l.UnsubscribeAll(deadline(t), s.host.ID()); err != nil {
		t.Fatal(err)
	}
	if err := l.UnsubscribeAll(deadline(t), s.host.ID()); !isStatus(err, StatusNotFound) {
		t.Errorf("unsubscribe all again: %v", err)
	}
	if got := s.Stats(); got.Pushed != 2 || got.Subscribers != 0 {
		t.Errorf("%+v", got)
	}
	if got := l.Stats(); got != (ClientStats{Delivered: 2}) {
		t.Errorf("%+v", got)
	}
}

func isStatus(err error, code uint32) bool {
	status := new(StatusError)
	return errors.As(err, &status) && status.Code == code
}

// A refused subscription is not kept: only what this call added is undone.
func TestRefusedSubscribeIsUndone(t *testing.T) {
	s := newServer(t, Options{MaxTopics: 2})
	l := newLight(t, s)
	l.subscribe(t, s.host, topicA, content)
	if err := l.Subscribe(deadline(t), s.host.ID(), topicA, content, "/1", "/2"); !isStatus(err, StatusUnavailable) {
		t.Fatalf("got %v", err)
	}
	if !l.subscribed(s.host.ID(), pair{topicA, content}) || l.subscribed(s.host.ID(), pair{topicA, "/1"}) {
		t.Errorf("subscribed to %v", l.subs)
	}
	if err := l.Subscribe(deadline(t), s.host.ID(), topicA, topics(101)...); err == nil || !strings.Contains(err.Error(), "101 content topics") {
		t.Errorf("101 topics: %v", err)
	}
}

// A client hangs up on a peer at which it has nothing, and on bytes that are no
// push. Pushes of what is no message are counted and left out.
func TestHostilePushes(t *testing.T) {
	push := func(topic string, data []byte) []byte { return framed(t, topic, data) }
	wanted := numbered(t, topicA, 1, 10)
	for _, tt := range []struct {
		name  string
		bytes []byte
		reset bool
		want  ClientStats
	}{
		{"not protobuf", []byte{2, 0xff, 0xff}, true, ClientStats{Malformed: 1}},
		{"no message", []byte{3, 0x12, 1, 'x'}, true, ClientStats{Malformed: 1}},
		{"too long", []byte{0xff, 0xff, 0xff, 0x7f}, true, ClientStats{Malformed: 1}},
		{"cut", []byte{5, 0x0a}, true, ClientStats{Malformed: 1}},
		{"not a message, then one", append(push(topicA, []byte{0xff}), push(topicA, wanted.Bytes())...), false, ClientStats{Invalid: 1, Delivered: 1}},
		{"no content topic, then one", append(push(topicA, nil), push(topicA, wanted.Bytes())...), false, ClientStats{Invalid: 1, Delivered: 1}},
		{"too large, then one", append(push(topicA, make([]byte, message.DefaultMaxSize+1)), push(topicA, wanted.Bytes())...), false, ClientStats{Invalid: 1, Delivered: 1}},
		{"nothing", nil, false, ClientStats{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, old := newLight(t), bare(t, nil)
			connect(t, l.host, old)
			l.subscribe(t, old, topicA, content)
			checkPush(t, l, old, tt.bytes, tt.reset)
			if got := l.Stats(); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
	l, stranger := newLight(t), bare(t, nil)
	connect(t, l.host, stranger)
	checkPush(t, l, stranger, push(topicA, wanted.Bytes()), true)
	if got := l.Stats(); got != (ClientStats{Strangers: 1}) {
		t.Errorf("stranger: %+v", got)
	}
}

// checkPush writes bytes to a client as one stream of pushes, and waits until it
// has closed or reset it.
func checkPush(t *testing.T, l light, from host.Host, b []byte, reset bool) {
	t.Helper()
	st, err := from.NewStream(deadline(t), l.host.ID(), PushProtocol)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = st.Write(b) // may be reset already
	_ = st.CloseWrite()
	_, err = st.Read(make([]byte, 1))
	if got := errors.Is(err, network.ErrReset); got != reset {
		t.Errorf("reset %v (%v), want %v", got, err, reset)
	}
}

// A server that does not answer, or answers what it was not asked, is an error.
func TestStrangeServers(t *testing.T) {
	silent := newHost(t)
	asked := make(chan struct{})
	silent.SetStreamHandler(SubscribeProtocol, func(network.Stream) { close(asked) })
	l := newLight(t)
	connect(t, l.host, silent)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if err := l.Ping(ctx, silent.ID()); !errors.Is(err, context.Canceled) {
		t.Errorf("silent: %v", err)
	}
	for name, answer := range map[string]func(network.Stream){
		"is to request": func(st network.Stream) {
			_ = writeMessage(st, &pb.FilterSubscribeResponse{RequestId: "other", StatusCode: 200})
		},
		"read answer: EOF": func(st network.Stream) {},
		"malformed":        func(st network.Stream) { _, _ = st.Write([]byte{2, 0xff, 0xff}) },
		"status 0":         func(st network.Stream) { _, _ = st.Write([]byte{0}) },
	} {
		h := newHost(t)
		h.SetStreamHandler(SubscribeProtocol, func(st network.Stream) {
			_ = readMessage(st, new(pb.FilterSubscribeRequest))
			answer(st)
			_ = st.Close()
		})
		connect(t, l.host, h)
		if err := l.Ping(deadline(t), h.ID()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLifecycle(t *testing.T) {
	s, err := New(newHost(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(newHost(t), ClientOptions{Handle: func(peer.ID, *message.Envelope) {}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Subscribe(t.Context(), "x", topicA, content); !errors.Is(err, errNotRunning) {
		t.Errorf("subscribe before Run: %v", err)
	}
	for _, p := range []part{s, c} {
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- p.Run(ctx) }()
		<-p.Ready()
		if err := p.Run(ctx); err == nil {
			t.Errorf("%T runs twice", p)
		}
		cancel()
		if err := <-ran; err != nil {
			t.Errorf("%T: %v", p, err)
		}
		for range 2 {
			if err := p.Close(); err != nil {
				t.Errorf("close %T: %v", p, err)
			}
		}
		if err := p.Run(t.Context()); err == nil {
			t.Errorf("%T runs after Close", p)
		}
	}
	if err := c.Unsubscribe(t.Context(), "x", topicA, content); !errors.Is(err, errNotRunning) {
		t.Errorf("unsubscribe after Close: %v", err)
	}
	never, err := New(newHost(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := never.Close(); err != nil {
		t.Error(err)
	}
	if err := never.Run(t.Context()); err == nil {
		t.Error("runs after Close")
	}
}
