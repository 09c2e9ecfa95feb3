package relay

import (
	"fmt"
	"strings"
	"testing"

	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
)

func announcement(subscribe bool, topics ...string) (subs []*pubsubpb.RPC_SubOpts) {
	for _, t := range topics {
		subs = append(subs, &pubsubpb.RPC_SubOpts{Subscribe: &subscribe, Topicid: &t})
	}
	return subs
}

func TestPeersAnnounceABoundedNumberOfTopics(t *testing.T) {
	a := newAnnounced()
	pass := func(p peer.ID, subs []*pubsubpb.RPC_SubOpts) int {
		t.Helper()
		within, err := a.FilterIncomingSubscriptions(p, subs)
		if err != nil {
			t.Fatal("an error would make gossipsub drop the RPC: ", err)
		}
		return len(within)
	}
	var many []string
	for i := range 10 * maxPeerTopics {
		many = append(many, fmt.Sprint("t", i))
	}
	if n := pass("greedy", announcement(true, many...)); n != maxPeerTopics {
		t.Errorf("%d topics passed, want %d", n, maxPeerTopics)
	}
	if n := pass("greedy", announcement(true, "t0", "one more")); n != 1 {
		t.Errorf("%d passed of one known and one too many, want the known one", n)
	}
	if n := pass("greedy", announcement(false, "t0", "never joined")); n != 2 {
		t.Errorf("%d of 2 leaves passed", n)
	}
	if n := pass("greedy", announcement(true, "one more", "two more")); n != 1 {
		t.Errorf("%d passed after one leave, want 1", n)
	}
	if n := pass("modest", announcement(true, "t0", strings.Repeat("x", maxTopicLength+1))); n != 1 {
		t.Errorf("%d of a short and an overlong topic passed, want 1", n)
	}
	for i := range 3 * rememberedPeers {
		pass(peer.ID(fmt.Sprint(i)), announcement(true, "t"))
	}
	if n := a.topics.Len(); n != rememberedPeers {
		t.Errorf("%d peers are remembered, want %d", n, rememberedPeers)
	}
}
