package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// logged is a slog.Handler that counts the records whose message holds text: the
// router tells of some drops in its log alone.
type logged struct {
	text string
	*count
}

func (l logged) Enabled(context.Context, slog.Level) bool { return true }
func (l logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logged) WithGroup(string) slog.Handler            { return l }

func (l logged) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, l.text) {
		l.add()
	}
	return nil
}

// expectCauses compares the counts by cause with want; causes not named are 0.
func expectCauses(t *testing.T, s Stats, want map[Cause]uint64) {
	t.Helper()
	for c := range causes {
		if s.Causes[c] != want[c] {
			t.Errorf("%v: %d, want %d", c, s.Causes[c], want[c])
		}
	}
}

// TestQueueFull: bursts in one RPC, which gossipsub pushes into the validation
// queue in one turn of its event loop (go-libp2p-pubsub#431).
func TestQueueFull(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the event loop outruns the workers
	n := start(t, Options{ValidateQueue: 1})
	w := dial(t, n)
	const burst = 200
	sent := 0
	for n.on(topicA).Causes[DropQueue] == 0 && sent < 50*burst {
		w.send(topicA, samples(t, sent, sent+burst, 8)...)
		sent += burst
		n.seen[Received].wait(t, "copies", sent)
	}
	n.settle()
	s := n.on(topicA)
	if s.Received != uint64(sent) || s.Causes[DropQueue] == 0 || s.Delivered+s.Dropped() != uint64(sent) {
		t.Errorf("%d sent in bursts: %+v", sent, s)
	}
	expectCauses(t, s, map[Cause]uint64{DropQueue: s.Causes[DropQueue], DropLeft: s.Causes[DropLeft]})
}

// TestThrottle: validations beyond the bound are dropped, and marked as seen.
func TestThrottle(t *testing.T) {
	g := newGate(t)
	throttled := logged{"validation throttled", new(count)}
	n := start(t, Options{Validations: 2, Validators: []Validator{g.pass}, RouterLogger: slog.New(throttled)})
	dial(t, n).send(topicA, samples(t, 0, 10, 8)...)
	throttled.wait(t, "throttled messages", 8)
	g.open()
	n.passed.wait(t, "deliveries", 2)
	n.settle()
	expectCauses(t, n.on(topicA), map[Cause]uint64{DropThrottle: 8})
}

// TestSlowHandler: a subscription that is full drops, and each dropped message is
// counted once (filecoin-project/go-f3#759).
func TestSlowHandler(t *testing.T) {
	g := newGate(t)
	n := start(t, Options{Subscription: 2, Stages: []Stage{g.pass}})
	w := dial(t, n)
	w.send(topicA, encode(t, sample(0, 8)))
	g.waiting.wait(t, "messages in the stage", 1) // one is taken out, two more fit
	const more = 9
	w.send(topicA, samples(t, 1, 1+more, 8)...)
	n.seen[Validated].wait(t, "accepted", 1+more)
	n.sync(t) // the last is past the subscription too
	expectCauses(t, n.on(topicA), map[Cause]uint64{DropSubscription: more - 2})
	g.open()
	n.settle()
	if s := n.on(topicA); s.Delivered != 3 || s.Causes[DropSubscription] != more-2 {
		t.Errorf("3 of %d fit: %+v", 1+more, s)
	}
}

// sync returns after gossipsub's event loop has finished a turn: what it was seen
// to receive is then in the validation queue, or was refused.
func (n *node) sync(t *testing.T) {
	t.Helper()
	n.gossip.ListPeers(topicA)
}

// TestRefusedByValidators: rejected and ignored messages of peers are counted.
func TestRefusedByValidators(t *testing.T) {
	for answer, cause := range map[error]Cause{errRefused: RejectValidator, fmt.Errorf("not now: %w", ErrIgnore): RejectIgnored} {
		t.Run(cause.String(), func(t *testing.T) {
			var calls atomic.Int64
			n := start(t, Options{Validators: []Validator{refuse(answer, &calls)}})
			dial(t, n).send(topicA, samples(t, 0, 20, 8)...)
			n.seen[Received].wait(t, "copies", 20)
			n.drained(t, topicA)
			n.settle()
			s := n.on(topicA)
			expectCauses(t, s, map[Cause]uint64{cause: 20})
			if n.passed.load() != 0 || s.Received != 20 || calls.Load() != 20 {
				t.Errorf("want all 20 refused: %+v", s)
			}
		})
	}
}

