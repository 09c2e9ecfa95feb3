package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

// TestPublishJoinLeaveAtOnce: logos-messaging/logos-delivery-go#1070.
func TestPublishJoinLeaveAtOnce(t *testing.T) {
	topics := []string{"/t/0", "/t/1", "/t/2", "/t/3"}
	n := start(t, Options{AllowNoPeers: true})
	other := start(t, Options{Topics: topics})
	connect(t, n.host, other.host)
	var workers sync.WaitGroup
	var published atomic.Int64
	for g := range 8 {
		workers.Go(func() {
			for i := range 80 {
				name := topics[(g+i/8)%len(topics)]
				switch i % 8 {
				case 0:
					expectError(t, n.Join(name), ErrJoined)
				case 7:
					expectError(t, n.Leave(name), ErrNotJoined)
				default:
					_, err := n.Publish(t.Context(), name, sample(1000*g+i, 8))
					expectError(t, err, ErrNotJoined)
					if err == nil {
						published.Add(1)
					}
				}
			}
		})
	}
	workers.Wait()
	if _, err := n.Publish(t.Context(), "/t/other", sample(0, 8)); !errors.Is(err, ErrNotJoined) {
		t.Errorf("publish on a topic never joined: %v", err)
	}
	n.settle()
	var delivered uint64
	for _, s := range n.Stats() {
		delivered += s.Delivered
	}
	if delivered != uint64(published.Load()) || delivered == 0 {
		t.Errorf("%d published, %d delivered to the publisher itself", published.Load(), delivered)
	}
}

// expectError reports an error that does not wrap want.
func expectError(t *testing.T, err, want error) {
	t.Helper()
	if err != nil && !errors.Is(err, want) {
		t.Errorf("%v, want none or %v", err, want)
	}
}

// TestSizeLimit: libp2p/go-libp2p-pubsub#189. The limit is on the encoding. What
// a remote peer sends beyond it is refused in TestBadMessages.
func TestSizeLimit(t *testing.T) {
	const limit = 150 * 1024
	a, b := pair(t, Options{}, Options{})
	want := a.publish(topicA, exactly(t, limit))
	b.passed.wait(t, "deliveries", 1)
	if got := b.delivered(); !slices.Equal(got, []message.Hash{want}) {
		t.Errorf("delivered %v, want %v", got, want)
	}
	if _, err := a.Publish(t.Context(), topicA, exactly(t, limit+1)); !errors.Is(err, message.ErrTooLarge) {
		t.Errorf("%d bytes encoded: %v", limit+1, err)
	}
	if _, err := a.Publish(t.Context(), topicA, sample(0, limit)); !errors.Is(err, message.ErrTooLarge) {
		t.Errorf("%d bytes of payload: %v", limit, err)
	}
	if s := a.on(topicA); s.PublishRefused != 2 || s.Published != 1 {
		t.Errorf("want 2 refused: %+v", s)
	}
}

// TestSameBytesOnTwoTopics: ChainSafe/lodestar#9070.
func TestSameBytesOnTwoTopics(t *testing.T) {
	topics := []string{topicA, topicB}
	a, b := start(t, Options{Topics: topics}), start(t, Options{Topics: topics})
	connect(t, a.host, b.host)
	var hashes []message.Hash
	for i, name := range topics {
		a.waitMesh(name, 1)
		hashes = append(hashes, a.publish(name, sample(0, 100)))
		b.passed.wait(t, "deliveries", i+1)
	}
	if got := b.delivered(); hashes[0] == hashes[1] || !slices.Equal(got, hashes) {
		t.Errorf("published %v, delivered %v", hashes, got)
	}
}

// TestCopiesInParallel: libp2p/go-libp2p-pubsub#173. Copies that come while the
// first is in validation.
func TestCopiesInParallel(t *testing.T) {
	g, counts := newGate(t), counters.New()
	opts, store := withShelf(Options{Counts: counts, Validators: []Validator{g.pass}})
	n := start(t, opts)
	store.relay = n.Relay
	for range 5 {
		dial(t, n).send(topicA, encode(t, sample(0, 100)))
	}
	n.seen[Received].wait(t, "copies", 5)
	g.open()
	n.drained(t, topicA)
	n.settle()
	if n.passed.load() != 1 || len(store.stored) != 1 || store.known != 0 {
		t.Errorf("handled %d times, stored %d, stored before %d", n.passed.load(), len(store.stored), store.known)
	}
	validations := uint64(g.waiting.load()) // not assumed to be 1
	if got := bySite(counters.Load(counts))["relay.validator"].Decodes; counters.Enabled && got != validations {
		t.Errorf("%d validations, %d decodes", validations, got)
	}
	if s := n.on(topicA); s.Received != 5 || s.Duplicates != 4 {
		t.Errorf("want 4 duplicates: %+v", s)
	}
}

// TestForeignValidatorData: libp2p/go-libp2p-pubsub#231. Whatever another
// validator left there.
func TestForeignValidatorData(t *testing.T) {
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			n := start(t, Options{Reach: reach})
			other := message.Wrap(counters.Set{}, message.Format{}, topicB, encode(t, sample(99, 8)))
			for i, data := range []any{nil, 42, "text", struct{}{}, (*message.Envelope)(nil), other} {
				m := received(topicA, encode(t, sample(i, 8)))
				m.ValidatorData = data
				if err := n.Inject(t.Context(), m); err != nil {
					t.Errorf("%T: %v", data, err)
				}
				hashes := n.delivered()
				if want := message.Blake3.Sum(topicA, sample(i, 8)); len(hashes) != i+1 || hashes[i] != want {
					t.Fatalf("%T: delivered %v, want %v last", data, hashes, want)
				}
			}
		})
	}
}

