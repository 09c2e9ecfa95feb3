package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// MeshOptions say what stands around the receiver of macro. The zero value is
// the two nodes of macro.
type MeshOptions struct {
	Topics int // that messages are published on by turns; 0: 1
	Peers  int // nodes behind the receiver, beside the publisher; all are in its mesh
}

// Traffic is what a mesh did with the measured messages beyond what the nodes of
// a run tell.
type Traffic struct {
	Copies, Bytes uint64 // that publisher and receiver handed to gossipsub's queues for peers; each is encoded and written
	Encodes       uint64 // by the peers behind the receiver; 0 where nothing counts
	Mesh          int    // peers in the receiver's mesh, the publisher among them: the least of all topics
}

// meshTarget is macro with several topics, and with peers behind the receiver
// that it relays to. A message counts as delivered when the receiver and all of
// them have it, so that what is measured contains what they cost.
type meshTarget struct {
	nodeTarget
	settling
	mesh      MeshOptions
	publisher *running
	peers     []*running
	topics    []string
	accounts  []Traffic // since the start, at each call of Nodes
}

func newMesh(o NodeOptions, m MeshOptions) *meshTarget {
	return &meshTarget{nodeTarget: nodeTarget{options: o}, mesh: m}
}

func (t *meshTarget) Start(ctx context.Context, messages []*pb.WakuMessage) error {
	t.prepare(messages)
	app := func(context.Context, *message.Envelope) error {
		t.handled <- struct{}{}
		return nil
	}
	listen := address(t.options.Base)
	o := t.options.node(listen...)
	o.Relay.Topics = t.topics
	var err error
	if t.publisher, err = start(ctx, "A", verdict.RolePublisher, o, app, t.options.Extra); err != nil {
		return err
	}
	o.Committed = func(int, time.Duration, error) { t.committed = time.Now() }
	t.options.setArchive(&o)
	restore := widen(&o, 1+t.mesh.Peers)
	t.receiver, err = start(ctx, "B", verdict.RoleReceiver, o, t.deliver, t.options.Extra)
	restore()
	if err != nil {
		return err
	}
	if err = t.publisher.Connect(ctx, t.receiver.AddrInfo()); err != nil {
		return err
	}
	if err = errors.Join(t.await(ctx, t.publisher, 1), t.await(ctx, t.receiver, 1)); err != nil {
		return err
	}
	return t.surround(ctx)
}

// prepare notes what must have arrived in the end, and on which topic.
func (t *meshTarget) prepare(messages []*pb.WakuMessage) {
	t.topics = []string{PubsubTopic}
	for i := 1; i < t.mesh.Topics; i++ {
		t.topics = append(t.topics, fmt.Sprintf("/waku/2/rs/0/%d", i))
	}
	t.settling = newSettling(len(messages))
	t.expect(messages, t.mesh.Peers, t.topics...)
}

// await waits until a node has so many peers in its mesh of every topic.
func (t *meshTarget) await(ctx context.Context, r *running, peers int) error {
	for _, topic := range t.topics {
		if err := r.Relay().WaitMesh(ctx, topic, peers); err != nil {
			return err
		}
	}
	return nil
}

// surround starts the peers behind the receiver and returns when all of them are
// in its mesh.
func (t *meshTarget) surround(ctx context.Context) error {
	for i := range t.mesh.Peers {
		o := t.options.node()
		o.Relay.Topics = t.topics
		p, err := start(ctx, fmt.Sprintf("P%d", i+1), verdict.RoleReceiver, o, t.peer(i), nil)
		if err != nil {
			return err
		}
		t.peers = append(t.peers, p)
		if err := p.Connect(ctx, t.receiver.AddrInfo()); err != nil {
			return err
		}
	}
	return t.await(ctx, t.receiver, 1+t.mesh.Peers)
}

// widen lets a node that starts before the returned function is called have so
// many peers in a mesh. Gossipsub prunes one of 12 to 6, those left out get
// messages by gossip a second later, and what a peer costs could not be seen. The
// bound has no option of a node, since no relay should have another.
func widen(o *node.Options, peers int) (restore func()) {
	was := pubsub.GossipSubDhi
	if peers < was {
		return func() {}
	}
	const told = 128 // bytes, at least, that each peer of a mesh is told of a message
	pubsub.GossipSubDhi = peers + 1
	o.Relay.IDontWantThreshold = max(o.Relay.IDontWantThreshold, told*pubsub.GossipSubDhi)
	return func() { pubsub.GossipSubDhi = was }
}

// peer returns the application of peer i behind the receiver.
func (t *meshTarget) peer(i int) relay.Stage {
	return func(_ context.Context, env *message.Envelope) error {
		index, err := t.number(env)
		if err != nil {
			return err
		}
		return t.arrive(i, index)
	}
}

func (t *meshTarget) Publish(ctx context.Context, i int) error {
	_, err := t.publisher.Relay().Publish(ctx, t.topics[i%len(t.topics)], t.sent[i])
	if err == nil {
		t.published++
	}
	return err
}

// Nodes waits as macroTarget's does, for both nodes that send.
func (t *meshTarget) Nodes(ctx context.Context) ([]verdict.Node, error) {
	if err := t.wait(ctx); err != nil {
		return nil, err
	}
	t.publisher.Relay().Peers(PubsubTopic)
	t.receiver.Relay().Peers(PubsubTopic)
	t.accounts = append(t.accounts, t.account())
	return []verdict.Node{t.publisher.account(), t.receiver.account()}, nil
}

// account returns the traffic since the start.
func (t *meshTarget) account() (sum Traffic) {
	for _, r := range []*running{t.publisher, t.receiver} {
		for _, s := range r.Relay().Stats() {
			sum.Copies += s.Sent - s.SendDropped
			sum.Bytes += s.SentBytes
		}
	}
	for i, s := range t.receiver.Relay().Stats() {
		if i == 0 || s.Mesh < sum.Mesh {
			sum.Mesh = s.Mesh
		}
	}
	for _, p := range t.peers {
		if counters.Enabled {
			sum.Encodes += counters.Total(counters.Load(p.counts)).Encodes
		}
	}
	return sum
}

// Traffic returns what happened between the first two calls of Nodes, which a run
// makes before and after the measured messages; nothing before.
func (t *meshTarget) Traffic() Traffic {
	if len(t.accounts) < 2 {
		return Traffic{}
	}
	before, after := t.accounts[0], t.accounts[1]
	after.Copies -= before.Copies
	after.Bytes -= before.Bytes
	after.Encodes -= before.Encodes
	return after
}

func (t *meshTarget) Losses() []string {
	lost := append(t.publisher.losses(), t.receiver.losses()...)
	for _, p := range t.peers {
		lost = append(lost, p.losses()...)
	}
	return lost
}

func (t *meshTarget) Close() error {
	errs := []error{t.publisher.stop(), t.receiver.stop()}
	for _, p := range t.peers {
		errs = append(errs, p.stop())
	}
	return errors.Join(errs...)
}
