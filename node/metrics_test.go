package node

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/relay"
)

// workload has A publish 10 messages to B at a log level, with scrapes between
// them if asked for, and returns both after they have stopped.
func workload(t *testing.T, level slog.Level, scrape bool, set func(*Options)) (a, b *running) {
	t.Helper()
	seen, echo := make(app, 10), make(app, 10)
	o := options(shard0)
	set(&o)
	o.Logger = slog.New(slog.NewJSONHandler(t.Output(), &slog.HandlerOptions{Level: level}))
	oa, ob := o, o
	oa.Relay.Counts, ob.Relay.Counts = counters.New(), counters.New()
	oa.Relay.Stages = []relay.Stage{echo.stage}
	ob.Archive, ob.Sync = "sqlite::memory:", true
	ob.Relay.Stages = []relay.Stage{seen.stage}
	a, b = run(t, oa), run(t, ob)
	join(t, a, b, shard0)
	for i := range 10 {
		publish(t, a, shard0, i, i+1)
		seen.take(t, 1)
		echo.take(t, 1)
		if scrape {
			expect(t, a.Node, "/metrics", http.StatusOK, "msgpath_published_total")
			expect(t, b.Node, "/metrics", http.StatusOK, "msgpath_delivered_total")
		}
	}
	a.stop(t)
	b.stop(t)
	return a, b
}

// Neither the log nor a scrape decodes, hashes or copies anything.
func TestLogAndScrapesCountNothing(t *testing.T) {
	for reach := relay.ReachStage; reach <= relay.ReachNode; reach++ {
		t.Run(reach.String(), func(t *testing.T) {
			set := func(o *Options) { o.Relay.Reach = reach }
			plainA, plainB := workload(t, slog.LevelError, false, set)
			want := [2][]counters.SiteCounts{counters.Load(plainA.options.Relay.Counts), counters.Load(plainB.options.Relay.Counts)}
			if counters.Enabled && counters.Total(want[1]).Decodes == 0 {
				t.Fatal("the receiver decoded nothing: nothing is compared")
			}
			for _, level := range []slog.Level{slog.LevelWarn, slog.LevelInfo, slog.LevelDebug} {
				a, b := workload(t, level, true, set)
				got := [2][]counters.SiteCounts{counters.Load(a.options.Relay.Counts), counters.Load(b.options.Relay.Counts)}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%v with scrapes (-error level without +got):\n%s", level, diff)
				}
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	a, b := workload(t, slog.LevelError, false, func(*Options) {})
	for text, n := range map[string]*running{
		`msgpath_message_copies_total{direction="out",topic="/waku/2/rs/0/0"} 10`:     a,
		`msgpath_message_written_total{topic="/waku/2/rs/0/0"} 10`:                    a,
		`msgpath_published_total{outcome="accepted",topic="/waku/2/rs/0/0"} 10`:       a,
		`msgpath_message_size_bytes_count{direction="out",topic="/waku/2/rs/0/0"} 10`: a,
		`msgpath_message_copies_total{direction="in",topic="/waku/2/rs/0/0"} 10`:      b,
		`msgpath_message_size_bytes_count{direction="in",topic="/waku/2/rs/0/0"} 10`:  b,
		`msgpath_message_size_bytes_sum{direction="in",topic="/waku/2/rs/0/0"} 340`:   b,
		`msgpath_message_bytes_total{direction="in",topic="/waku/2/rs/0/0"} 340`:      b,
		`msgpath_message_duplicates_total{topic="/waku/2/rs/0/0"} 0`:                  b,
		`msgpath_validated_total{topic="/waku/2/rs/0/0"} 10`:                          b,
		`msgpath_rejected_total{cause="decode",topic="/waku/2/rs/0/0"} 0`:             b,
		`msgpath_dropped_total{cause="subscription",topic="/waku/2/rs/0/0"} 0`:        b,
		`msgpath_dropped_total{cause="outbound_queue",topic="/waku/2/rs/0/0"} 0`:      b,
		`msgpath_delivered_total{topic="/waku/2/rs/0/0"} 10`:                          b,
		`msgpath_archive_messages_total{outcome="stored"} 10`:                         b,
		`msgpath_archive_insert_seconds_count 10`:                                     b,
		`msgpath_storesync_messages 10`:                                               b,
		`msgpath_recovered_total{topic="/waku/2/rs/0/0"} 0`:                           b,
		`msgpath_storesync_sessions_total{outcome="completed",side="answered"} 0`:     b,
		`msgpath_storesync_transfers_total{outcome="synced"} 0`:                       b,
		`msgpath_storesync_bytes_total{direction="in"} 0`:                             b,
		`msgpath_archive_queue_messages 0`:                                            b,
		`msgpath_connected_peers 0`:                                                   b,
		`msgpath_mesh_peers{topic="/waku/2/rs/0/0"} 0`:                                b,
	} {
		expect(t, n.Node, "/metrics", http.StatusOK, text+"\n")
	}
	_, page := get(b.Node, "/metrics")
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for c := relay.RejectDecode; c <= relay.DropLeft; c++ {
		if !strings.Contains(page, fmt.Sprintf("_total{cause=%q,topic=%q} 0\n", c, shard0)) {
			t.Errorf("no count of cause %v", c)
		}
	}
}

func TestLabelIsUTF8(t *testing.T) {
	for in, want := range map[string]string{shard0: shard0, "a\xffb": "a\uFFFDb", "": ""} {
		if got := label(in); got != want || !utf8.ValidString(got) {
			t.Errorf("label(%q) is %q, want %q", in, got, want)
		}
	}
	n, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	n.metrics.observe(relay.Observation{Event: relay.Received, Topic: "a\xffb", Size: 3})
	expect(t, n, "/metrics", http.StatusOK, `topic="a`+"\uFFFD"+`b"`)
}
