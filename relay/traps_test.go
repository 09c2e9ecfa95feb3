package relay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

// TestOneValidatorOfSeveral: go-libp2p-pubsub#66. gossipsub would run several
// validators of a topic at once on one message; ours runs them in order, and is
// the only one.
func TestOneValidatorOfSeveral(t *testing.T) {
	var mu sync.Mutex
	var calls []string
	called := func(name string, err error) Validator {
		return func(context.Context, *message.Envelope) error {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, name)
			return err
		}
	}
	n := start(t, Options{AllowNoPeers: true, Validators: []Validator{called("options", nil)}})
	if err := n.Join(topicB, called("first", nil), called("second", errRefused), called("third", nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Publish(t.Context(), topicB, sample(0, 8)); !errors.Is(err, errRefused) {
		t.Errorf("publish: %v, want the second validator's error", err)
	}
	if want := []string{"options", "first", "second"}; !slices.Equal(calls, want) {
		t.Errorf("validators ran: %v, want %v", calls, want)
	}
	for _, name := range []string{topicA, topicB} {
		if err := n.gossip.RegisterTopicValidator(name, func(context.Context, peer.ID, *pubsub.Message) bool { return true }); err == nil {
			t.Errorf("%s has no validator registered", name)
		}
	}
}

// TestValidatorBeforeJoining joins and leaves a topic under constant traffic of
// messages that the validator rejects: none may be accepted for want of it.
func TestValidatorBeforeJoining(t *testing.T) {
	var calls atomic.Int64
	n := start(t, Options{})
	stop := make(chan struct{})
	var sending sync.WaitGroup
	for sender := range 4 {
		w := dial(t, n)
		sending.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					w.send(topicB, encode(t, sample(i*4+sender, 8)))
				}
			}
		})
	}
	for i := range 20 {
		before := n.seen[Received].load()
		if err := n.Join(topicB, refuse(errRefused, &calls)); err != nil {
			t.Fatal(err)
		}
		n.seen[Received].wait(t, fmt.Sprintf("copies after join %d", i), before+5)
		if err := n.Leave(topicB); err != nil {
			t.Fatal(err)
		}
		checkBalance(t, n.on(topicB))
	}
	close(stop)
	sending.Wait()
	n.settle()
	s := n.on(topicB)
	if s.Delivered != 0 || n.passed.load() != 0 || s.Causes[RejectValidator] == 0 || s.Causes[RejectValidator] > uint64(calls.Load()) {
		t.Errorf("want all of those validated rejected, %d calls: %+v", calls.Load(), s)
	}
}

// TestSharedOnce has several goroutines ask the Envelope they share at once: it
// is decoded and hashed once.
func TestSharedOnce(t *testing.T) {
	counts := counters.New()
	ask := func(_ context.Context, env *message.Envelope) error {
		var asked sync.WaitGroup
		for range 8 {
			asked.Go(func() {
				_, err := env.Message(siteAsk)
				_, hashErr := env.Hash(siteAsk)
				if err = errors.Join(err, hashErr); err != nil {
					t.Error(err)
				}
			})
		}
		asked.Wait()
		return nil
	}
	a, b := pair(t, Options{Reach: ReachNode}, Options{Reach: ReachNode, Counts: counts, Stages: []Stage{ask}, Validators: []Validator{ask}})
	for i := range 10 {
		a.publish(topicA, sample(i, 100))
	}
	b.passed.wait(t, "deliveries", 10)
	if got := counters.Total(counters.Load(counts)); counters.Enabled && (got.Decodes != 10 || got.Hashes != 10) {
		t.Errorf("10 messages: %d decodes, %d hashes", got.Decodes, got.Hashes)
	}
}

// TestOwnEnvelope: what Publish sealed reaches the node's own validator at every
// reach, and its own stages at ReachNode.
func TestOwnEnvelope(t *testing.T) {
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			var validated, staged *message.Envelope
			n := start(t, Options{
				Reach: reach, AllowNoPeers: true,
				Validators: []Validator{func(_ context.Context, env *message.Envelope) error { validated = env; return nil }},
				Stages:     []Stage{func(_ context.Context, env *message.Envelope) error { staged = env; return nil }},
			})
			n.publish(topicA, sample(0, 8))
			n.passed.wait(t, "deliveries", 1)
			if same := validated == staged; same != (reach == ReachNode) {
				t.Errorf("the stage was handed the sealed Envelope: %v", same)
			}
		})
	}
}

