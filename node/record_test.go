package node

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/relay"
)

// recorded has A publish 10 messages to B, and returns B once both have stopped.
func recorded(t *testing.T, o Options) *running {
	t.Helper()
	seen := make(app, 10)
	o.Relay.Topics, o.Listen = []string{shard0}, []string{loopback}
	o.Relay.Counts = counters.New()
	o.Relay.Stages = []relay.Stage{seen.stage}
	a, b := run(t, options(shard0)), run(t, o)
	join(t, a, b, shard0)
	for i := range 10 {
		publish(t, a, shard0, i, i+1)
		seen.take(t, 1)
	}
	a.stop(t)
	b.stop(t)
	return b
}

// TestRecord: what was accepted is recorded once and in order, with and without an
// archive, and counts nothing.
func TestRecord(t *testing.T) {
	for reach := relay.ReachStage; reach <= relay.ReachNode; reach++ {
		for _, archive := range []string{"", "sqlite::memory:"} {
			t.Run(reach.String()+" "+archive, func(t *testing.T) {
				o := Options{Archive: archive, Relay: relay.Options{Reach: reach}}
				plain := recorded(t, o)
				o.Record.Path = filepath.Join(t.TempDir(), "x.corpus")
				before := time.Now().Round(0)
				b := recorded(t, o)
				checkRecording(t, o.Record.Path, before, time.Now())
				if diff := cmp.Diff(counters.Load(plain.options.Relay.Counts), counters.Load(b.options.Relay.Counts)); diff != "" {
					t.Errorf("recording counts (-without +with):\n%s", diff)
				}
				expect(t, b.Node, "/metrics", http.StatusOK, `msgpath_recorded_messages_total{outcome="recorded"} 10`+"\n")
				expect(t, b.Node, "/metrics", http.StatusOK, "msgpath_recorded_bytes_total 340\n")
				expect(t, b.Node, "/metrics", http.StatusOK, "msgpath_recording 1\n")
			})
		}
	}
}

// checkRecording expects the messages 0 to 9, which arrived after a time and
// before another.
func checkRecording(t *testing.T, path string, after, before time.Time) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	i := 0
	for r, err := range corpus.Read(f, path) {
		if err != nil {
			t.Fatal(err)
		}
		var m pb.WakuMessage
		if err := proto.Unmarshal(r.Message, &m); err != nil || !proto.Equal(&m, numbered(i)) || r.Topic != shard0 {
			t.Errorf("record %d is %v on %s, want %v (%v)", i, &m, r.Topic, numbered(i), err)
		}
		if r.At.Before(after) || r.At.After(before) {
			t.Errorf("record %d arrived at %v, want from %v to %v", i, r.At, after, before)
		}
		after = r.At
		i++
	}
	if i != 10 {
		t.Errorf("%d records, want 10", i)
	}
}

// TestRecordFails: a recording that cannot go on disturbs nobody, and shows.
func TestRecordFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.corpus")
	o := Options{Record: corpus.Options{Path: path, MaxBytes: corpus.MinMaxBytes}}
	seen := make(app, 10)
	o.Relay.Topics, o.Listen, o.Relay.Stages = []string{shard0}, []string{loopback}, []relay.Stage{seen.stage}
	a, b := run(t, options(shard0)), run(t, o)
	join(t, a, b, shard0)
	if err := os.WriteFile(path+".1", []byte("not ours"), 0o600); err != nil { // the way of the next file is barred
		t.Fatal(err)
	}
	for i := range 10 {
		m := numbered(i)
		m.Payload = []byte(strings.Repeat("x", 1000+i))
		if _, err := a.Relay().Publish(deadline(t), shard0, m); err != nil {
			t.Fatal(err)
		}
		seen.take(t, 1)
	}
	b.stop(t)
	expect(t, b.Node, "/metrics", http.StatusOK, `msgpath_recorded_messages_total{outcome="recorded"} 3`+"\n")
	expect(t, b.Node, "/metrics", http.StatusOK, `msgpath_recorded_messages_total{outcome="failed"} 7`+"\n")
	expect(t, b.Node, "/metrics", http.StatusOK, "msgpath_recording 0\n")
	expect(t, b.Node, "/metrics", http.StatusOK, `msgpath_delivered_total{topic="/waku/2/rs/0/0"} 10`+"\n")
}
