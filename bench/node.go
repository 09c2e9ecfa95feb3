package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// siteApp is where the receiving application reads the number of a message. It
// has been decoded by then, on every path.
var siteApp = counters.NewSite("bench.app")

// loopback is where the nodes of macro listen.
const loopback = "/ip4/127.0.0.1/tcp/0"

// NodeOptions say what nodes a target runs.
type NodeOptions struct {
	Reach   relay.Reach
	Hash    message.Algorithm
	Archive string // as node.Options.Archive; "" keeps nothing
	Room    int    // most messages that will be published
	Logger  *slog.Logger
}

// running is one node of a target.
type running struct {
	*node.Node
	name, role string
	counts     counters.Set
	delivered  atomic.Uint64 // counted when the application is called, before anybody is told
	ended      chan error
}

// start runs a node until the returned handle is stopped. app is its last stage.
func start(ctx context.Context, name, role string, o node.Options, app relay.Stage) (*running, error) {
	r := &running{name: name, role: role, counts: counters.New(), ended: make(chan error, 1)}
	o.Relay.Counts = r.counts
	o.Relay.Stages = []relay.Stage{func(ctx context.Context, env *message.Envelope) error {
		r.delivered.Add(1)
		return app(ctx, env)
	}}
	o.Relay.Topics = []string{PubsubTopic}
	var err error
	if r.Node, err = node.New(o); err != nil {
		return nil, err
	}
	go func() { r.ended <- r.Run(context.WithoutCancel(ctx)) }()
	select {
	case <-r.Ready():
		return r, nil
	case err := <-r.ended:
		return nil, fmt.Errorf("bench: start node %s: %w", name, err)
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), r.stop())
	}
}

func (r *running) stop() error {
	r.Node.Close()
	return <-r.ended
}

// account returns what the node did since it started.
func (r *running) account() verdict.Node {
	n := verdict.Node{Name: r.name, Role: r.role, Delivered: r.delivered.Load()}
	if counters.Enabled {
		n.Sites = append([]counters.SiteCounts{}, counters.Load(r.counts)...)
	}
	for _, s := range r.Relay().Stats() {
		n.Rejected += s.Rejected()
		n.Duplicates += s.Duplicates + s.Known
		n.Dropped += s.Dropped() + s.SendDropped
	}
	return n
}

// deliver returns the application of a receiving node: it reads the number of
// each message and reports it.
func deliver(out chan<- Delivery) relay.Stage {
	return func(_ context.Context, env *message.Envelope) error {
		m, err := env.Message(siteApp)
		if err != nil {
			return err
		}
		index, ok := PayloadIndex(m.GetPayload())
		if !ok {
			return fmt.Errorf("bench: payload of %d bytes holds no number", len(m.GetPayload()))
		}
		out <- Delivery{Index: int(index), At: time.Now()}
		return nil
	}
}

// nodeTarget holds what the targets of micro and macro share.
type nodeTarget struct {
	options   NodeOptions
	receiver  *running
	delivered chan Delivery
	close     sync.Once
	closeErr  error
}

func newNodeTarget(o NodeOptions) nodeTarget {
	return nodeTarget{options: o, delivered: make(chan Delivery, o.Room)}
}

func (t *nodeTarget) Delivered() <-chan Delivery { return t.delivered }

// startReceiver starts the node that archives, syncs and delivers.
func (t *nodeTarget) startReceiver(ctx context.Context, name, role string, listen ...string) (err error) {
	t.receiver, err = start(ctx, name, role, node.Options{
		Relay:  relay.Options{Reach: t.options.Reach, Hash: t.options.Hash},
		Listen: listen, Archive: t.options.Archive, Sync: true, Logger: t.options.Logger,
	}, deliver(t.delivered))
	return err
}

// Verify compares the receiver's archive and sync set with what was published.
func (t *nodeTarget) Verify(ctx context.Context, items []Item) error {
	want := make(map[message.Key]bool, len(items))
	for _, it := range items {
		want[message.Key{Timestamp: it.Message.GetTimestamp(), Hash: t.options.Hash.Sum(PubsubTopic, it.Message)}] = true
	}
	if a := t.receiver.Archive(); a != nil {
		if err := verifyArchive(ctx, a, t.options.Hash, want); err != nil {
			return err
		}
	}
	return verifyKeys("sync set", t.receiver.SyncSet().Keys(), want)
}

// microTarget is one node without a network.
type microTarget struct{ nodeTarget }

// NewMicro returns the target of the scenario "micro": one node that is handed
// received bytes.
func NewMicro(o NodeOptions) Target { return &microTarget{newNodeTarget(o)} }

func (t *microTarget) Start(ctx context.Context) error {
	return t.startReceiver(ctx, "node", verdict.RoleAll)
}

func (t *microTarget) Publish(ctx context.Context, it Item) error {
	topic := PubsubTopic
	return t.receiver.Relay().Inject(ctx, &pubsub.Message{Message: &pubsubpb.Message{Topic: &topic, Data: it.Wire}})
}

func (t *microTarget) Nodes(context.Context) ([]verdict.Node, error) {
	return []verdict.Node{t.receiver.account()}, nil
}

func (t *microTarget) Close() error {
	t.close.Do(func() {
		if t.receiver != nil {
			t.closeErr = t.receiver.stop()
		}
	})
	return t.closeErr
}

// macroTarget is a publishing node A and a receiving node B on loopback TCP.
type macroTarget struct {
	nodeTarget
	settling
	publisher *running
}

// NewMacro returns the target of the scenario "macro": node A publishes and is
// subscribed to its own topic, node B archives, syncs and delivers.
func NewMacro(o NodeOptions) Target {
	return &macroTarget{nodeTarget: newNodeTarget(o), settling: newSettling(o.Room)}
}

func (t *macroTarget) Start(ctx context.Context) (err error) {
	app := func(context.Context, *message.Envelope) error {
		t.handled <- struct{}{}
		return nil
	}
	t.publisher, err = start(ctx, "A", verdict.RolePublisher, node.Options{
		Relay:  relay.Options{Reach: t.options.Reach, Hash: t.options.Hash},
		Listen: []string{loopback}, Logger: t.options.Logger,
	}, app)
	if err != nil {
		return err
	}
	if err = t.startReceiver(ctx, "B", verdict.RoleReceiver, loopback); err != nil {
		return err
	}
	if err = t.publisher.Connect(ctx, t.receiver.AddrInfo()); err != nil {
		return err
	}
	if err = t.publisher.Relay().WaitMesh(ctx, PubsubTopic, 1); err != nil {
		return err
	}
	return t.receiver.Relay().WaitMesh(ctx, PubsubTopic, 1)
}

func (t *macroTarget) Publish(ctx context.Context, it Item) error {
	_, err := t.publisher.Relay().Publish(ctx, PubsubTopic, it.Message)
	if err == nil {
		t.published++
	}
	return err
}

func (t *macroTarget) Nodes(ctx context.Context) ([]verdict.Node, error) {
	if err := t.wait(ctx); err != nil {
		return nil, err
	}
	return []verdict.Node{t.publisher.account(), t.receiver.account()}, nil
}

func (t *macroTarget) Close() error {
	t.close.Do(func() {
		for _, n := range []*running{t.publisher, t.receiver} {
			if n != nil {
				t.closeErr = errors.Join(t.closeErr, n.stop())
			}
		}
	})
	return t.closeErr
}
