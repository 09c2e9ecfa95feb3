package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

const (
	topicA       = "/waku/2/rs/0/0"
	topicB       = "/waku/2/rs/0/1"
	contentTopic = "/relay/1/test/proto"
)

// Where the consumers of the tests work on messages.
var (
	siteArchive   = counters.NewSite("relaytest.archive")
	siteStoresync = counters.NewSite("relaytest.storesync")
	siteAsk       = counters.NewSite("relaytest.ask")
)

var reaches = []Reach{ReachStage, ReachDispatch, ReachNode}

// TestMain looks for goroutines left behind. Those of gossipsub and of hosts end
// some time after they are told to, so that it looks several times.
func TestMain(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for range 20 {
		if err == nil {
			break
		}
		err = goleak.Find()
	}
	if err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// deadline bounds every wait of a test: it is reached only by one that fails.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// count is a number that a test can wait for.
type count struct {
	mu      sync.Mutex
	n       int
	changed chan struct{}
}

func (c *count) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

func (c *count) load() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *count) wait(t testing.TB, what string, n int) {
	t.Helper()
	ctx := deadline(t)
	for {
		c.mu.Lock()
		if c.n >= n {
			c.mu.Unlock()
			return
		}
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		have, changed := c.n, c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%s: %d of %d came", what, have, n)
		}
	}
}

