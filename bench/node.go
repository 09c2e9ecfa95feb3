package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/filter"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
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
	// Base has the options of transport and, in its Relay, of gossipsub that all
	// nodes run with; Listen has the address in place of loopback TCP. What a
	// target decides for itself it overwrites.
	Base node.Options

	Reach   relay.Reach
	Hash    message.Algorithm
	Archive string // as node.Options.Archive, or Discard; not ""
	Extra   Work   // nil: none
	Logger  *slog.Logger

	FilterPeers int // light peers to which the receiver of micro and macro pushes each message
}

// setArchive gives a node the archive, and the sync set of what is in it.
func (o NodeOptions) setArchive(n *node.Options) {
	n.Archive, n.Sync = o.Archive, true
	if o.Archive == Discard {
		n.Archive, n.Backend = "", openDiscard
	}
}

// node returns the options of a node that listens where told. Those of bare
// gossipsub come out of the same Base.
func (o NodeOptions) node(listen ...string) node.Options {
	n := o.Base
	n.Relay.Reach, n.Relay.Hash = o.Reach, o.Hash
	n.Listen, n.Logger = listen, o.Logger
	return n
}

// address returns where the nodes of a base listen in macro.
func address(base node.Options) []string {
	if len(base.Listen) > 0 {
		return base.Listen
	}
	return []string{loopback}
}

// running is one node of a target.
type running struct {
	*node.Node
	name, role string
	counts     counters.Set
	delivered  atomic.Uint64 // counted when the application is called, before anybody is told
	ended      chan error
	stopped    sync.Once
	err        error
}

// start runs a node until the returned handle is stopped. app is its last stage
// but for extra work.
func start(ctx context.Context, name, role string, o node.Options, app relay.Stage, extra Work) (*running, error) {
	r := &running{name: name, role: role, counts: counters.New(), ended: make(chan error, 1)}
	if counters.Enabled {
		counters.Name(r.counts, name)
	}
	o.Relay.Counts = r.counts
	o.Relay.Stages = []relay.Stage{func(ctx context.Context, env *message.Envelope) error {
		r.delivered.Add(1)
		if counters.Enabled {
			defer counters.Label(r.counts, siteApp).End()
		}
		if extra != nil {
			extra(name, r.counts, env.Bytes())
		}
		return app(ctx, env)
	}}
	if len(o.Relay.Topics) == 0 {
		o.Relay.Topics = []string{PubsubTopic}
	}
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

// stop stops the node; nil is stopped already.
func (r *running) stop() error {
	if r == nil {
		return nil
	}
	r.stopped.Do(func() {
		r.Node.Close()
		r.err = <-r.ended
	})
	return r.err
}

// account returns what the node did since it started.
func (r *running) account() verdict.Node {
	n := verdict.Node{Name: r.name, Role: r.role, Delivered: r.delivered.Load()}
	if counters.Enabled {
		n.Sites = append([]counters.SiteCounts{}, counters.Load(r.counts)...)
		n.Lines = sourceLines(r.counts)
	}
	for _, s := range r.Relay().Stats() {
		n.Rejected += s.Rejected()
		n.Duplicates += s.Duplicates + s.Known
		n.Dropped += s.Dropped() + s.SendDropped
	}
	for _, pushes := range r.unpushed() {
		n.Dropped += pushes
	}
	return n
}

// unpushed returns the copies that were not pushed to light peers, by filter.Drop.
func (r *running) unpushed() []uint64 {
	if r.Filter() == nil {
		return nil
	}
	s := r.Filter().Stats()
	return s.Dropped[:]
}

// losses returns what the node rejected and dropped, by cause.
func (r *running) losses() (lines []string) {
	for _, s := range r.Relay().Stats() {
		for c, n := range s.Causes {
			if n > 0 {
				lines = append(lines, fmt.Sprintf("node %s: %d lost, cause %v", r.name, n, relay.Cause(c)))
			}
		}
		if s.SendDropped > 0 {
			lines = append(lines, fmt.Sprintf("node %s: %d copies lost, cause outbound_queue", r.name, s.SendDropped))
		}
	}
	for c, n := range r.unpushed() {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("node %s: %d pushes lost, cause %v", r.name, n, filter.Drop(c)))
		}
	}
	return lines
}

