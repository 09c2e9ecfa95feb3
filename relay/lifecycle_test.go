package relay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/msgpath/msgpath/message"
)

func TestRunTwice(t *testing.T) {
	n := start(t, Options{})
	if err := n.Run(t.Context()); !errors.Is(err, ErrClosed) { // at once, while the first runs
		t.Errorf("second run: %v", err)
	}
	n.publishAlone(t)
	n.settle()
	if err := n.Run(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("run after close: %v", err)
	}
}

// publishAlone publishes one message and expects that there is no peer for it:
// the topic is joined and works.
func (n *node) publishAlone(t *testing.T) {
	t.Helper()
	if _, err := n.Publish(t.Context(), topicA, sample(0, 8)); !errors.Is(err, ErrNoPeers) {
		t.Errorf("publish: %v", err)
	}
}

func TestCloseBeforeRun(t *testing.T) {
	n := unstarted(t, newHost(t), Options{})
	for range 2 {
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Run(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("run after close: %v", err)
	}
	if err := n.Join(topicB); !errors.Is(err, ErrClosed) {
		t.Errorf("join after close: %v", err)
	}
}

func TestCloseAtOnceWithRun(t *testing.T) {
	h := newHost(t)
	for range 20 {
		n := unstarted(t, h, Options{})
		ran := make(chan error, 1)
		go func() { ran <- n.Run(context.Background()) }()
		var closing sync.WaitGroup
		for range 3 {
			closing.Go(func() {
				if err := n.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		closing.Wait()
		expectError(t, <-ran, ErrClosed)
		if _, err := n.Publish(t.Context(), topicA, sample(0, 8)); !errors.Is(err, ErrNotJoined) {
			t.Errorf("publish after close: %v", err)
		}
	}
}

func TestContextEndsRun(t *testing.T) {
	n := unstarted(t, newHost(t), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { n.done <- n.Run(ctx) }()
	<-n.Ready()
	cancel()
	if err := <-n.done; err != nil {
		t.Errorf("run: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for _, err := range []error{n.Join(topicB), n.Leave(topicA), n.WaitMesh(t.Context(), topicA, 1)} {
		if !errors.Is(err, ErrClosed) && !errors.Is(err, ErrNotJoined) {
			t.Errorf("after close: %v", err)
		}
	}
}

// TestRunCannotJoin: what fails to start is undone and named.
func TestRunCannotJoin(t *testing.T) {
	n := unstarted(t, newHost(t), Options{})
	n.opts.Topics = []string{topicA, topicA} // past Validate
	err := n.Run(t.Context())
	if !errors.Is(err, ErrJoined) {
		t.Errorf("run: %v", err)
	}
	select {
	case <-n.Ready():
		t.Error("ready after a failed run")
	default:
	}
	if len(n.joinedAll()) != 0 {
		t.Error("a topic is still joined")
	}
}

func TestJoinLeaveRejoin(t *testing.T) {
	a, b := pair(t, Options{}, Options{Topics: []string{topicA, topicB}})
	if err := a.Join(topicA); !errors.Is(err, ErrJoined) {
		t.Errorf("second join: %v", err)
	}
	a.publish(topicA, sample(0, 8)) // the first registration stands
	b.passed.wait(t, "deliveries", 1)
	for _, name := range []string{"", "\xff"} {
		if err := a.Join(name); err == nil {
			t.Errorf("join %q succeeds", name)
		}
	}
	if err := a.Join(topicB, nil); err == nil {
		t.Error("join with a validator that is nil succeeds")
	}
	if err := a.Leave(topicB); !errors.Is(err, ErrNotJoined) {
		t.Errorf("leave a topic never joined: %v", err)
	}
	waiting := make(chan error, 1)
	go func() { waiting <- a.WaitMesh(context.Background(), topicA, 99) }()
	if err := a.Leave(topicA); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; !errors.Is(err, ErrNotJoined) {
		t.Errorf("wait for the mesh of a topic that is left: %v", err)
	}
	if err := a.Join(topicA); err != nil {
		t.Fatal(err)
	}
	dial(t, a).send(topicA, encode(t, sample(1, 8)))
	a.passed.wait(t, "deliveries, one of them to itself", 2)
}

// TestLeaveHandsOverAccepted: messages that were accepted and have not reached
// the subscription yet, because gossipsub is busy, when their topic is left.
func TestLeaveHandsOverAccepted(t *testing.T) {
	var busy *gate
	hold := func(o Observation) {
		if o.Event == Received && o.Topic == topicA {
			_ = busy.pass(context.Background(), nil)
		}
	}
	n := start(t, Options{AllowNoPeers: true, Observers: []Observer{hold}})
	w := dial(t, n)
	for i := range 20 {
		slow, validators := newGate(t), make(chan context.Context, 1)
		busy = newGate(t)
		note := func(ctx context.Context, _ *message.Envelope) error { validators <- ctx; return nil }
		if err := n.Join(topicB, note, slow.pass); err != nil {
			t.Fatal(err)
		}
		published := make(chan error, 1)
		go func() {
			_, err := n.Publish(context.Background(), topicB, sample(i, 8))
			published <- err
		}()
		slow.waiting.wait(t, "messages in validation", 1)
		w.send(topicA, encode(t, sample(i, 8)))
		busy.waiting.wait(t, "copies that hold up gossipsub", 1)
		slow.open()
		if err := <-published; err != nil { // accepted, and queued for gossipsub
			t.Fatal(err)
		}
		left := make(chan error, 1)
		go func() { left <- n.Leave(topicB) }()
		<-(<-validators).Done() // it has begun
		busy.open()
		if err := <-left; err != nil {
			t.Fatal(err)
		}
		if s := n.on(topicB); s.Published != uint64(i+1) || s.Delivered != s.Published {
			t.Fatalf("after leave %d: %+v", i, s)
		}
	}
}

// TestStoredAfterLeave: a store that answers when the topic was left long ago.
func TestStoredAfterLeave(t *testing.T) {
	held := make(chan *message.Envelope, 10)
	store := func(_ context.Context, env *message.Envelope) error { held <- env; return nil }
	n := start(t, Options{Store: store})
	dial(t, n).send(topicA, samples(t, 0, 3, 8)...)
	n.seen[Received].wait(t, "copies", 3)
	n.drained(t, topicA)
	if err := n.Leave(topicA); err != nil {
		t.Fatal(err)
	}
	if len(held) != 3 || n.passed.load() != 0 {
		t.Fatalf("%d of 3 are in the store, %d delivered", len(held), n.passed.load())
	}
	for _, err := range []error{nil, fmt.Errorf("again: %w", ErrDuplicate), errRefused} {
		n.Stored(t.Context(), <-held, err)
	}
	n.settle()
	if s := n.on(topicA); s.Delivered != 1 || s.Known != 1 || s.Causes[DropStore] != 1 || n.passed.load() != 1 {
		t.Errorf("want 1 delivered, 1 known, 1 dropped: %+v", s)
	}
}

// TestCloseEndsValidators: a validator that waits for its context does not hold
// up Close, and its message is accounted for.
func TestCloseEndsValidators(t *testing.T) {
	g := newGate(t)
	n := start(t, Options{Validators: []Validator{g.pass}})
	dial(t, n).send(topicA, samples(t, 0, 3, 8)...)
	g.waiting.wait(t, "copies in validation", 3)
	n.settle()
	expectCauses(t, n.on(topicA), map[Cause]uint64{DropLeft: 3})
}

// TestNew refuses what Run could not start.
func TestNew(t *testing.T) {
	_, err := New(nil, Options{Reach: 9})
	if err == nil || !strings.Contains(err.Error(), "host is nil") || !strings.Contains(err.Error(), "Reach 9") {
		t.Errorf("new without a host, of no reach: %v", err)
	}
}
