package p2p

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/storesync"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

// TestMain looks for goroutines left behind. Those of hosts end some time after
// they are told to, so that it looks several times.
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

const topic = "/waku/2/rs/0/0"

// deadline bounds every wait of a test: it is reached only by one that fails.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func numbered(i int) *pb.WakuMessage {
	return &pb.WakuMessage{
		Payload:      fmt.Appendf(nil, "message %d", i),
		ContentTopic: "/p2p/1/test/proto",
		Timestamp:    proto.Int64(int64(1000 + i)),
	}
}

func hashOf(m *pb.WakuMessage) message.Hash { return message.Blake3.Sum(topic, m) }

// shelf is a store in memory.
type shelf struct {
	mu       sync.Mutex
	messages map[message.Hash]*pb.WakuMessage
	set      storesync.Set
	taken    []message.Hash // by Accept, in order
	looked   int            // calls of Load

	syncer *Syncer
	// What Accept answers and whether it commits at once; nil: nil, and it does.
	accept func(*message.Envelope) (commit bool, err error)
}

func newShelf(messages ...*pb.WakuMessage) *shelf {
	s := &shelf{messages: make(map[message.Hash]*pb.WakuMessage)}
	for _, m := range messages {
		s.put(m)
	}
	return s
}

func shelfOf(from, to int) *shelf {
	s := newShelf()
	for i := from; i < to; i++ {
		s.put(numbered(i))
	}
	return s
}

func (s *shelf) put(m *pb.WakuMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := hashOf(m)
	s.messages[h] = m
	s.set.Insert(message.Key{Timestamp: m.GetTimestamp(), Hash: h})
}

func (s *shelf) keys() []message.Key { return slices.Collect(s.set.Keys()) }