// newHost returns a host on loopback TCP.
func newHost(t testing.TB) host.Host {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.Transport(tcp.NewTCPTransport),
		libp2p.DisableRelay(), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func connect(t testing.TB, from, to host.Host) {
	t.Helper()
	if err := from.Connect(deadline(t), peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
		t.Fatal(err)
	}
}

// node is a running Relay and what a test wants to know of it.
type node struct {
	*Relay
	t       testing.TB
	host    host.Host
	done    chan error
	seen    [3]count // of each Event
	settled bool

	mu     sync.Mutex
	hashes []message.Hash // what passed the last stage, in order
	passed count
}

// start runs a Relay with o on topicA, or the topics of o. Its last stage is a
// witness; it is closed, and its accounts are checked, when the test ends.
func start(t testing.TB, o Options) *node {
	t.Helper()
	return startOn(t, newHost(t), o)
}

func startOn(t testing.TB, h host.Host, o Options) *node {
	t.Helper()
	n := unstarted(t, h, o)
	go func() { n.done <- n.Run(context.Background()) }()
	select {
	case <-n.Ready():
	case err := <-n.done:
		t.Fatalf("run: %v", err)
	}
	t.Cleanup(n.settle)
	return n
}

func unstarted(t testing.TB, h host.Host, o Options) *node {
	t.Helper()
	n := &node{t: t, host: h, done: make(chan error, 1)}
	if o.Topics == nil {
		o.Topics = []string{topicA}
	}
	o.Stages = append(slices.Clone(o.Stages), n.witness)
	o.Observers = append(slices.Clone(o.Observers), func(o Observation) { n.seen[o.Event].add() })
	r, err := New(h, o)
	if err != nil {
		t.Fatal(err)
	}
	n.Relay = r
	return n
}

// witness is the last stage of every test: whatever was handed out still is what
// the bytes say.
func (n *node) witness(_ context.Context, env *message.Envelope) error {
	defer n.passed.add()
	if err := compare(n.opts.Hash, env); err != nil {
		n.t.Errorf("last stage: %v", err)
		return nil
	}
	shared, err := env.Message(siteAsk)
	if err != nil {
		n.t.Errorf("last stage: %v", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hashes = append(n.hashes, n.opts.Hash.Sum(env.Topic(), shared))
	return nil
}

// compare decodes and hashes the bytes of env anew, outside the counted path, and
// compares them with the message that env hands out.
func compare(a message.Algorithm, env *message.Envelope) error {
	own, err := message.Copying.Decode(env.Bytes())
	if err != nil {
		return err
	}
	shared, err := env.Message(siteAsk)
	if err != nil {
		return err
	}
	if !proto.Equal(own, shared) || a.Sum(env.Topic(), shared) != a.Sum(env.Topic(), own) {
		return errors.New("message handed out differs from its bytes")
	}
	return nil
}

func (n *node) delivered() []message.Hash {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.hashes)
}

// settle closes the Relay, after which nothing is under way, and checks the
// equation of the package's document.
func (n *node) settle() {
	n.t.Helper()
	if n.settled {
		return
	}
	n.settled = true
	if err := n.Close(); err != nil {
		n.t.Errorf("close: %v", err)
	}
	if err := <-n.done; err != nil {
		n.t.Errorf("run: %v", err)
	}
	for _, s := range n.Stats() {
		checkBalance(n.t, s)
	}
}

func checkBalance(t testing.TB, s Stats) {
	t.Helper()
	in := s.Received - s.Duplicates + s.Published + s.Recovered
	if out := s.Delivered + s.Known + s.Rejected() + s.Dropped(); in != out {
		t.Errorf("topic %s does not balance: in %d, out %d: %+v", s.Topic, in, out, s)
	}
}

// on returns the counts of a topic.
func (n *node) on(name string) Stats {
	for _, s := range n.Stats() {
		if s.Topic == name {
			return s
		}
	}
	return Stats{Topic: name}
}

func (n *node) waitMesh(name string, peers int) {
	n.t.Helper()
	if err := n.WaitMesh(deadline(n.t), name, peers); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) publish(name string, m *pb.WakuMessage) message.Hash {
	n.t.Helper()
	h, err := n.Publish(deadline(n.t), name, m)
	if err != nil {
		n.t.Fatal(err)
	}
	return h
}

// pair starts two nodes in each other's mesh.
func pair(t testing.TB, a, b Options) (*node, *node) {
	t.Helper()
	na, nb := start(t, a), start(t, b)
	connect(t, na.host, nb.host)
	na.waitMesh(topicA, 1)
	nb.waitMesh(topicA, 1)
	return na, nb
}

// sample returns the i-th message, whose payload is size bytes.
func sample(i, size int) *pb.WakuMessage {
	payload := make([]byte, max(size, 8))
	rng := rand.New(rand.NewPCG(42, uint64(i)))
	for at := 8; at+8 <= len(payload); at += 8 {
		binary.LittleEndian.PutUint64(payload[at:], rng.Uint64())
	}
	binary.LittleEndian.PutUint64(payload, uint64(i))
	return &pb.WakuMessage{Payload: payload, ContentTopic: contentTopic, Timestamp: proto.Int64(1_700_000_000_000_000_000 + int64(i))}
}

func encode(t testing.TB, m *pb.WakuMessage) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// exactly returns a message whose encoding takes size bytes.
func exactly(t testing.TB, size int) *pb.WakuMessage {
	t.Helper()
	m := sample(0, size)
	m.Payload = m.Payload[:size-(proto.Size(m)-size)]
	if got := proto.Size(m); got != size {
		t.Fatalf("message of %d bytes wanted, got %d", size, got)
	}
	return m
}

// shelf is a store that commits at once. It refuses what was stored before.
type shelf struct {
	relay  *Relay
	mu     sync.Mutex
	stored map[message.Hash][]byte
	known  int
}

// withShelf puts a shelf before the stages of o.
func withShelf(o Options) (Options, *shelf) {
	s := &shelf{stored: make(map[message.Hash][]byte)}
	o.Store = s.store
	return o, s
}

func (s *shelf) store(ctx context.Context, env *message.Envelope) error {
	h, err := env.Hash(siteArchive)
	if err != nil {
		return err
	}
	s.relay.Stored(ctx, env, s.put(h, env.Bytes()))
	return nil
}

func (s *shelf) put(h message.Hash, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.stored[h]; ok {
		s.known++
		return fmt.Errorf("shelf: %w", ErrDuplicate)
	}
	s.stored[h] = slices.Clone(data)
	return nil
}

// storesync is a stage that asks for the hash.
func storesync(_ context.Context, env *message.Envelope) error {
	_, err := env.Hash(siteStoresync)
	return err
}

// wire is a peer without a router: it writes the frames that it is told to.
type wire struct {
	t      testing.TB
	host   host.Host
	stream network.Stream
}

// dial returns a wire connected to n. Its host speaks no gossipsub, so that n
// sends it nothing.
func dial(t testing.TB, n *node) *wire {
	t.Helper()
	return dialFrom(t, newHost(t), n, pubsub.GossipSubID_v11)
}

func dialFrom(t testing.TB, h host.Host, n *node, p protocol.ID) *wire {
	t.Helper()
	connect(t, h, n.host)
	s, err := h.NewStream(deadline(t), n.host.ID(), p)
	if err != nil {
		t.Fatal(err)
	}
	return &wire{t: t, host: h, stream: s}
}

// send writes one RPC that holds a message for each of data.
func (w *wire) send(name string, data ...[]byte) {
	w.t.Helper()
	rpc := new(pubsubpb.RPC)
	for _, d := range data {
		rpc.Publish = append(rpc.Publish, &pubsubpb.Message{Topic: proto.String(name), Data: d})
	}
	w.write(rpc)
}

func (w *wire) write(rpc *pubsubpb.RPC) {
	w.t.Helper()
	if _, err := protodelim.MarshalTo(w.stream, rpc); err != nil {
		w.t.Fatal(err)
	}
}

// samples returns the encodings of the messages numbered from up to to.
func samples(t testing.TB, from, to, size int) (all [][]byte) {
	t.Helper()
	for i := from; i < to; i++ {
		all = append(all, encode(t, sample(i, size)))
	}
	return all
}

// gate is a stage or validator that holds whoever comes until it is opened.
type gate struct {
	opened  chan struct{}
	once    sync.Once
	waiting count
}

func newGate(t testing.TB) *gate {
	g := &gate{opened: make(chan struct{})}
	t.Cleanup(g.open)
	return g
}

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

func (g *gate) pass(ctx context.Context, _ *message.Envelope) error {
	g.waiting.add()
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errRefused = errors.New("refused by the test")

// refuse returns a validator or stage that fails with err, and counts.
func refuse(err error, calls *atomic.Int64) func(context.Context, *message.Envelope) error {
	return func(context.Context, *message.Envelope) error {
		calls.Add(1)
		return err
	}
}
