package node

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/filter"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
)

// newLight returns a light peer that is connected to a node and hands on the keys of
// what it is pushed.
func newLight(t *testing.T, to *running) (*filter.Client, app) {
	t.Helper()
	h, err := libp2p.New(HostOptions(Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	got := make(app, 100)
	c, err := filter.NewClient(h, filter.ClientOptions{Handle: func(_ peer.ID, env *message.Envelope) {
		if err := got.stage(t.Context(), env); err != nil {
			t.Error(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- c.Run(t.Context()) }()
	t.Cleanup(func() {
		c.Close()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		h.Close()
	})
	<-c.Ready()
	if err := h.Connect(deadline(t), to.AddrInfo()); err != nil {
		t.Fatal(err)
	}
	return c, got
}

// A node pushes what it relayed and stored to light peers, at every reach.
func TestFilter(t *testing.T) {
	for reach := relay.ReachStage; reach <= relay.ReachNode; reach++ {
		t.Run(reach.String(), func(t *testing.T) {
			const n = 10
			oa, ob := options(shard0, shard1), options(shard0, shard1)
			oa.Relay.Reach, ob.Relay.Reach = reach, reach
			ob.Archive, ob.Sync, ob.Filter = "memory", true, new(filter.Options)
			a, b := run(t, oa), run(t, ob)
			join(t, a, b, shard0, shard1)
			light, got := newLight(t, b)
			if err := light.Subscribe(deadline(t), b.ID(), shard0, "/test/1/node/proto"); err != nil {
				t.Fatal(err)
			}
			publish(t, a, shard1, n, 2*n) // to which it did not subscribe
			want := publish(t, a, shard0, 0, n)
			if diff := cmp.Diff(want, got.take(t, n)); diff != "" {
				t.Errorf("pushed (-want +got):\n%s", diff)
			}
			for _, text := range []string{
				"msgpath_filter_subscribers 1\n",
				"msgpath_filter_topics 1\n",
				"msgpath_filter_queue_messages 0\n",
				`msgpath_filter_messages_total{outcome="due"} 10` + "\n",
				`msgpath_filter_pushes_total{outcome="queue"} 0` + "\n",
				`msgpath_filter_requests_total{outcome="accepted"} 1` + "\n",
				`msgpath_filter_removed_total{cause="expired"} 0` + "\n",
			} {
				expect(t, b.Node, "/metrics", http.StatusOK, text)
			}
			b.stop(t)
			expect(t, b.Node, "/metrics", http.StatusOK, `msgpath_filter_pushes_total{outcome="pushed"} 10`+"\n")
			if s := b.Filter().Stats(); s.Removed[filter.RemoveStopped] != 1 {
				t.Errorf("%+v", s)
			}
			if a.Filter() != nil {
				t.Error("A was asked for no filter and has one")
			}
		})
	}
}

func TestFilterOptionsAreChecked(t *testing.T) {
	_, err := New(Options{Filter: &filter.Options{Queue: -1}})
	if err == nil || !strings.Contains(err.Error(), "filter: options: Queue -1 is negative") {
		t.Errorf("got %v", err)
	}
}