func (s *shelf) accepted() []message.Hash {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

func (s *shelf) store() Store {
	return Store{Snapshot: s.snapshot, Load: s.load, Has: s.has, Accept: s.take}
}

func (s *shelf) snapshot(from, to int64) (negentropy.Set, error) {
	var items []negentropy.Item
	for k := range s.set.Keys() {
		if from <= k.Timestamp && k.Timestamp < to {
			item, err := negentropy.ItemOf(k)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
	}
	return negentropy.NewVector(items)
}

func (s *shelf) load(_ context.Context, h message.Hash) (string, *pb.WakuMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked++
	return topic, s.messages[h], nil
}

func (s *shelf) has(_ context.Context, h message.Hash) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages[h] != nil, nil
}

func (s *shelf) take(_ context.Context, env *message.Envelope) error {
	h, err := env.Hash(siteReceive)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.taken = append(s.taken, h)
	s.mu.Unlock()
	commit := true
	if s.accept != nil {
		commit, err = s.accept(env)
	}
	if err == nil && commit {
		s.commit(env)
	}
	return err
}

func (s *shelf) commit(env *message.Envelope) {
	m, err := env.Message(siteReceive)
	if err == nil {
		s.put(m)
	}
	s.syncer.Stored(env, err)
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

// node is a running Syncer on a host of its own.
type node struct {
	*Syncer
	*shelf
	host   host.Host
	counts counters.Set
}

// start runs a Syncer over a shelf until the test ends.
func start(t testing.TB, s *shelf, o Options) *node {
	t.Helper()
	n := &node{shelf: s, host: newHost(t), counts: counters.New()}
	o.Counts = n.counts
	n.Syncer = newSyncer(t, n.host, s, o)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(context.Background()) }()
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	<-n.Ready()
	return n
}

func newSyncer(t testing.TB, h host.Host, s *shelf, o Options) *Syncer {
	t.Helper()
	if o.Settle == 0 {
		o.Settle = time.Nanosecond
	}
	if o.Range == 0 { // the messages of the tests are of 1970
		o.Range = 100 * 365 * 24 * time.Hour
	}
	syncer, err := New(h, s.store(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.syncer = syncer
	return syncer
}

// sync runs a session of n with another node, which must work, and waits for its end
// on the other side, where the next would be declined before.
func (n *node) sync(t testing.TB, with *node) Report {
	t.Helper()
	r := n.syncBeside(t, with)
	endSession(t, with)
	return r
}

// syncBeside is sync beside another session of with.
func (n *node) syncBeside(t testing.TB, with *node) Report {
	t.Helper()
	connect(t, n.host, with.host)
	r, err := n.Sync(deadline(t), with.host.ID())
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	return r
}

// same fails t unless both hold the same keys, and each message is its hash's.
func same(t testing.TB, a, b *shelf) {
	t.Helper()
	if !slices.Equal(a.keys(), b.keys()) {
		t.Errorf("sets of %d and %d keys differ", len(a.keys()), len(b.keys()))
	}
	for _, s := range []*shelf{a, b} {
		if len(s.messages) != len(s.keys()) {
			t.Errorf("%d messages, %d keys", len(s.messages), len(s.keys()))
		}
		for h, m := range s.messages {
			if hashOf(m) != h {
				t.Errorf("message under %s hashes to %s", h, hashOf(m))
			}
		}
	}
}

// hostile is a peer that speaks the protocol by hand.
type hostile struct {
	t    testing.TB
	host host.Host
}

func newHostile(t testing.TB) *hostile { return &hostile{t: t, host: newHost(t)} }

// answer runs play for each stream that is opened to the peer.
func (h *hostile) answer(play func(w *wire, s network.Stream)) {
	var playing sync.WaitGroup
	h.t.Cleanup(playing.Wait)
	h.host.SetStreamHandler(ID, func(s network.Stream) {
		playing.Add(1)
		defer playing.Done()
		play(newWire(s, 20*time.Second, time.Now().Add(20*time.Second)), s)
		_ = s.Close()
	})
	h.t.Cleanup(func() { h.host.RemoveStreamHandler(ID) })
}

// open opens a stream to n.
func (h *hostile) open(n *node) (*wire, network.Stream) {
	h.t.Helper()
	connect(h.t, h.host, n.host)
	s, err := h.host.NewStream(deadline(h.t), n.host.ID(), ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return newWire(s, 20*time.Second, time.Now().Add(20*time.Second)), s
}

// wide are terms that allow everything.
func wide() terms {
	t := Options{}.withDefaults().terms(0, time.Now().Add(-time.Minute).UnixNano())
	return t
}

// stored returns the answerer's side of Negentropy over the items of a shelf.
func (s *shelf) responder(t testing.TB) *negentropy.Responder {
	t.Helper()
	set, err := s.snapshot(0, time.Now().UnixNano())
	if err != nil {
		t.Error(err)
		return nil
	}
	side, err := negentropy.NewResponder(set, negentropy.Limits{})
	if err != nil {
		t.Error(err)
	}
	return side
}

// reconciled plays an honest answerer that holds a shelf, up to the first frame
// that is not of Negentropy, whose kind and body it returns.
func reconciled(t testing.TB, w *wire, s *shelf) (kind, []byte) {
	side := s.responder(t)
	body, err := w.expect(kindHello, maxHello)
	if err != nil {
		return 0, nil
	}
	theirs, err := parseTerms(body)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	mine := wide()
	mine.from, mine.to = theirs.from, theirs.to
	_ = w.write(kindHello, mine.encode())
	for {
		k, body, err := w.read(1 << 20)
		if err != nil || k != kindReconcile {
			return k, body
		}
		answer, err := side.Step(body)
		if err != nil {
			t.Error(err)
			return 0, nil
		}
		_ = w.write(kindReconcile, answer)
	}
}

// messageFrame returns the parts of a message frame.
func messageFrame(t testing.TB, topic string, m *pb.WakuMessage) [][]byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Error(err)
	}
	return [][]byte{append([]byte{byte(len(topic))}, topic...), data}
}