// nodeTarget holds what the targets of micro and macro share.
type nodeTarget struct {
	*gathering
	options   NodeOptions
	receiver  *running
	lights    []*light
	committed time.Time         // of the last transaction; used by the archive's goroutine alone
	sent      []*pb.WakuMessage // by number
	want      map[message.Key]bool
	numbers   *Numbers
	views     []*message.Envelope // the first messages, kept to be looked at again; used by the archive's goroutine alone
}

// keptViews is how many of the first messages, of the warm-up if there is one,
// are hashed again after the run: few, because what they share stays in memory.
const keptViews = 16

func (t *nodeTarget) Delivered() <-chan Delivery { return t.delivered }

// expect notes what must have arrived in the end, before anything could alter
// it: message i on topics[i%len(topics)], at the receiver and so many others.
func (t *nodeTarget) expect(messages []*pb.WakuMessage, others int, topics ...string) {
	t.gathering = newGathering(len(messages), others)
	t.sent = messages
	t.want = make(map[message.Key]bool, len(messages))
	t.numbers = NewNumbers(messages)
	for i, m := range messages {
		sum := t.options.Hash.Sum(topics[i%len(topics)], m) //msgpath:uncounted of what is published, before the run
		t.want[message.Key{Timestamp: m.GetTimestamp(), Hash: sum}] = true
	}
}

// startReceiver starts the node that archives, syncs and delivers.
func (t *nodeTarget) startReceiver(ctx context.Context, name, role string, listen ...string) (err error) {
	o := t.options.node(listen...)
	o.Committed = func(int, time.Duration, error) { t.committed = time.Now() }
	t.options.setArchive(&o)
	t.options.setFilter(&o)
	if t.receiver, err = start(ctx, name, role, o, t.deliver, t.options.Extra); err != nil {
		return err
	}
	return t.startLights(ctx)
}

// deliver is the application of the receiving node: it reads the number of each
// message and reports it.
func (t *nodeTarget) deliver(_ context.Context, env *message.Envelope) error {
	index, err := t.number(env)
	if err != nil {
		return err
	}
	if len(t.views) < keptViews {
		t.views = append(t.views, env)
	}
	return t.gathering.receive(Delivery{Index: index, At: time.Now(), Committed: t.committed})
}

// number returns the number of a message.
func (t *nodeTarget) number(env *message.Envelope) (int, error) {
	m, err := env.Message(siteApp)
	if err != nil {
		return 0, err
	}
	index, ok := t.numbers.Of(m)
	if !ok {
		return 0, fmt.Errorf("bench: a message with a payload of %d bytes is none of the run's", len(m.GetPayload()))
	}
	return index, nil
}

// Views hashes the message of each kept Envelope again. All consumers were done
// with it long ago, and it shares its payload with them and with the received
// bytes: one that wrote to it, or a buffer that was used again, shows.
func (t *nodeTarget) Views() (int, error) {
	for _, env := range t.views {
		m, err := env.Message(siteApp) // decoded already
		if err != nil {
			return 0, err
		}
		sum := t.options.Hash.Sum(env.Topic(), m) //msgpath:uncounted verifies, after the run
		if !t.want[message.Key{Timestamp: m.GetTimestamp(), Hash: sum}] {
			return 0, invalid("a message that the receiver shared between its consumers now has hash %v: altered after its decode", sum)
		}
	}
	return len(t.views), nil
}

