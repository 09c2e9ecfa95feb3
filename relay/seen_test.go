package relay

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	mocknet "github.com/libp2p/go-libp2p/p2p/net/mock"
)

// TestSeen: libp2p/go-libp2p-pubsub#502. One message comes again and again from
// another peer. It is handled once for as long as copies come within SeenTTL,
// and when it was forgotten, which takes a sweep of gossipsub's cache, the store
// knows it. Time is simulated, over a network in memory.
func TestSeen(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // timers of a bubble upset the race detector: golang/go#78156
	synctest.Test(t, testSeen)
}

func testSeen(t *testing.T) {
	opts, store := withShelf(Options{SeenTTL: time.Second})
	network := mocknet.New()
	defer func() { _ = network.Close() }()
	n, w := simulated(t, network, opts)
	store.relay = n.Relay
	data := encode(t, sample(0, 8))
	send := func(times int) {
		for range times {
			w.send(topicA, data)
			time.Sleep(500 * time.Millisecond)
		}
		synctest.Wait()
	}
	const copies = 400 // for 200 seconds: over three sweeps
	send(copies)
	if s := n.on(topicA); s.Received != copies || s.Duplicates != copies-1 || s.Delivered != 1 || s.Known != 0 {
		t.Errorf("%d copies within SeenTTL of each other: %+v", copies, s)
	}
	time.Sleep(2 * time.Minute) // SeenTTL and a sweep
	send(2)
	if s := n.on(topicA); s.Duplicates != copies || s.Delivered != 1 || s.Known != 1 || n.passed.load() != 1 {
		t.Errorf("two copies after it was forgotten: %+v", s)
	}
	if _, err := n.Publish(t.Context(), topicA, sample(0, 8)); !errors.Is(err, ErrDuplicate) {
		t.Errorf("publish of what was received a moment ago: %v", err)
	}
	time.Sleep(2 * time.Minute)
	n.publish(topicA, sample(0, 8))
	synctest.Wait()
	if s := n.on(topicA); s.Published != 1 || s.Known != 2 || len(store.stored) != 1 {
		t.Errorf("published after it was forgotten: %+v", s)
	}
	n.settle()
}

// simulated returns a node and a peer of it on a network in memory.
func simulated(t *testing.T, network mocknet.Mocknet, o Options) (*node, *wire) {
	t.Helper()
	ours, err := network.GenPeer()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := network.GenPeer()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(network.LinkAll(), network.ConnectAllButSelf()); err != nil {
		t.Fatal(err)
	}
	o.AllowNoPeers = true
	n := startOn(t, ours, o)
	s, err := theirs.NewStream(t.Context(), ours.ID(), pubsub.GossipSubID_v11)
	if err != nil {
		t.Fatal(err)
	}
	return n, &wire{t: t, host: theirs, stream: s}
}