// TestBadMessages: what is no message is rejected by name, and the next good one
// passes on every reach.
func TestBadMessages(t *testing.T) {
	meta := sample(1, 8)
	meta.Meta = make([]byte, message.DefaultMaxMeta+1)
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			n := start(t, Options{Reach: reach})
			w := dial(t, n)
			w.send(topicA, nil, []byte("\xff\xff\xff garbage"), []byte{0x0a, 0x05, 'x'})
			w.send(topicA, encode(t, &pb.WakuMessage{Payload: []byte("no content topic")}), []byte{0x12, 0x02, 0xff, 0xfe})
			w.send(topicA, encode(t, exactly(t, message.DefaultMaxSize+1)), encode(t, meta))
			w.send(topicB, encode(t, sample(0, 8))) // not joined
			signed := &pubsubpb.Message{Topic: proto.String(topicA), Data: encode(t, sample(2, 8)), Signature: []byte("signature")}
			authored := &pubsubpb.Message{Topic: proto.String(topicA), Data: encode(t, sample(3, 8)), From: []byte("author")}
			w.write(&pubsubpb.RPC{Publish: []*pubsubpb.Message{signed, authored}})
			w.send(topicA, encode(t, exactly(t, message.DefaultMaxSize)))
			n.passed.wait(t, "deliveries", 1)
			n.seen[Received].wait(t, "copies", 10)
			n.drained(t, topicA)
			n.settle()
			expectCauses(t, n.on(topicA), map[Cause]uint64{
				RejectDecode: 2, RejectTopic: 3, RejectTooLarge: 1, RejectMeta: 1, RejectPolicy: 2,
			})
			if n.Foreign() != 1 || n.on(topicA).Delivered != 1 {
				t.Errorf("want 1 foreign and 1 delivered: %d foreign, %+v", n.Foreign(), n.on(topicA))
			}
		})
	}
}

// drained waits until every copy received has an outcome.
func (n *node) drained(t *testing.T, name string) {
	t.Helper()
	in := n.joined(name).intake
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.mu.Lock()
		defer in.mu.Unlock()
		for in.underway > 0 {
			in.idle.Wait()
		}
	}()
	select {
	case <-done:
	case <-deadline(t).Done():
		t.Fatal("copies without an outcome")
	}
}

// TestDuplicates: copies after the first are duplicates, whoever sends them.
func TestDuplicates(t *testing.T) {
	n := start(t, Options{})
	for range 3 {
		dial(t, n).send(topicA, encode(t, sample(0, 8)), encode(t, sample(0, 8)))
	}
	n.seen[Received].wait(t, "copies", 6)
	n.passed.wait(t, "deliveries", 1)
	n.settle()
	if s := n.on(topicA); s.Received != 6 || s.Duplicates != 5 || s.Delivered != 1 {
		t.Errorf("want 6 copies of 1 message: %+v", s)
	}
}

// TestStoreAndStageErrors: a store or stage that fails loses its message alone,
// and a message stored before is known.
func TestStoreAndStageErrors(t *testing.T) {
	var r *Relay
	var stored, refusing atomic.Int64
	store := func(ctx context.Context, env *message.Envelope) error {
		switch stored.Add(1) {
		case 1:
			return errRefused // at once
		case 2:
			r.Stored(ctx, env, errRefused) // later
		case 3:
			r.Stored(ctx, env, fmt.Errorf("seen: %w", ErrDuplicate))
		case 4:
			return fmt.Errorf("seen: %w", ErrDuplicate)
		default:
			r.Stored(ctx, env, nil)
		}
		return nil
	}
	fail := func(context.Context, *message.Envelope) error {
		if refusing.Add(1) == 1 {
			return errRefused
		}
		return nil
	}
	n := start(t, Options{Store: store, Stages: []Stage{fail, fail}})
	r = n.Relay
	dial(t, n).send(topicA, samples(t, 0, 7, 8)...)
	n.passed.wait(t, "messages in the last stage", 3)
	n.settle()
	s := n.on(topicA)
	expectCauses(t, s, map[Cause]uint64{DropStore: 2, DropStage: 1})
	if s.Known != 2 || s.Delivered != 2 || refusing.Load() != 6 {
		t.Errorf("want 2 known, 2 delivered, every stage run: %d runs, %+v", refusing.Load(), s)
	}
}

// TestBurstFromManySenders: filecoin-project/lotus#723. Whatever is missing is
// explained by the causes of drops, with queues far too small.
func TestBurstFromManySenders(t *testing.T) {
	const senders, each = 8, 200
	opts, store := withShelf(Options{ValidateQueue: 4, Validations: 4, Subscription: 4})
	n := start(t, opts)
	store.relay = n.Relay
	wires := make([]*wire, senders)
	for i := range wires {
		wires[i] = dial(t, n)
	}
	var sending sync.WaitGroup
	for i, w := range wires {
		sending.Go(func() { w.send(topicA, samples(t, i*each, (i+1)*each, 100)...) })
	}
	sending.Wait()
	n.seen[Received].wait(t, "copies", senders*each)
	n.passed.wait(t, "deliveries", 1) // the first copies find the queues empty
	n.settle()
	s := n.on(topicA)
	if s.Received != senders*each || s.Duplicates != 0 || s.Delivered == 0 || s.Delivered != uint64(len(store.stored)) {
		t.Errorf("%d sent, %d stored: %+v", senders*each, len(store.stored), s)
	}
	if missing := s.Received - s.Delivered; missing != s.Dropped() || s.Rejected() != 0 {
		t.Errorf("%d are missing, %d are explained: %+v", missing, s.Dropped(), s)
	}
}

// TestInjectRefused: Inject's error says why, and is counted.
func TestInjectRefused(t *testing.T) {
	n := start(t, Options{})
	if err := n.Inject(t.Context(), received("never joined", nil)); !errors.Is(err, ErrNotJoined) {
		t.Errorf("inject on a topic that is not joined: %v", err)
	}
	if err := n.Inject(t.Context(), received(topicA, nil)); !errors.Is(err, message.ErrNoContentTopic) {
		t.Errorf("inject of nothing: %v", err)
	}
	expectCauses(t, n.on(topicA), map[Cause]uint64{RejectTopic: 1})
}