// Verify compares the receiver's archive and sync set with what was published.
func (t *nodeTarget) Verify(ctx context.Context) error {
	var err error
	if t.options.Archive == Discard {
		_, err = verifyArchived(ctx, t.receiver.Archive(), t.want) // a key is made of what arrived
	} else {
		err = verifyArchive(ctx, t.receiver.Archive(), t.options.Hash, t.want)
	}
	if err != nil {
		return err
	}
	if err = verifyKeys("sync set", t.receiver.SyncSet().Keys(), t.want); err != nil {
		return err
	}
	return t.verifyLights()
}

// microTarget is one node without a network.
type microTarget struct {
	nodeTarget
	received []*pubsub.Message // by number
}

// NewMicro returns the target of the scenario "micro": one node that is handed
// received bytes. It has a network only for light peers.
func NewMicro(o NodeOptions) Target { return &microTarget{nodeTarget: nodeTarget{options: o}} }

func (t *microTarget) Start(ctx context.Context, messages []*pb.WakuMessage) error {
	t.expect(messages, t.options.FilterPeers, PubsubTopic)
	topic := PubsubTopic
	t.received = make([]*pubsub.Message, len(messages))
	for i, m := range messages {
		wire, err := encode(m) //msgpath:uncounted by the sender that micro stands in for, before the run
		if err != nil {
			return err
		}
		t.received[i] = &pubsub.Message{Message: &pubsubpb.Message{Topic: &topic, Data: wire}}
	}
	if t.options.FilterPeers == 0 {
		return t.startReceiver(ctx, "node", verdict.RoleAll)
	}
	return t.startReceiver(ctx, "node", verdict.RoleAll, address(t.options.Base)...)
}

func (t *microTarget) Publish(ctx context.Context, i int) error {
	return t.receiver.Relay().Inject(ctx, t.received[i])
}

func (t *microTarget) Nodes(context.Context) ([]verdict.Node, error) {
	return []verdict.Node{t.receiver.account()}, nil
}

func (t *microTarget) Losses() []string { return append(t.receiver.losses(), t.lightLosses()...) }

func (t *microTarget) Close() error { return t.stopReceiver() }

// macroTarget is a publishing node A and a receiving node B on loopback TCP.
type macroTarget struct {
	nodeTarget
	settling
	publisher *running
}

// NewMacro returns the target of the scenario "macro": node A publishes and is
// subscribed to its own topic, node B archives, syncs and delivers.
func NewMacro(o NodeOptions) Target { return &macroTarget{nodeTarget: nodeTarget{options: o}} }

func (t *macroTarget) Start(ctx context.Context, messages []*pb.WakuMessage) (err error) {
	t.expect(messages, t.options.FilterPeers, PubsubTopic)
	t.settling = newSettling(len(messages))
	app := func(context.Context, *message.Envelope) error {
		t.handled <- struct{}{}
		return nil
	}
	listen := address(t.options.Base)
	t.publisher, err = start(ctx, "A", verdict.RolePublisher, t.options.node(listen...), app, t.options.Extra)
	if err != nil {
		return err
	}
	if err = t.startReceiver(ctx, "B", verdict.RoleReceiver, listen...); err != nil {
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

func (t *macroTarget) Publish(ctx context.Context, i int) error {
	_, err := t.publisher.Relay().Publish(ctx, PubsubTopic, t.sent[i])
	if err == nil {
		t.published++
	}
	return err
}

// Nodes waits for A's deliveries to itself, which B's do not wait for, and for
// the turn of A's event loop in which the last one began: it tells the
// observers of what was sent after it has delivered.
func (t *macroTarget) Nodes(ctx context.Context) ([]verdict.Node, error) {
	if err := t.wait(ctx); err != nil {
		return nil, err
	}
	t.publisher.Relay().Peers(PubsubTopic)
	return []verdict.Node{t.publisher.account(), t.receiver.account()}, nil
}

func (t *macroTarget) Losses() []string {
	return slices.Concat(t.publisher.losses(), t.receiver.losses(), t.lightLosses())
}

func (t *macroTarget) Close() error { return errors.Join(t.publisher.stop(), t.stopReceiver()) }
