package relay

import (
	"context"
	"strings"
	"testing"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"

	"github.com/msgpath/msgpath/message"
)

// TestValidateTuning: what would let gossipsub fail at its start, or make it send
// more than it receives, is refused before.
func TestValidateTuning(t *testing.T) {
	err := Options{ValidateWorkers: -1, IDontWantThreshold: minIDontWant() - 1, ValidateInline: InlineNever + 1}.Validate()
	for _, want := range []string{"ValidateWorkers -1", "IDontWantThreshold 767", "768 or more", "ValidateInline 3"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q in: %v", want, err)
		}
	}
	for _, threshold := range []int{0, minIDontWant(), 1 << 20, IDontWantOff} {
		if err := (Options{IDontWantThreshold: threshold}).Validate(); err != nil {
			t.Errorf("threshold %d: %v", threshold, err)
		}
	}
}

// TestGossipIDFitsThreshold: an id that grows makes telling a mesh of it dearer.
func TestGossipIDFitsThreshold(t *testing.T) {
	if id := GossipID(topicA, encode(t, sample(0, 100))); len(id)*pubsub.GossipSubDhi > minIDontWant() {
		t.Errorf("a full mesh is told %d bytes, the least threshold is %d", len(id)*pubsub.GossipSubDhi, minIDontWant())
	}
}

// TestIDontWantThreshold: peers are told of messages from the threshold on.
func TestIDontWantThreshold(t *testing.T) {
	for _, tt := range []struct {
		name      string
		threshold int
		told      int
	}{
		{"default", 0, 2}, {"above one", 5_000, 1}, {"off", IDontWantOff, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, b := start(t, Options{IDontWantThreshold: tt.threshold}), newBare(t, pubsub.GossipSubID_v12)
			connect(t, b.host, n.host)
			n.waitMesh(topicA, 1)
			for i, size := range []int{100, 2_000, 20_000, 100} { // the last comes after all that is told
				n.publish(topicA, sample(i, size))
				if _, err := b.sub.Next(deadline(t)); err != nil {
					t.Fatal(err)
				}
			}
			if told := b.grafted.told.load(); told != tt.told {
				t.Errorf("told of %d messages, want %d", told, tt.told)
			}
		})
	}
}

// TestValidateInline: a validator that takes its time holds the only worker, and
// what comes after the one message that waits is dropped; a validator with a
// goroutine of its own, as it has by itself, holds nobody.
func TestValidateInline(t *testing.T) {
	for mode, inline := range map[Inline]bool{InlineAlways: true, InlineAuto: false, InlineNever: false} {
		g := newGate(t)
		n := start(t, Options{
			ValidateInline: mode, ValidateWorkers: 1, ValidateQueue: 1,
			Validators: []Validator{func(ctx context.Context, env *message.Envelope) error { return g.pass(ctx, env) }},
		})
		w := dial(t, n)
		want := uint64(0)
		for i := range 3 {
			w.send(topicA, encode(t, sample(i, 8)))
			n.seen[Received].wait(t, "copies", i+1)
			if i == 0 || !inline {
				g.waiting.wait(t, "messages in validation", i+1)
			}
		}
		if inline {
			want = 1
		}
		n.sync(t) // the last is in the queue, or was dropped
		g.open()
		n.drained(t, topicA)
		n.settle()
		if s := n.on(topicA); s.Causes[DropQueue] != want || s.Delivered != 3-want {
			t.Errorf("inline %v: want %d dropped of 3: %+v", mode, want, s)
		}
	}
}

// TestInlineAuto: only a topic without validators, of the options or of Join,
// decodes in the queue's own goroutines.
func TestInlineAuto(t *testing.T) {
	pass := func(context.Context, *message.Envelope) error { return nil }
	for name, tt := range map[string]struct {
		options Options
		join    []Validator
		want    bool
	}{
		"none":       {Options{}, nil, true},
		"of all":     {Options{Validators: []Validator{pass}}, nil, false},
		"of a topic": {Options{}, []Validator{pass}, false},
		"never":      {Options{ValidateInline: InlineNever}, nil, false},
		"always":     {Options{ValidateInline: InlineAlways}, []Validator{pass}, true},
	} {
		n := start(t, tt.options)
		if err := n.Join(topicB, tt.join...); err != nil {
			t.Fatal(err)
		}
		if got := n.joined(topicB).inline(); got != tt.want {
			t.Errorf("%s: inline %t, want %t", name, got, tt.want)
		}
	}
}

// RecvRPC counts the messages that a peer is told not to send.
func (g *grafts) RecvRPC(rpc *pubsub.RPC) {
	for range dontWanted(rpc.GetControl()) {
		g.told.add()
	}
}

func dontWanted(c *pubsubpb.ControlMessage) (ids []string) {
	for _, d := range c.GetIdontwant() {
		ids = append(ids, d.GetMessageIDs()...)
	}
	return ids
}
