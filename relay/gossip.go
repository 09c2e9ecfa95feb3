package relay

import (
	"encoding/binary"
	"slices"
	"sync"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p-pubsub/timecache"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/zeebo/blake3"

	"github.com/msgpath/msgpath/counters"
)

// ProtocolWaku is the gossipsub protocol id of RFC 11/WAKU2-RELAY.
const ProtocolWaku protocol.ID = "/vac/waku/relay/2.0.0"

// protocols in order of preference.
var protocols = []protocol.ID{pubsub.GossipSubID_v12, pubsub.GossipSubID_v11, ProtocolWaku}

// feature grants the mesh to ProtocolWaku too: gossipsub grants it by protocol
// id, and two peers that speak a protocol without it never graft.
func feature(f pubsub.GossipSubFeature, p protocol.ID) bool {
	if f == pubsub.GossipSubFeatureMesh && p == ProtocolWaku {
		return true
	}
	return slices.Contains(protocols, p) && pubsub.GossipSubDefaultFeatures(f, p)
}

// GossipOptions returns the gossipsub options that every node of the project
// runs with, o's bounds included: protocols, no signatures, the gossip id, and
// queues long enough to lose nothing. The work of the id is charged to counts.
// Bare gossipsub that is to be compared with a Relay uses them too.
func GossipOptions(counts counters.Set, o Options) []pubsub.Option {
	o = o.withDefaults()
	return []pubsub.Option{
		pubsub.WithGossipSubProtocols(protocols, feature),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign),
		pubsub.WithNoAuthor(),
		pubsub.WithMessageIdFn(gossipID(counts)),
		pubsub.WithPeerOutboundQueueSize(o.OutboundQueue),
		pubsub.WithValidateQueueSize(o.ValidateQueue),
		pubsub.WithValidateThrottle(o.Validations),
		pubsub.WithMaxMessageSize(o.MaxRPCSize),
		pubsub.WithSeenMessagesTTL(o.SeenTTL),
		pubsub.WithSeenMessagesStrategy(timecache.Strategy_LastSeen),
		pubsub.WithSubscriptionFilter(newAnnounced()),
		pubsub.WithLogger(o.RouterLogger),
	}
}

// gossipIDContext separates the gossip id from the message hash.
const gossipIDContext = "msgpath 2026-11-30 gossip id v1"

var gossipIDPool = sync.Pool{New: func() any { return &idHasher{Hasher: blake3.NewDeriveKey(gossipIDContext)} }}

type idHasher struct {
	*blake3.Hasher
	head [8]byte
	sum  [32]byte
}

// GossipID returns the gossip message id of data on a topic: BLAKE3 over the
// topic, preceded by its length, and every byte of data. Copies that differ in
// any byte, or are on another topic, have another id: were it less, a forged
// copy could take the place of the genuine one in the cache of messages seen.
func GossipID(topic string, data []byte) string {
	h := gossipIDPool.Get().(*idHasher)
	defer gossipIDPool.Put(h)
	h.Reset()
	binary.LittleEndian.PutUint64(h.head[:], uint64(len(topic)))
	_, _ = h.Write(h.head[:])
	_, _ = h.WriteString(topic)
	_, _ = h.Write(data)
	return string(h.Sum(h.sum[:0]))
}

func gossipID(counts counters.Set) pubsub.MsgIdFunction {
	return func(m *pubsubpb.Message) string {
		topic, data := m.GetTopic(), m.GetData()
		id := GossipID(topic, data)
		if counters.Enabled {
			counters.IDHash(counts, siteGossipID, len(topic)+len(data))
		}
		return id
	}
}
