package echo

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/msgpath/msgpath/counters"

	"example.org/echo-relay/pb"
)

// topicName is the one topic.
const topicName = "/echo/1/notes/proto"

// Config is what a node is made of. All but Deliver and Fail must be set.
type Config struct {
	Counts  counters.Set // the zero Set counts nothing
	Listen  string       // multiaddr, as /ip4/127.0.0.1/tcp/0
	Key     ed25519.PrivateKey
	Echo    bool           // answer notes of others
	Reuse   bool           // decode and hash each received note once, not twice
	Deliver func(*pb.Note) // called for each note of another node, one after the other
	Fail    func(error)    // called for each note that could not be handled, by the same goroutine
}

// A Node is one relay.
type Node struct {
	counts counters.Set
	config Config
	host   host.Host
	topic  *pubsub.Topic
	sub    *pubsub.Subscription
	peers  *pubsub.TopicEventHandler
	stop   context.CancelFunc
	failed atomic.Uint64 // notes that could not be handled
}

// New opens a node's sockets and joins the topic.
func New(config Config) (*Node, error) {
	h, err := libp2p.New(libp2p.ListenAddrStrings(config.Listen))
	if err != nil {
		return nil, fmt.Errorf("echo: make host: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background()) // gossipsub ends with it, in Close
	n := &Node{counts: config.Counts, config: config, host: h, stop: stop}
	if err := n.join(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("echo: join topic: %w", err), n.Close())
	}
	return n, nil
}

func (n *Node) join(ctx context.Context) error {
	ps, err := pubsub.NewGossipSub(ctx, n.host,
		pubsub.WithMessageIdFn(messageID(n.counts)),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), // notes are signed by their authors
		pubsub.WithFloodPublish(true))
	if err != nil {
		return err
	}
	v := validator{counts: n.counts, reuse: n.config.Reuse}
	if err := ps.RegisterTopicValidator(topicName, v.validate); err != nil {
		return err
	}
	if n.topic, err = ps.Join(topicName); err != nil {
		return err
	}
	if n.peers, err = n.topic.EventHandler(); err != nil {
		return err
	}
	n.sub, err = n.topic.Subscribe()
	return err
}

// Address returns where others reach the node.
func (n *Node) Address() peer.AddrInfo { return peer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()} }

// Connect dials another node.
func (n *Node) Connect(ctx context.Context, to peer.AddrInfo) error {
	if err := n.host.Connect(ctx, to); err != nil {
		return fmt.Errorf("echo: connect: %w", err)
	}
	return nil
}

// Joined returns when another node has joined the topic and is sent what this
// node publishes.
func (n *Node) Joined(ctx context.Context) error {
	for {
		e, err := n.peers.NextPeerEvent(ctx)
		if err != nil {
			return fmt.Errorf("echo: wait for a peer: %w", err)
		}
		if e.Type == pubsub.PeerJoin {
			return n.opened(ctx, e.Peer)
		}
	}
}

// opened returns when gossipsub has a queue for what it sends to a node that has
// joined. That comes by another way than what the node sends, maybe later, and
// there is no event for it; until then gossipsub drops what is published.
func (n *Node) opened(ctx context.Context, to peer.ID) error {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !slices.Contains(n.topic.ListPeers(), to) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("echo: wait for a peer: %w", ctx.Err())
		}
	}
	return nil
}

// Publish signs a note with this body and sends it.
func (n *Node) Publish(ctx context.Context, body []byte) error {
	return n.publish(ctx, &pb.Note{Body: body})
}

func (n *Node) publish(ctx context.Context, note *pb.Note) error {
	wire, err := seal(n.counts, note, n.config.Key)
	if err != nil {
		return err
	}
	if err := n.topic.Publish(ctx, wire); err != nil {
		return fmt.Errorf("echo: publish: %w", err)
	}
	return nil
}

// Close ends the node.
func (n *Node) Close() error {
	if n.sub != nil {
		n.sub.Cancel()
	}
	if n.peers != nil {
		n.peers.Cancel()
	}
	n.stop()
	return n.host.Close()
}
