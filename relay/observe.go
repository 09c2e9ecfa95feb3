package relay

import (
	"fmt"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// Event is what an Observer is told of.
type Event uint8

const (
	Received  Event = iota // a copy came in, before its id is known; wants the message
	Validated              // a message from a peer was accepted; wants message and hash
	Sent                   // a copy was handed to a peer's outbound queue; wants message and hash
)

// String returns the event's name.
func (e Event) String() string {
	switch e {
	case Received:
		return "on_recv"
	case Validated:
		return "on_validated"
	case Sent:
		return "on_send"
	}
	return fmt.Sprintf("Event(%d)", uint8(e))
}

// Observation is one event. Message and Hash are what the event wants and are
// set at ReachStage only; at longer reaches observers are given sizes.
type Observation struct {
	Event   Event
	Topic   string
	Peer    peer.ID // where from or where to
	Size    int     // of the encoded message, bytes
	Message *pb.WakuMessage
	Hash    message.Hash
}

// An Observer is told of traffic. It is called in gossipsub's event loop and
// must neither block nor change what it is given.
type Observer func(Observation)

// observe tells the observers of one copy. At ReachStage it decodes and hashes
// what they want for them, since they are handed bytes only.
func (r *Relay) observe(event Event, site counters.Site, p peer.ID, m *pubsubpb.Message) {
	if len(r.opts.Observers) == 0 {
		return
	}
	if counters.Enabled {
		defer counters.Label(r.opts.Counts, site).End()
	}
	data := m.GetData() // named once: see decision 5
	o := Observation{Event: event, Topic: m.GetTopic(), Peer: p, Size: len(data)}
	if r.opts.Reach == ReachStage {
		env := r.wrap(o.Topic, data)
		o.Message, _ = env.Message(site) // the validator is who judges bytes that are no message
		if event != Received && o.Message != nil {
			o.Hash, _ = env.Hash(site)
		}
	}
	for _, observer := range r.opts.Observers {
		observer(o)
	}
}

// tracer is gossipsub's view of a Relay. Its methods run in gossipsub's event
// loop, or in a validation worker.
type tracer struct{ relay *Relay }

var _ pubsub.RawTracer = tracer{}

// RecvRPC begins each copy received, which ends in DuplicateMessage,
// RejectMessage or the validator.
func (t tracer) RecvRPC(rpc *pubsub.RPC) {
	for _, m := range rpc.GetPublish() {
		j := t.relay.joined(m.GetTopic())
		if j == nil || !j.subscribed.Load() { // gossipsub ignores it
			t.relay.foreign.Add(1)
			continue
		}
		j.intake.receive()
		j.received.Add(1)
		j.receivedBytes.Add(uint64(len(m.GetData())))
		t.relay.observe(Received, siteOnRecv, rpc.From(), m)
	}
}

func (t tracer) DeliverMessage(m *pubsub.Message) {
	if t.relay.joined(m.GetTopic()) != nil {
		t.relay.observe(Validated, siteOnValidated, m.ReceivedFrom, m.Message)
	}
}

// SendRPC counts messages, also on a topic left meanwhile: an RPC may hold
// several, or only control.
func (t tracer) SendRPC(rpc *pubsub.RPC, to peer.ID) {
	for _, m := range rpc.GetPublish() {
		if c := t.relay.tallied(m.GetTopic()); c != nil {
			c.sent.Add(1)
			c.sentBytes.Add(uint64(len(m.GetData())))
			t.relay.observe(Sent, siteOnSend, to, m)
		}
	}
}

func (t tracer) SendRPCCompleted(rpc *pubsub.RPC, _ peer.ID, _ time.Duration) {
	for _, m := range rpc.GetPublish() {
		if c := t.relay.tallied(m.GetTopic()); c != nil {
			c.written.Add(1)
		}
	}
}

func (t tracer) DropRPC(rpc *pubsub.RPC, _ peer.ID) {
	for _, m := range rpc.GetPublish() {
		if c := t.relay.tallied(m.GetTopic()); c != nil {
			c.sendDropped.Add(1)
		}
	}
}

func (t tracer) DuplicateMessage(m *pubsub.Message) {
	if j := t.relay.joined(m.GetTopic()); j != nil {
		j.duplicates.Add(1)
		j.intake.exit()
	}
}

// RejectMessage counts what the topic's validator did not see; what it saw, it
// has counted and ended.
func (t tracer) RejectMessage(m *pubsub.Message, reason string) {
	c, early := rejectedEarly[reason]
	if j := t.relay.joined(m.GetTopic()); j != nil && early {
		j.add(c)
		j.intake.exit()
	}
}

func (t tracer) UndeliverableMessage(m *pubsub.Message) {
	if j := t.relay.joined(m.GetTopic()); j != nil {
		j.add(DropSubscription)
	}
}

// Join and Leave are called in the event loop's turn in which gossipsub begins
// and ceases to take messages of the topic.
func (t tracer) Join(name string) { t.subscribed(name, true) }

func (t tracer) Leave(name string) { t.subscribed(name, false) }

func (t tracer) subscribed(name string, is bool) {
	if j := t.relay.joined(name); j != nil {
		j.subscribed.Store(is)
	}
}

func (t tracer) Graft(p peer.ID, name string) {
	if j := t.relay.joined(name); j != nil {
		j.mesh.add(p)
	}
}

func (t tracer) Prune(p peer.ID, name string) {
	if j := t.relay.joined(name); j != nil {
		j.mesh.remove(p)
	}
}

// OnClosedOutboundStream takes a lost peer out of every mesh: gossipsub does so
// without a Prune.
func (t tracer) OnClosedOutboundStream(p peer.ID) {
	for _, j := range t.relay.joinedAll() {
		j.mesh.remove(p)
	}
}

func (tracer) OnNewOutboundStream(peer.ID, protocol.ID) {}
func (tracer) ValidateMessage(*pubsub.Message)          {}
func (tracer) ThrottlePeer(peer.ID)                     {}
