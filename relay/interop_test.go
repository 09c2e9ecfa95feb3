package relay

import (
	"context"
	"slices"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// bare is a gossipsub router without a Relay.
type bare struct {
	host    host.Host
	topic   *pubsub.Topic
	sub     *pubsub.Subscription
	grafted *grafts
}

// grafts is a tracer that counts them, and the messages that peers do not want.
type grafts struct {
	count
	told count
}

func (g *grafts) Graft(peer.ID, string) { g.add() }

func (*grafts) OnNewOutboundStream(peer.ID, protocol.ID)             {}
func (*grafts) OnClosedOutboundStream(peer.ID)                       {}
func (*grafts) Join(string)                                          {}
func (*grafts) Leave(string)                                         {}
func (*grafts) Prune(peer.ID, string)                                {}
func (*grafts) ValidateMessage(*pubsub.Message)                      {}
func (*grafts) DeliverMessage(*pubsub.Message)                       {}
func (*grafts) RejectMessage(*pubsub.Message, string)                {}
func (*grafts) DuplicateMessage(*pubsub.Message)                     {}
func (*grafts) ThrottlePeer(peer.ID)                                 {}
func (*grafts) SendRPC(*pubsub.RPC, peer.ID)                         {}
func (*grafts) SendRPCCompleted(*pubsub.RPC, peer.ID, time.Duration) {}
func (*grafts) DropRPC(*pubsub.RPC, peer.ID)                         {}
func (*grafts) UndeliverableMessage(*pubsub.Message)                 {}

// newBare starts gossipsub that speaks one protocol, with the mesh feature, and
// joins topicA.
func newBare(t *testing.T, p protocol.ID) *bare {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	b := &bare{host: newHost(t), grafted: new(grafts)}
	mesh := func(f pubsub.GossipSubFeature, _ protocol.ID) bool { return f == pubsub.GossipSubFeatureMesh }
	ps, err := pubsub.NewGossipSub(ctx, b.host,
		pubsub.WithGossipSubProtocols([]protocol.ID{p}, mesh),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign),
		pubsub.WithNoAuthor(),
		pubsub.WithMessageIdFn(func(m *pubsubpb.Message) string { return string(m.GetData()) }),
		pubsub.WithRawTracer(b.grafted))
	if err != nil {
		t.Fatal(err)
	}
	if b.topic, err = ps.Join(topicA); err != nil {
		t.Fatal(err)
	}
	if b.sub, err = b.topic.Subscribe(); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestProtocols: peers that speak one of our protocols alone graft and exchange
// messages with a Relay, both ways.
func TestProtocols(t *testing.T) {
	for _, p := range []protocol.ID{ProtocolWaku, pubsub.GossipSubID_v11, pubsub.GossipSubID_v12} {
		t.Run(string(p), func(t *testing.T) {
			n, b := start(t, Options{}), newBare(t, p)
			connect(t, b.host, n.host)
			n.waitMesh(topicA, 1)
			b.grafted.wait(t, "grafts", 1)
			theirs := encode(t, sample(1, 2_000))
			if err := b.topic.Publish(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
			n.passed.wait(t, "deliveries", 1)
			n.publish(topicA, sample(2, 2_000))
			for _, want := range [][]byte{theirs, encode(t, sample(2, 2_000))} {
				if got, err := b.sub.Next(deadline(t)); err != nil || !slices.Equal(got.Data, want) {
					t.Fatalf("the peer was handed something else, or %v", err)
				}
			}
		})
	}
}

// TestFeature: gossipsub would not grant the mesh to the Waku protocol, without
// which two peers that speak it never graft.
func TestFeature(t *testing.T) {
	if pubsub.GossipSubDefaultFeatures(pubsub.GossipSubFeatureMesh, ProtocolWaku) {
		t.Error("gossipsub grants the mesh by itself")
	}
	for _, p := range protocols {
		if !feature(pubsub.GossipSubFeatureMesh, p) {
			t.Errorf("%s has no mesh", p)
		}
	}
	if feature(pubsub.GossipSubFeatureMesh, pubsub.FloodSubID) || feature(pubsub.GossipSubFeatureIdontwant, ProtocolWaku) {
		t.Error("a feature is granted to a protocol without it")
	}
	if want := []protocol.ID{"/meshsub/1.2.0", "/meshsub/1.1.0", "/vac/waku/relay/2.0.0"}; !slices.Equal(protocols, want) {
		t.Errorf("protocols %v, want %v", protocols, want)
	}
}
