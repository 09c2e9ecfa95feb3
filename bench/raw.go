package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

var siteRaw = counters.NewSite("bench.raw")

// rawTarget is bare gossipsub between two hosts: the options and the content id
// of the nodes, the same messages encoded at publishing, and nothing else. It
// verifies by the content id, which covers every byte of a message.
type rawTarget struct {
	settling
	options             RawOptions
	publisher, receiver *rawNode
	messages            []*pb.WakuMessage // by number
	index               map[string]int    // number by gossip id
	delivered           chan Delivery
	unknown             atomic.Uint64
}

// RawOptions say what bare gossipsub does besides. The zero value is nothing.
type RawOptions struct {
	Base node.Options // as NodeOptions.Base

	Extra Work // as Options.Extra

	// ID is the gossip id in place of the nodes' own, which passes over every byte.
	// It must tell all messages of the run apart.
	ID func(topic string, data []byte) string
}

// NewRaw returns the target of path "raw": the ceiling that the other paths of
// macro are compared with.
func NewRaw(o RawOptions) Target { return &rawTarget{options: o} }

// CheapID is a gossip id that nobody should use: 16 bytes of the message, among
// them its number in the workload. It shows what the cheapest of ids would bring.
func CheapID(_ string, data []byte) string {
	const header, size = 4, 16 // tag and length of a payload; the payload begins with the number
	return string(data[min(header, len(data)):min(header+size, len(data))])
}

func (t *rawTarget) Start(ctx context.Context, messages []*pb.WakuMessage) (err error) {
	t.messages, t.settling = messages, newSettling(len(messages))
	t.delivered = make(chan Delivery, len(messages))
	if t.index, err = t.gossipIDs(messages); err != nil {
		return err
	}
	if t.publisher, err = startRaw(ctx, "A", verdict.RolePublisher, t.options, func(*pubsub.Message) { t.handled <- struct{}{} }); err != nil {
		return err
	}
	if t.receiver, err = startRaw(ctx, "B", verdict.RoleReceiver, t.options, t.receive); err != nil {
		return err
	}
	err = t.publisher.host.Connect(ctx, peer.AddrInfo{ID: t.receiver.host.ID(), Addrs: t.receiver.host.Addrs()})
	if err != nil {
		return fmt.Errorf("bench: connect bare gossipsub: %w", err)
	}
	return errors.Join(t.publisher.grafted(ctx), t.receiver.grafted(ctx))
}

// gossipIDs returns the number of each message by its gossip id.
func (t *rawTarget) gossipIDs(messages []*pb.WakuMessage) (map[string]int, error) {
	index := make(map[string]int, len(messages))
	for i, m := range messages {
		wire, err := encode(m) //msgpath:uncounted for the table of ids, before the run
		if err != nil {
			return nil, err
		}
		id := relay.GossipID //msgpath:uncounted for the table of ids, before the run
		if t.options.ID != nil {
			id = t.options.ID
		}
		index[id(PubsubTopic, wire)] = i
	}
	return index, nil
}

func (t *rawTarget) receive(m *pubsub.Message) {
	if i, ok := t.index[m.ID]; ok {
		t.delivered <- Delivery{Index: i, At: time.Now()}
	} else {
		t.unknown.Add(1)
	}
}

func (t *rawTarget) Publish(ctx context.Context, i int) error {
	if counters.Enabled {
		defer counters.Label(t.publisher.counts, siteRaw).End()
	}
	data, err := encode(t.messages[i])
	if err != nil {
		return err
	}
	if counters.Enabled {
		counters.Encode(t.publisher.counts, siteRaw, len(data))
	}
	if err := t.publisher.topic.Publish(ctx, data); err != nil {
		return err
	}
	t.published++
	return nil
}

func (t *rawTarget) Delivered() <-chan Delivery { return t.delivered }

// Nodes waits as macroTarget's does.
func (t *rawTarget) Nodes(ctx context.Context) ([]verdict.Node, error) {
	if err := t.wait(ctx); err != nil {
		return nil, err
	}
	t.publisher.topic.ListPeers()
	return []verdict.Node{t.publisher.account(), t.receiver.account()}, nil
}

func (t *rawTarget) Losses() []string { return append(t.publisher.losses(), t.receiver.losses()...) }

func (t *rawTarget) Verify(context.Context) error {
	if n := t.unknown.Load(); n > 0 {
		return invalid("%d messages arrived with the gossip id of none that was published: altered", n)
	}
	return nil
}

func (t *rawTarget) Close() error { return errors.Join(t.publisher.stop(), t.receiver.stop()) }

// rawNode is a host with bare gossipsub on one topic.
type rawNode struct {
	name, role string
	extra      Work
	counts     counters.Set
	host       host.Host
	topic      *pubsub.Topic
	tracer     *rawTracer
	cancel     context.CancelFunc
	ended      chan struct{}
	stopped    sync.Once
	err        error
	delivered  atomic.Uint64
}

