package node

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/relay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	loopback = "/ip4/127.0.0.1/tcp/0"
	shard0   = "/waku/2/rs/0/0"
	shard1   = "/waku/2/rs/0/1"
)

var siteTest = counters.NewSite("nodetest.app")

// deadline bounds every wait of a test.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// running is a Node on which Run was called.
type running struct {
	*Node
	ended chan error
}

func run(t *testing.T, o Options) *running {
	t.Helper()
	n, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return runNode(t, n)
}

// runNode runs n until the test ends, when it must end without an error unless
// the test has taken its result.
func runNode(t *testing.T, n *Node) *running {
	t.Helper()
	r := &running{Node: n, ended: make(chan error, 1)}
	go func() { r.ended <- n.Run(context.Background()); close(r.ended) }()
	t.Cleanup(func() { r.stop(t) })
	select {
	case <-n.Ready():
	case err := <-r.ended:
		t.Fatalf("node ended before it was ready: %v", err)
	case <-deadline(t).Done():
		t.Fatal("node did not become ready")
	}
	return r
}

func (r *running) stop(t *testing.T) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("run: %v", err)
	}
}

// join connects a to b and waits until they are in each other's meshes.
func join(t *testing.T, a, b *running, topics ...string) {
	t.Helper()
	ctx := deadline(t)
	if err := a.Connect(ctx, b.AddrInfo()); err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		for _, n := range []*running{a, b} {
			if err := n.Relay().WaitMesh(ctx, topic, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func numbered(i int) *pb.WakuMessage {
	return &pb.WakuMessage{
		Payload:      fmt.Appendf(nil, "message %d", i),
		ContentTopic: "/test/1/node/proto",
		Timestamp:    proto.Int64(int64(1000 + i)),
	}
}

// publish publishes messages first to last-1 and returns their keys.
func publish(t *testing.T, n *running, topic string, first, last int) (keys []message.Key) {
	t.Helper()
	for i := first; i < last; i++ {
		h, err := n.Relay().Publish(deadline(t), topic, numbered(i))
		if err != nil {
			t.Fatalf("publish message %d: %v", i, err)
		}
		keys = append(keys, message.Key{Timestamp: int64(1000 + i), Hash: h})
	}
	return keys
}

// app is a stage that hands on the key of each message.
type app chan message.Key

func (a app) stage(_ context.Context, env *message.Envelope) error {
	key, err := env.Key(siteTest)
	if err == nil {
		a <- key
	}
	return err
}

// take returns the next n keys, ascending.
func (a app) take(t *testing.T, n int) (keys []message.Key) {
	t.Helper()
	ctx := deadline(t)
	for len(keys) < n {
		select {
		case k := <-a:
			keys = append(keys, k)
		case <-ctx.Done():
			t.Fatalf("%d of %d messages arrived", len(keys), n)
		}
	}
	slices.SortFunc(keys, message.Key.Compare)
	return keys
}

func archived(t *testing.T, all iter.Seq2[message.Key, error]) (keys []message.Key) {
	t.Helper()
	for k, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	return keys
}

// records is a log whose messages can be waited for.
type records chan slog.Record

func (r records) Enabled(context.Context, slog.Level) bool { return true }
func (r records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r records) WithGroup(string) slog.Handler            { return r }
func (r records) Handle(_ context.Context, rec slog.Record) error {
	r <- rec
	return nil
}

func (r records) await(t *testing.T, text string) {
	t.Helper()
	ctx := deadline(t)
	for {
		select {
		case rec := <-r:
			if rec.Message == text {
				return
			}
		case <-ctx.Done():
			t.Fatalf("no log record %q", text)
		}
	}
}

// faulty is a backend whose inserts do what a test says first.
type faulty struct {
	archive.Backend
	fault chan func() error // one for each insert
}

func (f faulty) Insert(ctx context.Context, rows []archive.Row) ([]bool, error) {
	if err := (<-f.fault)(); err != nil {
		return nil, err
	}
	return f.Backend.Insert(ctx, rows)
}

// faultyNode is a node alone on shard0 with a faulty archive.
func faultyNode(t *testing.T, o Options) (*Node, faulty) {
	t.Helper()
	o.Archive, o.Relay.Topics, o.Relay.AllowNoPeers = "memory", []string{shard0}, true
	n, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	backend := faulty{Backend: archive.NewMemory(), fault: make(chan func() error, 1)}
	n.open = func(context.Context) (archive.Backend, error) { return backend, nil }
	return n, backend
}

func options(topics ...string) Options {
	return Options{Relay: relay.Options{Topics: topics}, Listen: []string{loopback}}
}
