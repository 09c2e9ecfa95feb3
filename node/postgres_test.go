package node

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/internal/postgrestest"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
)

func TestPostgres(t *testing.T) {
	url := postgrestest.Database(t)
	for reach := relay.ReachStage; reach <= relay.ReachNode; reach++ {
		t.Run(reach.String(), func(t *testing.T) { exchange(t, url, reach) })
	}
}

// stored returns a node on shard0 with its archive at url, and what it delivers.
func stored(t *testing.T, url string, log *slog.Logger) (*running, app) {
	t.Helper()
	delivered := make(app, 10_000)
	o := options(shard0)
	o.Archive, o.Sync, o.Logger, o.Relay.Stages = url, true, log, []relay.Stage{delivered.stage}
	return run(t, o), delivered
}

// A server that stops and starts while messages come loses none of them, and the
// node says that it is not ready meanwhile.
func TestPostgresRestarts(t *testing.T) {
	const part = 200 // the queues hold three
	server := postgrestest.Start(t)
	log := make(records, 100_000)
	b, delivered := stored(t, server.URL(), slog.New(log))
	a := run(t, options(shard0))
	join(t, a, b, shard0)
	expect(t, b.Node, "/readyz", http.StatusOK, "ok")

	var want []message.Key
	during := func(first int, change func() error) {
		t.Helper()
		changed := make(chan error, 1)
		go func() { changed <- change() }()
		want = append(want, publish(t, a, shard0, first, first+part)...)
		if err := <-changed; err != nil {
			t.Fatal(err)
		}
	}
	during(0, server.Stop)
	want = append(want, publish(t, a, shard0, part, 2*part)...)
	log.await(t, "postgres is away, writes wait")
	expect(t, b.Node, "/readyz", http.StatusServiceUnavailable, "postgres: away")
	expect(t, b.Node, "/healthz", http.StatusOK, "ok")
	during(2*part, func() error { return server.Start(t.Context()) })

	got := delivered.take(t, len(want))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("delivered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, archived(t, b.Archive().Keys(deadline(t)))); diff != "" {
		t.Errorf("archive (-want +got):\n%s", diff)
	}
	expect(t, b.Node, "/readyz", http.StatusOK, "ok")
	expect(t, b.Node, "/metrics", http.StatusOK, `msgpath_archive_messages_total{outcome="stored"} 600`)
	expect(t, b.Node, "/metrics", http.StatusOK, `msgpath_archive_messages_total{outcome="failed"} 0`)
	expect(t, b.Node, "/metrics", http.StatusOK, `msgpath_delivered_total{topic="/waku/2/rs/0/0"} 600`)
}

// Two nodes that share an archive deliver each message both, whoever stores it,
// and each once.
func TestNodesShareArchive(t *testing.T) {
	const n = 50
	url := postgrestest.Database(t)
	log := slog.New(slog.DiscardHandler)
	b, fromB := stored(t, url, log)
	c, fromC := stored(t, url, log)
	a := run(t, options(shard0))
	join(t, a, b, shard0)
	join(t, a, c, shard0)
	if err := a.Relay().WaitMesh(deadline(t), shard0, 2); err != nil {
		t.Fatal(err)
	}
	want := publish(t, a, shard0, 0, n)
	for _, delivered := range []app{fromB, fromC} {
		if diff := cmp.Diff(want, delivered.take(t, n)); diff != "" {
			t.Errorf("delivered (-want +got):\n%s", diff)
		}
	}
	for _, r := range []*running{b, c} {
		if diff := cmp.Diff(want, slices.Collect(r.SyncSet().Keys())); diff != "" {
			t.Errorf("sync set (-want +got):\n%s", diff)
		}
	}
	if sum := b.Archive().Stats().Stored + c.Archive().Stats().Stored; sum != n {
		t.Errorf("stored %d times, want %d", sum, n)
	}
	requireOnce(t, b, c)
}

// requireOnce sends a message to each node twice, in bytes that differ outside
// its hash, and expects that it is known the second time.
func requireOnce(t *testing.T, nodes ...*running) {
	t.Helper()
	for _, r := range nodes {
		before := r.Relay().Stats()[0]
		for _, proof := range []string{"one", "another"} {
			m := numbered(999)
			m.RateLimitProof = []byte(proof)
			data, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Relay().Inject(deadline(t), &pubsub.Message{Message: &pubsubpb.Message{Data: data, Topic: proto.String(shard0)}}); err != nil {
				t.Fatal(err)
			}
		}
		r.stop(t) // commits
		after := r.Relay().Stats()[0]
		if d, k := after.Delivered-before.Delivered, after.Known-before.Known; d != 1 || k != 1 {
			t.Errorf("delivered %d times and known %d times, want once each", d, k)
		}
	}
}

// What names an archive may hold a password.
func TestArchiveSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, name := range []string{
		"postgres://u:" + secret + "/db", "postgres://u:" + secret + "@h:x/db", "mysql://u:" + secret + "@h/db",
		"postgres://u:a@" + secret + "@127.0.0.1:1/db", "postgres://u:1/" + secret + "@127.0.0.1/db",
		"host=db user=u password=" + secret, "postgres:u:" + secret + "@db/x", "memory:" + secret,
	} {
		if err := (Options{Archive: name}).Validate(); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("options: %v", err)
		}
		if _, err := ArchiveFile(name); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("archive file: %v", err)
		}
	}
	o := Options{Archive: "postgres://u:" + secret + "@127.0.0.1:1/db?connect_timeout=1"}
	n, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Run(deadline(t)); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("run: %v", err)
	}
}
