package relay

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

var siteRecover = counters.NewSite("relaytest.recover")

// recovered returns the Envelope of the i-th message, as whoever fetched it hands
// it on: decoded and hashed.
func (n *node) recovered(i int) *message.Envelope {
	n.t.Helper()
	env := message.Wrap(n.opts.Counts, n.Format(), topicA, encode(n.t, sample(i, 8)))
	if _, err := env.Hash(siteRecover); err != nil {
		n.t.Fatal(err)
	}
	return env
}

// TestReceive: what came another way passes validators, store and stages once,
// is forwarded to nobody, and what is refused is counted; the accounts balance.
func TestReceive(t *testing.T) {
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			var calls atomic.Int64
			opts, store := withShelf(Options{Reach: reach, Validators: []Validator{func(_ context.Context, env *message.Envelope) error {
				calls.Add(1)
				if m, _ := env.Message(siteAsk); m.GetTimestamp()%10 == 3 {
					return errRefused
				}
				return nil
			}}})
			a, b := pair(t, opts, Options{Reach: reach})
			store.relay = a.Relay
			for i := range 5 {
				err := a.Receive(t.Context(), a.recovered(i))
				if wrong := i == 3; wrong != errors.Is(err, ErrRejected) || !wrong && err != nil {
					t.Errorf("message %d: %v", i, err)
				}
			}
			if err := a.Receive(t.Context(), a.recovered(0)); err != nil {
				t.Errorf("a message that the store has: %v", err)
			}
			b.publish(topicA, sample(4, 8)) // gossipsub does not know it: the store does
			b.publish(topicA, sample(5, 8))
			a.seen[Received].wait(t, "copies", 2)
			a.passed.wait(t, "deliveries", 5)
			a.drained(t, topicA)
			a.settle()
			b.settle()
			s := a.on(topicA)
			if s.Recovered != 6 || s.Delivered != 5 || s.Known != 2 || calls.Load() != 8 || len(store.stored) != 5 {
				t.Errorf("%d stored, %d validations, %+v", len(store.stored), calls.Load(), s)
			}
			expectCauses(t, s, map[Cause]uint64{RejectValidator: 1})
			if r := b.on(topicA).Received; r != 0 || s.Sent != 0 {
				t.Errorf("%d forwarded, %d arrived", s.Sent, r)
			}
		})
	}
}

// TestReceiveRestores: Restore takes the place of Store, and its error comes back.
func TestReceiveRestores(t *testing.T) {
	never := func(context.Context, *message.Envelope) error { t.Error("Store was called"); return nil }
	refusing := func(context.Context, *message.Envelope) error { return errRefused }
	n := start(t, Options{Store: never, Restore: refusing})
	if err := n.Receive(t.Context(), n.recovered(0)); !errors.Is(err, errRefused) {
		t.Errorf("receive: %v, want the store's error", err)
	}
	n.settle()
	expectCauses(t, n.on(topicA), map[Cause]uint64{DropStore: 1})
}

// TestReceiveRefuses: errors by which a caller may branch.
func TestReceiveRefuses(t *testing.T) {
	n := start(t, Options{})
	other := message.Wrap(n.opts.Counts, n.Format(), "never joined", nil)
	if err := n.Receive(t.Context(), other); !errors.Is(err, ErrNotJoined) {
		t.Errorf("topic that is not joined: %v", err)
	}
	nothing := message.Wrap(n.opts.Counts, n.Format(), topicA, nil)
	if err := n.Receive(t.Context(), nothing); !errors.Is(err, ErrRejected) || !errors.Is(err, message.ErrNoContentTopic) {
		t.Errorf("no message: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Receive(ctx, n.recovered(0)); !errors.Is(err, context.Canceled) || errors.Is(err, ErrRejected) || errors.Is(err, ErrNotJoined) {
		t.Errorf("ended context: %v, want the context's error and no refusal", err)
	}
	n.settle()
	if err := n.Receive(t.Context(), n.recovered(1)); !errors.Is(err, ErrNotJoined) {
		t.Errorf("closed relay: %v", err)
	}
	expectCauses(t, n.on(topicA), map[Cause]uint64{RejectTopic: 1, DropLeft: 1})
}

// TestReceiveEnds: the caller's context ends while a validator is at work.
func TestReceiveEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := start(t, Options{Validators: []Validator{func(ctx context.Context, _ *message.Envelope) error {
		cancel()
		return errRefused // as one that was told so may say
	}}})
	err := n.Receive(ctx, n.recovered(0))
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrRejected) || errors.Is(err, ErrNotJoined) {
		t.Errorf("receive: %v, want the context's error and no refusal", err)
	}
	n.settle()
	expectCauses(t, n.on(topicA), map[Cause]uint64{DropLeft: 1})
}

// TestReceiveCounts: of an Envelope that was decoded and hashed nothing is done
// again, but for what Reach says: at ReachStage each consumer hashes for itself.
func TestReceiveCounts(t *testing.T) {
	if !counters.Enabled {
		t.Skip("this build does not count")
	}
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			counts := counters.New()
			opts, store := withShelf(Options{Reach: reach, Counts: counts, Stages: []Stage{storesync}})
			n := start(t, opts)
			store.relay = n.Relay
			env := n.recovered(0)
			before := counters.Load(counts)
			if err := n.Receive(t.Context(), env); err != nil {
				t.Fatal(err)
			}
			n.settle()
			want := uint64(0)
			if reach == ReachStage {
				want = 2 // the store, and the stage
			}
			got := counters.Total(counters.Since(before, counters.Load(counts)))
			if got.Hashes != want || got.Decodes != 0 {
				t.Errorf("%+v, want %d hashes and no decode", got, want)
			}
		})
	}
}