// TestPublishAfterIgnore: libp2p/go-libp2p-pubsub#719. What was ignored when a
// peer sent it can be published: the validators are asked again.
func TestPublishAfterIgnore(t *testing.T) {
	var calls atomic.Int64
	ignoreFirst := func(context.Context, *message.Envelope) error {
		if calls.Add(1) == 1 {
			return ErrIgnore
		}
		return nil
	}
	n := start(t, Options{AllowNoPeers: true, Validators: []Validator{ignoreFirst}})
	dial(t, n).send(topicA, encode(t, sample(0, 8)))
	n.seen[Received].wait(t, "copies", 1)
	n.drained(t, topicA)
	n.publish(topicA, sample(0, 8))
	n.passed.wait(t, "deliveries", 1)
	n.settle()
	if s := n.on(topicA); calls.Load() != 2 || s.Causes[RejectIgnored] != 1 || s.Delivered != 1 {
		t.Errorf("validators ran %d times: %+v", calls.Load(), s)
	}
}

// TestPublishSoak: libp2p/go-libp2p-pubsub#624.
func TestPublishSoak(t *testing.T) {
	const workers, each = 8, 60
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			a, b := pair(t, Options{Reach: reach}, Options{Reach: reach})
			var publishing sync.WaitGroup
			for g := range workers {
				publishing.Go(func() {
					for i := range each {
						if _, err := a.Publish(t.Context(), topicA, sample(g*each+i, 2_000)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			publishing.Wait()
			a.passed.wait(t, "own deliveries", workers*each)
			b.passed.wait(t, "deliveries", workers*each)
			a.settle()
			b.settle()
			if s := b.on(topicA); s.Delivered != workers*each || s.Received != s.Delivered {
				t.Errorf("%d published: %+v", workers*each, s)
			}
		})
	}
}

// TestOneLocalDelivery: libp2p/go-libp2p-pubsub#65. The node published to and its
// peers send nothing back.
func TestOneLocalDelivery(t *testing.T) {
	a, b := pair(t, Options{}, Options{})
	for i := range 5 {
		a.publish(topicA, sample(i, 8))
		b.publish(topicA, sample(100+i, 8))
	}
	a.passed.wait(t, "deliveries to A", 10)
	b.passed.wait(t, "deliveries to B", 10)
	a.settle()
	b.settle()
	for _, n := range []*node{a, b} {
		if s := n.on(topicA); s.Delivered != 10 || s.Received != 5 || n.passed.load() != 10 {
			t.Errorf("5 published, 5 received: %+v", s)
		}
	}
}

// TestEveryValidatorOnce: logos-messaging/logos-delivery-go's topicValidator
// appended to a slice that topics shared.
func TestEveryValidatorOnce(t *testing.T) {
	const parallel = 8
	var together sync.WaitGroup
	together.Add(parallel)
	meet := func(context.Context, *message.Envelope) error { // until all are being validated
		together.Done()
		together.Wait()
		return nil
	}
	var mu sync.Mutex
	calls := make(map[string]int)
	called := func(name string) Validator {
		return func(_ context.Context, env *message.Envelope) error {
			mu.Lock()
			defer mu.Unlock()
			calls[name+fmt.Sprintf("%x", env.Bytes()[2:10])]++
			return nil
		}
	}
	opts := Options{Validators: append(make([]Validator, 0, 4), meet)}
	validators := append(make([]Validator, 0, 4), called("first"), called("second"), called("third"))
	n := start(t, opts)
	if err := n.Join(topicB, validators...); err != nil {
		t.Fatal(err)
	}
	for i := range parallel {
		dial(t, n).send(topicB, encode(t, sample(i, 8)))
	}
	n.passed.wait(t, "deliveries", parallel)
	if len(calls) != 3*parallel {
		t.Errorf("validators ran for %d pairs of validator and message, want %d", len(calls), 3*parallel)
	}
	for call, times := range calls {
		if times != 1 {
			t.Errorf("%s ran %d times", call, times)
		}
	}
}

// TestReplyFromStage: tendermint/tendermint#951. A stage that publishes to the
// topic that it reads, with a subscription of one.
func TestReplyFromStage(t *testing.T) {
	var n *node
	var published atomic.Int64
	reply := func(ctx context.Context, _ *message.Envelope) error {
		if i := published.Add(1); i < 20 {
			_, err := n.Publish(ctx, topicA, sample(int(i), 8))
			return err
		}
		return nil
	}
	n = start(t, Options{AllowNoPeers: true, Subscription: 1, Stages: []Stage{reply}})
	n.publish(topicA, sample(0, 8))
	n.passed.wait(t, "deliveries", 20)
}

// TestWitness: the last stage of the tests sees a message that an earlier one
// changed.
func TestWitness(t *testing.T) {
	for _, reach := range reaches {
		env := message.Wrap(counters.Set{}, message.Format{Decoder: reach.decoder()}, topicA, encode(t, sample(0, 8)))
		if err := compare(message.Blake3, env); err != nil {
			t.Errorf("%v: untouched: %v", reach, err)
		}
		m, err := env.Message(siteAsk)
		if err != nil {
			t.Fatal(err)
		}
		m.Timestamp = proto.Int64(1)
		if err := compare(message.Blake3, env); err == nil {
			t.Errorf("%v: a changed message passes", reach)
		}
	}
}
