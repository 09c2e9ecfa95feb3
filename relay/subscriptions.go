package relay

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
)

// What gossipsub remembers of the topics that peers say they joined. Without a
// bound one peer could name topics until memory is gone.
const (
	maxPeerTopics   = 256  // topics of one peer
	maxTopicLength  = 512  // bytes of a topic's name
	rememberedPeers = 4096 // peers whose topics are counted; beyond, the longest unheard is forgotten
)

// announced bounds the topics that one peer may announce. It is called in
// gossipsub's event loop alone.
//
// It never returns an error: gossipsub would then drop the whole RPC after the
// tracer was told of its messages.
type announced struct {
	topics *simplelru.LRU[peer.ID, map[string]struct{}]
}

var _ pubsub.SubscriptionFilter = (*announced)(nil)

func newAnnounced() *announced {
	topics, err := simplelru.NewLRU[peer.ID, map[string]struct{}](rememberedPeers, nil)
	if err != nil { // only for a size below 1
		panic(err)
	}
	return &announced{topics: topics}
}

// CanSubscribe lets this node join any topic.
func (*announced) CanSubscribe(string) bool { return true }

// FilterIncomingSubscriptions returns what is within the peer's bounds. A leave
// always is.
func (a *announced) FilterIncomingSubscriptions(p peer.ID, subs []*pubsubpb.RPC_SubOpts) ([]*pubsubpb.RPC_SubOpts, error) {
	topics, ok := a.topics.Get(p)
	if !ok {
		topics = make(map[string]struct{})
		a.topics.Add(p, topics)
	}
	within := subs[:0:0]
	for _, s := range subs {
		name := s.GetTopicid()
		switch _, known := topics[name]; {
		case !s.GetSubscribe():
			delete(topics, name)
		case len(name) > maxTopicLength, !known && len(topics) == maxPeerTopics:
			continue
		default:
			topics[name] = struct{}{}
		}
		within = append(within, s)
	}
	return within, nil
}
