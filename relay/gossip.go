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
	"github.com/msgpath/msgpath/message"
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
		pubsub.WithValidateWorkers(o.ValidateWorkers),
		pubsub.WithValidateThrottle(o.Validations),
		pubsub.WithMaxMessageSize(o.MaxRPCSize),
		pubsub.WithGossipSubParams(o.routerParams()),
		pubsub.WithSeenMessagesTTL(o.SeenTTL),
		pubsub.WithSeenMessagesStrategy(timecache.Strategy_LastSeen),
		pubsub.WithSubscriptionFilter(newAnnounced()),
		pubsub.WithLogger(o.RouterLogger),
	}
}

// routerParams returns gossipsub's own parameters but for those that o sets.
func (o Options) routerParams() pubsub.GossipSubParams {
	p := pubsub.DefaultGossipSubParams()
	p.IDontWantMessageThreshold = o.IDontWantThreshold
	return p
}

// gossipIDContext separates the gossip id from every other use of BLAKE3.
const gossipIDContext = "msgpath 2026-11-30 gossip id v2"

var gossipIDPool = sync.Pool{New: func() any { return &idHasher{Hasher: blake3.NewDeriveKey(gossipIDContext)} }}

type idHasher struct {
	*blake3.Hasher
	buf [digestedID]byte
}

// Lengths of gossip ids in bytes: with the payload's digest, and without.
const (
	digestedID = 64
	plainID    = 32
)

// GossipID returns the gossip message id of data on a topic: the digest of the
// payload, and BLAKE3 over the topic and what surrounds the payload, kept apart
// by their lengths, so that the pass over the payload can serve the message hash
// too. Where message.Cut finds no payload it is BLAKE3 over the topic and data,
// half as long. Copies that differ in any byte, or are on another topic, have
// another id: were it less, a forged copy could take the place of the genuine one
// in the cache of messages seen.
func GossipID(topic string, data []byte) string {
	h := gossipIDPool.Get().(*idHasher)
	defer gossipIDPool.Put(h)
	before, payload, after, ok := message.Cut(data)
	if !ok {
		return string(h.surroundings(h.buf[:0], topic, data, nil))
	}
	digest := message.DigestPayload(payload)
	return string(h.surroundings(append(h.buf[:0], digest[:]...), topic, before, after))
}

// surroundings appends the digest of a topic and the bytes around a payload to
// id, which has room for it behind its length.
func (h *idHasher) surroundings(id []byte, topic string, before, after []byte) []byte {
	h.Reset()
	h.length(id, len(topic))
	_, _ = h.WriteString(topic)
	h.length(id, len(before))
	_, _ = h.Write(before)
	_, _ = h.Write(after)
	return h.Sum(id)
}

// length feeds n, by way of the room behind id: a local variable would be an
// allocation.
func (h *idHasher) length(id []byte, n int) {
	_, _ = h.Write(binary.LittleEndian.AppendUint64(id, uint64(n))[len(id):])
}

// payloadDigest returns the payload's digest in a gossip id, if it has one.
func payloadDigest(id string) (message.PayloadDigest, bool) {
	if len(id) != digestedID {
		return message.PayloadDigest{}, false
	}
	return message.PayloadDigest([]byte(id[:digestedID-plainID])), true
}

func gossipID(counts counters.Set) pubsub.MsgIdFunction {
	return func(m *pubsubpb.Message) string {
		if counters.Enabled {
			defer counters.Label(counts, siteGossipID).End()
		}
		topic, data := m.GetTopic(), m.GetData()
		id := GossipID(topic, data)
		if counters.Enabled { // a hash that uses the payload's digest takes its bytes over
			counters.IDHash(counts, siteGossipID, len(topic)+len(data))
		}
		return id
	}
}
