package peers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

// Options say what a pair of hand-written nodes does. The zero value keeps
// messages in memory.
type Options struct {
	File   string       // of the receiver's database, which must not be there; "": in memory
	Logger *slog.Logger // of both nodes; nil: discarded

	patience time.Duration // for A's deliveries to itself; 0: half a minute
}

// target is a publisher A, which keeps nothing, and a receiver B with a database.
type target struct {
	options   Options
	messages  []*pb.WakuMessage // by number
	delivered chan bench.Delivery
	echoes    chan struct{} // one for each message that A delivered to itself
	published int
	settled   int
	a, b      *handwritten
}

var (
	_ bench.Target     = (*target)(nil)
	_ bench.Accountant = (*target)(nil)
	_ bench.Verifier   = (*target)(nil)
)

// NewByHand returns a [bench.Target] for the scenario "macro": two relays written
// by hand.
func NewByHand(o Options) bench.Target {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.patience == 0 {
		o.patience = 30 * time.Second
	}
	return &target{options: o}
}

// Start implements bench.Target.
func (t *target) Start(ctx context.Context, messages []*pb.WakuMessage) (err error) {
	t.messages = messages
	t.delivered = make(chan bench.Delivery, len(messages))
	t.echoes = make(chan struct{}, len(messages))
	t.a = &handwritten{name: "A", role: verdict.RolePublisher, logger: t.options.Logger, own: func() { t.echoes <- struct{}{} }}
	if err := t.a.start(ctx); err != nil {
		return err
	}
	t.b = &handwritten{name: "B", role: verdict.RoleReceiver, logger: t.options.Logger, handled: t.deliver}
	if t.b.store, err = openStore(ctx, t.options.File); err != nil {
		t.b = nil
		return err
	}
	if err := t.b.start(ctx); err != nil {
		return err
	}
	if err := t.a.host.Connect(ctx, peer.AddrInfo{ID: t.b.host.ID(), Addrs: t.b.host.Addrs()}); err != nil {
		return fmt.Errorf("peers: connect: %w", err)
	}
	return grafted(ctx, t.a, t.b)
}

func grafted(ctx context.Context, nodes ...*handwritten) error {
	for _, n := range nodes {
		select {
		case <-n.tracer.grafted:
		case <-ctx.Done():
			return fmt.Errorf("peers: wait for mesh of node %s: %w", n.name, ctx.Err())
		}
	}
	return nil
}

// deliver is the application of the receiver, called when the row is committed.
func (t *target) deliver(m *pb.WakuMessage) {
	now := time.Now()
	index, ok := bench.PayloadIndex(m.GetPayload())
	if !ok {
		index = uint64(len(t.messages)) // none of the run's
	}
	t.delivered <- bench.Delivery{Index: int(index), At: now, Committed: now}
}

// Publish implements bench.Target.
func (t *target) Publish(ctx context.Context, i int) error {
	err := t.a.publish(ctx, t.messages[i])
	if err == nil {
		t.published++
	}
	return err
}

// Delivered implements bench.Target.
func (t *target) Delivered() <-chan bench.Delivery { return t.delivered }

// Nodes implements bench.Accountant. It waits for A's deliveries to itself, which
// B's do not wait for.
func (t *target) Nodes(ctx context.Context) ([]verdict.Node, error) {
	timer := time.NewTimer(t.options.patience)
	defer timer.Stop()
	for ; t.settled < t.published; t.settled++ {
		select {
		case <-t.echoes:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			return nil, fmt.Errorf("peers: node A delivered %d of its own %d messages to itself", t.settled, t.published)
		}
	}
	return []verdict.Node{t.a.account(), t.b.account()}, nil
}

// Losses implements bench.Accountant.
func (t *target) Losses() []string { return append(t.a.losses(), t.b.losses()...) }

// Close implements bench.Target.
func (t *target) Close() error { return errors.Join(t.a.stop(), t.b.stop()) }
