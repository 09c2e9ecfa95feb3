package bench

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// TestFilterCountsAreExact runs every path with light peers: two more hashes on
// baseline whatever their number, none on the others, and never another encode.
func TestFilterCountsAreExact(t *testing.T) {
	heavy(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for peers, hash := range map[int]message.Algorithm{1: message.Blake3, 4: message.WakuSHA256} {
		t.Run(fmt.Sprint(peers, " ", hash), func(t *testing.T) {
			o := small(t, Micro, Macro)
			o.FilterPeers, o.Hash, o.Paths = peers, hash, Paths()[:3]
			r := mustRun(t, o)
			checkFilterRuns(t, r, peers)
			checkAcceptance(t, r)
		})
	}
}

func checkFilterRuns(t *testing.T, r verdict.Result, peers int) {
	t.Helper()
	if len(r.Runs) != 6 || !r.Verified || r.Settings.FilterPeers != peers {
		t.Fatalf("%d runs, verified %v, %d light peers", len(r.Runs), r.Verified, r.Settings.FilterPeers)
	}
	for i, run := range r.Runs {
		want := []string{fmt.Sprintf("micro_filter%d_run1", peers), fmt.Sprintf("macro_filter%d", peers)}[i/3]
		if run.Scenario != want || !run.Verified || run.LatencyP50 == nil {
			t.Errorf("run %d is %s, verified %v, latency %v; want %s", i, run.Scenario, run.Verified, run.LatencyP50, want)
		}
		var sum counters.Counts
		filter := uint64(0)
		for _, n := range run.Nodes {
			sum = sum.Add(counters.Total(n.Sites))
			for _, s := range n.Sites {
				if strings.HasPrefix(s.Site, "filter.") {
					filter += s.Hashes
				}
			}
		}
		hashes, encodes := uint64(0), uint64(i/3*run.Messages)
		if run.Path == "baseline" {
			hashes = uint64(2 * run.Messages)
		}
		if counters.Enabled && (filter != hashes || sum.Encodes != encodes) {
			t.Errorf("%s, path %s: %d hashes of the filter, %d encodes; want %d, %d", run.Scenario, run.Path, filter, sum.Encodes, hashes, encodes)
		}
	}
}

// A push that is lost is told at once, and makes the run invalid.
func TestLostPushIsTold(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	m := NewMacro(NodeOptions{Reach: relay.ReachNode, Archive: "memory", FilterPeers: 2, Logger: slog.New(slog.DiscardHandler)}).(*macroTarget)
	defer m.Close()
	messages := NewWorkload(1, Profile{Sizes: []int{100}, Mix: []int{100}}, PubsubTopic, 500, time.Now(), 0).Messages
	if err := m.Start(t.Context(), messages); err != nil {
		t.Fatal(err)
	}
	if err := m.lights[1].host.Close(); err != nil {
		t.Fatal(err)
	}
	for i := 0; len(m.Losses()) == 0 && i < len(messages); i++ {
		if err := m.Publish(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		for m.lights[0].client.Stats().Delivered <= uint64(i) {
			runtime.Gosched()
		}
	}
	if lost := m.Losses(); len(lost) != 1 || !strings.Contains(lost[0], "node B: ") || !strings.Contains(lost[0], "pushes lost, cause ") {
		t.Fatalf("lost: %q", lost)
	}
	nodes, err := m.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := checkNodes(nodes[1:], int(nodes[1].Delivered)); !errors.Is(err, errInvalid) || !strings.Contains(err.Error(), "node B dropped") {
		t.Errorf("got %v", err)
	}
}

// What reaches a light peer is compared with what was published.
func TestWhatWasAlteredIsFound(t *testing.T) {
	sent := NewWorkload(1, DefaultProfile(), PubsubTopic, 2, time.Unix(1, 0), 0).Messages
	target := nodeTarget{sent: sent, numbers: NewNumbers(sent)}
	wrap := func(topic string, alter func(*pb.WakuMessage)) *message.Envelope {
		m := proto.Clone(sent[1]).(*pb.WakuMessage)
		alter(m)
		env, err := message.Seal(counters.Set{}, message.Format{}, topic, m, siteApp)
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	if i, err := target.same(wrap(PubsubTopic, func(*pb.WakuMessage) {})); i != 1 || err != nil {
		t.Errorf("unaltered: %d, %v", i, err)
	}
	for name, env := range map[string]*message.Envelope{
		"topic":     wrap("/other", func(*pb.WakuMessage) {}),
		"payload":   wrap(PubsubTopic, func(m *pb.WakuMessage) { m.Payload[100] ^= 1 }),
		"content":   wrap(PubsubTopic, func(m *pb.WakuMessage) { m.ContentTopic = "/x" }),
		"timestamp": wrap(PubsubTopic, func(m *pb.WakuMessage) { m.Timestamp = proto.Int64(1) }),
		"meta":      wrap(PubsubTopic, func(m *pb.WakuMessage) { m.Meta = []byte("m") }),
		"number":    wrap(PubsubTopic, func(m *pb.WakuMessage) { m.Payload[7] = 9 }),
		"no number": wrap(PubsubTopic, func(m *pb.WakuMessage) { m.Payload = nil }),
	} {
		if _, err := target.same(env); err == nil {
			t.Errorf("another %s: not found", name)
		}
	}
}

func TestFilterOptionsAreRefused(t *testing.T) {
	for peers, want := range map[int]string{-1: "-1 filter peers", 101: "101 filter peers: want 0 to 100", 1: `path "raw" with 1 filter peers`} {
		o := DefaultOptions()
		o.FilterPeers = peers
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %q", peers, err, want)
		}
	}
}