// TestLocalRefusals: gossipsub tells no tracer of a local reject, and answers nil
// to a duplicate.
func TestLocalRefusals(t *testing.T) {
	var answer error
	n := start(t, Options{AllowNoPeers: true, Validators: []Validator{func(context.Context, *message.Envelope) error { return answer }}})
	for _, answer = range []error{errRefused, fmt.Errorf("not now: %w", ErrIgnore)} {
		if _, err := n.Publish(t.Context(), topicA, sample(0, 8)); !errors.Is(err, answer) {
			t.Errorf("refused with %v: publish answered %v", answer, err)
		}
	}
	answer = nil
	n.publish(topicA, sample(0, 8)) // a refusal does not make it a duplicate
	for range 2 {
		if _, err := n.Publish(t.Context(), topicA, sample(0, 8)); !errors.Is(err, ErrDuplicate) {
			t.Errorf("second publish: %v", err)
		}
	}
	n.settle()
	s := n.on(topicA)
	if s.PublishRefused != 2 || s.PublishDuplicates != 2 || s.Published != 1 || s.Delivered != 1 || s.Rejected() != 0 {
		t.Errorf("want 2 refused, 2 duplicates, 1 published: %+v", s)
	}
}

// TestPublishReceived publishes what was received: a duplicate.
func TestPublishReceived(t *testing.T) {
	a, b := pair(t, Options{}, Options{})
	a.publish(topicA, sample(0, 8))
	b.passed.wait(t, "deliveries", 1)
	if _, err := b.Publish(t.Context(), topicA, sample(0, 8)); !errors.Is(err, ErrDuplicate) {
		t.Errorf("publish of a message received: %v", err)
	}
}

// TestPublishWhileReceiving publishes a message while a copy of it from a peer is
// in validation: gossipsub accepts both, delivers one and says nothing.
func TestPublishWhileReceiving(t *testing.T) {
	g := newGate(t)
	var calls atomic.Int64
	hold := func(ctx context.Context, env *message.Envelope) error {
		if calls.Add(1) == 1 {
			return g.pass(ctx, env)
		}
		return nil
	}
	n := start(t, Options{AllowNoPeers: true, Validators: []Validator{hold}})
	dial(t, n).send(topicA, encode(t, sample(0, 8)))
	g.waiting.wait(t, "copies in validation", 1)
	n.publish(topicA, sample(0, 8))
	g.open()
	n.drained(t, topicA)
	n.settle()
	s := n.on(topicA)
	if s.Received != 1 || s.Duplicates != 1 || s.Published != 1 || s.Delivered != 1 || n.passed.load() != 1 {
		t.Errorf("want the received copy to be the duplicate: %+v", s)
	}
}

// TestDropRPC drives the tracer: it counts messages, not RPCs.
func TestDropRPC(t *testing.T) {
	n := start(t, Options{Topics: []string{topicA, topicB}})
	on := func(name string) *pubsubpb.Message { return &pubsubpb.Message{Topic: &name, Data: []byte("data")} }
	control := &pubsubpb.ControlMessage{Graft: []*pubsubpb.ControlGraft{{TopicID: proto.String(topicA)}}}
	for _, rpc := range []*pubsub.RPC{
		{RPC: pubsubpb.RPC{Control: control}},
		{RPC: pubsubpb.RPC{Subscriptions: []*pubsubpb.RPC_SubOpts{{Topicid: proto.String(topicA)}}}},
		{RPC: pubsubpb.RPC{Publish: []*pubsubpb.Message{on(topicA), on(topicB), on(topicA)}, Control: control}},
		{RPC: pubsubpb.RPC{Publish: []*pubsubpb.Message{on("never joined")}}},
	} {
		tracer{n.Relay}.DropRPC(rpc, "peer")
	}
	if a, b := n.on(topicA).SendDropped, n.on(topicB).SendDropped; a != 2 || b != 1 || len(n.Stats()) != 2 {
		t.Errorf("dropped 2 and 1 messages, counted %d and %d: %+v", a, b, n.Stats())
	}
}

// TestOutboundOverflow publishes to a peer that grafts and then never reads.
func TestOutboundOverflow(t *testing.T) {
	n := start(t, Options{OutboundQueue: 1})
	w := dialFrom(t, stalled(t), n, pubsub.GossipSubID_v11)
	w.graft(topicA)
	n.waitMesh(topicA, 1)
	const sent = 64
	for i := range sent {
		n.publish(topicA, sample(i, 50_000))
	}
	n.passed.wait(t, "own deliveries", sent)
	n.sync(t) // the last was handed to the peer's queue too
	n.settle()
	s := n.on(topicA)
	if s.Published != sent || s.Delivered != sent || s.SendDropped == 0 {
		t.Errorf("%d published to a peer that does not read: %+v", sent, s)
	}
	if s.Sent+s.SendDropped != sent || s.Written > s.Sent {
		t.Errorf("sent and dropped do not make up %d: %+v", sent, s)
	}
}

// stalled returns a host that accepts gossipsub's streams and never reads them.
func stalled(t *testing.T) host.Host {
	h := newHost(t)
	h.SetStreamHandler(pubsub.GossipSubID_v11, func(network.Stream) {})
	return h
}