func startRaw(ctx context.Context, name, role string, o RawOptions, receive func(*pubsub.Message)) (n *rawNode, err error) {
	n = &rawNode{
		name: name, role: role, extra: o.Extra, counts: counters.New(), ended: make(chan struct{}),
		tracer: &rawTracer{graft: make(chan struct{})},
	}
	if counters.Enabled {
		counters.Name(n.counts, name)
	}
	base := o.Base
	base.Listen = address(base)
	if n.host, err = libp2p.New(node.HostOptions(base)...); err != nil {
		return nil, fmt.Errorf("bench: start bare host: %w", err)
	}
	h := n.host // an error takes n away
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n.cancel = cancel
	gossip, err := pubsub.NewGossipSub(run, n.host, n.gossipOptions(o)...)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("bench: start bare gossipsub: %w", err)
	}
	if n.topic, err = gossip.Join(PubsubTopic); err == nil {
		var sub *pubsub.Subscription
		if sub, err = n.topic.Subscribe(pubsub.WithBufferSize(cmp.Or(o.Base.Relay.Subscription, relay.DefaultSubscription))); err == nil {
			go n.read(run, sub, receive)
			return n, nil
		}
	}
	cancel()
	return nil, fmt.Errorf("bench: join with bare gossipsub: %w", err)
}

// gossipOptions returns those of a node, but for an id of their own.
func (n *rawNode) gossipOptions(o RawOptions) []pubsub.Option {
	options := append(relay.GossipOptions(n.counts, o.Base.Relay), pubsub.WithRawTracer(n.tracer))
	if o.ID == nil {
		return options
	}
	return append(options, pubsub.WithMessageIdFn(func(m *pubsubpb.Message) string { return o.ID(m.GetTopic(), m.GetData()) }))
}

func (n *rawNode) read(ctx context.Context, sub *pubsub.Subscription, receive func(*pubsub.Message)) {
	defer close(n.ended)
	for {
		m, err := sub.Next(ctx)
		if err != nil {
			return
		}
		n.delivered.Add(1)
		if n.extra != nil {
			n.extra(n.name, n.counts, m.Data)
		}
		receive(m)
	}
}

func (n *rawNode) grafted(ctx context.Context) error {
	select {
	case <-n.tracer.graft:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("bench: wait for mesh of bare gossipsub: %w", ctx.Err())
	}
}

func (n *rawNode) account() verdict.Node {
	v := verdict.Node{
		Name: n.name, Role: n.role, Delivered: n.delivered.Load(),
		Rejected: n.tracer.rejected.Load(), Duplicates: n.tracer.duplicates.Load(), Dropped: n.tracer.dropped.Load(),
	}
	if counters.Enabled {
		v.Sites = append([]counters.SiteCounts{}, counters.Load(n.counts)...)
		v.Lines = sourceLines(n.counts)
	}
	return v
}

// losses returns what the node rejected and dropped.
func (n *rawNode) losses() (lines []string) {
	for cause, count := range map[string]uint64{"rejected": n.tracer.rejected.Load(), "dropped": n.tracer.dropped.Load()} {
		if count > 0 {
			lines = append(lines, fmt.Sprintf("node %s: %d %s", n.name, count, cause))
		}
	}
	return lines
}

// stop stops the node; nil is stopped already.
func (n *rawNode) stop() error {
	if n == nil {
		return nil
	}
	n.stopped.Do(func() {
		n.cancel()
		<-n.ended
		n.err = n.host.Close()
	})
	return n.err
}

// rawTracer tells when the mesh is there and what was dropped.
type rawTracer struct {
	once                          sync.Once
	graft                         chan struct{}
	dropped, rejected, duplicates atomic.Uint64
}

var _ pubsub.RawTracer = (*rawTracer)(nil)

func (t *rawTracer) Graft(peer.ID, string) { t.once.Do(func() { close(t.graft) }) }

func (t *rawTracer) DropRPC(rpc *pubsub.RPC, _ peer.ID) {
	t.dropped.Add(uint64(len(rpc.GetPublish())))
}

// RejectMessage tells a full queue, where the message is dropped, from a
// verdict on it.
func (t *rawTracer) RejectMessage(_ *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectValidationQueueFull, pubsub.RejectValidationThrottled:
		t.dropped.Add(1)
	default:
		t.rejected.Add(1)
	}
}

func (t *rawTracer) UndeliverableMessage(*pubsub.Message)               { t.dropped.Add(1) }
func (t *rawTracer) DuplicateMessage(*pubsub.Message)                   { t.duplicates.Add(1) }
func (*rawTracer) OnNewOutboundStream(peer.ID, protocol.ID)             {}
func (*rawTracer) OnClosedOutboundStream(peer.ID)                       {}
func (*rawTracer) Join(string)                                          {}
func (*rawTracer) Leave(string)                                         {}
func (*rawTracer) Prune(peer.ID, string)                                {}
func (*rawTracer) ValidateMessage(*pubsub.Message)                      {}
func (*rawTracer) DeliverMessage(*pubsub.Message)                       {}
func (*rawTracer) ThrottlePeer(peer.ID)                                 {}
func (*rawTracer) RecvRPC(*pubsub.RPC)                                  {}
func (*rawTracer) SendRPC(*pubsub.RPC, peer.ID)                         {}
func (*rawTracer) SendRPCCompleted(*pubsub.RPC, peer.ID, time.Duration) {}
