package filter

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
)

// TestCounts relays to several light peers at every reach: the stages hash twice
// where each consumer has an Envelope of its own, never otherwise, and encode and
// copy nothing, whatever the number of peers.
func TestCounts(t *testing.T) {
	for _, reach := range []relay.Reach{relay.ReachStage, relay.ReachDispatch, relay.ReachNode} {
		for _, peers := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("%v/%d peers", reach, peers), func(t *testing.T) { testCounts(t, reach, peers) })
		}
	}
}

func testCounts(t *testing.T, reach relay.Reach, peers int) {
	const n = 5
	s := newServer(t, Options{})
	counts := counters.New()
	r, err := relay.New(s.host, relay.Options{
		Counts: counts, Reach: reach, Topics: []string{topicA},
		Stages: []relay.Stage{s.Match, s.Push},
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, r)
	var all []light
	for range peers {
		l := newLight(t, s)
		l.subscribe(t, s.host, topicA, content)
		all = append(all, l)
	}
	topic, hashed := topicA, uint64(0)
	for i := range n {
		env := numbered(t, topicA, i, 1000)
		hashed += uint64(len("message 0") + 1000)
		m := &pubsub.Message{Message: &pubsubpb.Message{Topic: &topic, Data: env.Bytes()}}
		if err := r.Inject(context.Background(), m); err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			l.expect(t, env)
		}
	}
	if got := s.Stats(); got.Pushed != uint64(n*peers) {
		t.Errorf("%+v", got)
	}
	if !counters.Enabled {
		return
	}
	want := map[string]counters.Counts{}
	if reach == relay.ReachStage && peers > 0 {
		want["filter.filter"] = counters.Counts{Hashes: n, HashedBytes: hashed}
		want["filter.filter_push"] = want["filter.filter"]
	}
	got := make(map[string]counters.Counts)
	total := counters.Total(counters.Load(counts))
	for _, site := range counters.Load(counts) {
		if strings.HasPrefix(site.Site, "filter.") {
			got[site.Site] = site.Counts
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts differ (-want +got):\n%s", diff)
	}
	if total.Encodes != 0 {
		t.Errorf("%d encodes", total.Encodes)
	}
}

// What a light peer works: a decode of each push.
func TestClientCounts(t *testing.T) {
	if !counters.Enabled {
		t.Skip("this build does not count")
	}
	for _, decoder := range []message.Decoder{message.Copying, message.Aliasing} {
		t.Run(decoder.String(), func(t *testing.T) {
			l := newLight(t)
			l.opts.Counts, l.opts.Format.Decoder = counters.New(), decoder
			env := numbered(t, topicA, 1, 100)
			l.receive("x", topicA, env.Bytes())
			want := counters.Counts{Decodes: 1, DecodedBytes: uint64(len(env.Bytes()))}
			if decoder == message.Copying {
				want.Copies, want.CopiedBytes = 1, uint64(len("message 1")+100)
			}
			got := counters.Load(l.opts.Counts)
			if len(got) != 1 || got[0].Site != "filter.client" || got[0].Counts != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