func (w *wire) subscribe(name string) {
	w.t.Helper()
	w.write(&pubsubpb.RPC{Subscriptions: []*pubsubpb.RPC_SubOpts{{Topicid: &name, Subscribe: proto.Bool(true)}}})
}

func (w *wire) graft(name string) {
	w.t.Helper()
	w.subscribe(name)
	w.write(&pubsubpb.RPC{Control: &pubsubpb.ControlMessage{Graft: []*pubsubpb.ControlGraft{{TopicID: &name}}}})
}

// TestWritten: what was sent to a peer that reads is written.
func TestWritten(t *testing.T) {
	a, b := pair(t, Options{}, Options{})
	for i := range 5 {
		a.publish(topicA, sample(i, 100))
	}
	b.passed.wait(t, "deliveries", 5)
	a.seen[Sent].wait(t, "copies sent", 5)
	b.settle()
	a.settle()
	if s := a.on(topicA); s.Sent != 5 || s.SendDropped != 0 || s.Written > 5 || s.Written < 4 { // the last may be under way
		t.Errorf("5 sent: %+v", s)
	}
}

// TestRetention: gossipsub's cache keeps a message for several seconds. It must
// not keep the Envelope of one that was handled, wherever it came from.
func TestRetention(t *testing.T) {
	published := func(n *node) { n.publish(topicA, sample(0, 1000)) }
	received := func(n *node) { dial(t, n).send(topicA, encode(t, sample(0, 1000))) }
	for _, reach := range reaches {
		t.Run(reach.String()+"/published", func(t *testing.T) { testRetention(t, reach, published) })
		t.Run(reach.String()+"/received", func(t *testing.T) { testRetention(t, reach, received) })
	}
}

func testRetention(t *testing.T, reach Reach, bring func(*node)) {
	var env weak.Pointer[message.Envelope]
	var data weak.Pointer[byte]
	note := func(_ context.Context, e *message.Envelope) error {
		env, data = weak.Make(e), weak.Make(&e.Bytes()[0])
		return nil
	}
	n := start(t, Options{Reach: reach, AllowNoPeers: true, Validators: []Validator{note}})
	bring(n)
	n.passed.wait(t, "deliveries", 1)
	n.settle() // the handler has let go of it, and the cache ages no more
	runtime.GC()
	if data.Value() == nil {
		t.Error("the message is not in the cache")
	}
	if env.Value() != nil {
		t.Error("its Envelope is kept")
	}
	runtime.KeepAlive(n.gossip)
}

// TestPublishWithoutPeers: go-libp2p-pubsub#63, what is published before the mesh
// stands is lost and gossipsub answers nil.
func TestPublishWithoutPeers(t *testing.T) {
	strict, lenient := start(t, Options{}), start(t, Options{AllowNoPeers: true})
	if _, err := strict.Publish(t.Context(), topicA, sample(0, 8)); !errors.Is(err, ErrNoPeers) {
		t.Errorf("publish into an empty mesh: %v", err)
	}
	if s := strict.on(topicA); s.PublishNoPeers != 1 || s.Published != 0 {
		t.Errorf("want 1 without peers: %+v", s)
	}
	lenient.publish(topicA, sample(0, 8))
	lenient.passed.wait(t, "own deliveries", 1)
}

// TestMeshIsGraft: a peer that joined the topic is not in its mesh yet.
func TestMeshIsGraft(t *testing.T) {
	n := start(t, Options{})
	events, err := n.joined(topicA).gossip.EventHandler()
	if err != nil {
		t.Fatal(err)
	}
	w := dial(t, n)
	w.subscribe(topicA)
	if e, err := events.NextPeerEvent(deadline(t)); err != nil || e.Type != pubsub.PeerJoin {
		t.Fatalf("want a peer that joins: %+v, %v", e, err)
	}
	events.Cancel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.WaitMesh(ended, topicA, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a peer that only joined is in the mesh: %v", err)
	}
	if _, err := n.Publish(t.Context(), topicA, sample(1, 8)); !errors.Is(err, ErrNoPeers) {
		t.Errorf("publish: %v", err)
	}
	w.graft(topicA)
	n.waitMesh(topicA, 1)
	if s := n.on(topicA); s.Mesh != 1 {
		t.Errorf("mesh of 1: %+v", s)
	}
}

// TestMeshShrinks: gossipsub takes a lost peer out of the mesh without a Prune.
func TestMeshShrinks(t *testing.T) {
	a, b := pair(t, Options{}, Options{})
	changed := a.joined(topicA).mesh
	changed.mu.Lock()
	next := changed.changed
	changed.mu.Unlock()
	if err := b.host.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-next:
	case <-deadline(t).Done():
		t.Fatal("the mesh did not change")
	}
	if n := changed.size(); n != 0 {
		t.Errorf("%d in the mesh after the only peer was lost", n)
	}
}
