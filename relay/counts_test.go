package relay

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// work is what one message costs at one site.
type work struct{ decodes, hashes, idHashes, encodes, copies uint64 }

// perMessage is the table of what one message costs each node, by site. A only
// relays and delivers to itself; B stores, syncs and has an app that asks for no
// hash.
var perMessage = map[Reach][2]map[string]work{
	ReachStage: {
		{
			"relay.publish":   {hashes: 1, encodes: 1},
			"relay.gossip_id": {idHashes: 1},
			"relay.on_send":   {decodes: 1, hashes: 1, copies: 1},
			"relay.handler":   {decodes: 1, copies: 1},
		}, {
			"relay.gossip_id":     {idHashes: 1},
			"relay.on_recv":       {decodes: 1, copies: 1},
			"relay.validator":     {decodes: 1, copies: 1},
			"relay.on_validated":  {decodes: 1, hashes: 1, copies: 1},
			"relay.handler":       {decodes: 1, copies: 1},
			"relaytest.archive":   {hashes: 1},
			"relaytest.storesync": {hashes: 1},
		},
	},
	ReachDispatch: {
		{
			"relay.publish":   {hashes: 1, encodes: 1},
			"relay.gossip_id": {idHashes: 1},
			"relay.handler":   {decodes: 1, copies: 1},
			"relay.envelope":  {hashes: 1},
		}, {
			"relay.gossip_id": {idHashes: 1},
			"relay.validator": {decodes: 1, copies: 1},
			"relay.handler":   {decodes: 1, copies: 1},
			"relay.envelope":  {hashes: 1},
		},
	},
	ReachNode: {
		{
			"relay.publish":   {hashes: 1, encodes: 1},
			"relay.gossip_id": {idHashes: 1},
		}, {
			"relay.gossip_id": {idHashes: 1},
			"relay.validator": {decodes: 1},
			"relay.envelope":  {hashes: 1},
		},
	},
}

// totals are the sums of the table over both nodes, decodes and hashes.
var totals = map[Reach][2]uint64{ReachStage: {6, 5}, ReachDispatch: {3, 3}, ReachNode: {1, 2}}

// batch is a number of messages and the bytes each kind of event is given. An id
// is given those that a message hash is charged for only where none shares its
// pass.
type batch struct{ n, encoded, hashed, idHashed, copied uint64 }

func (b *batch) add(m *pb.WakuMessage, topic string) {
	size, payload := uint64(proto.Size(m)), uint64(len(m.Payload))
	b.n++
	b.encoded += size
	b.hashed += payload + uint64(len(m.Meta))
	b.idHashed += size + uint64(len(topic))
	b.copied += payload
}

// sharing returns b where a message hash is charged for the payload of each id.
func (b batch) sharing(reach Reach, a message.Algorithm) batch {
	if reach == ReachNode && a == message.Blake3 {
		b.idHashed -= b.copied
	}
	return b
}

// expect returns the counts of a batch that cost w for each message at each
// site.
func (b batch) expect(w map[string]work) map[string]counters.Counts {
	all := make(map[string]counters.Counts)
	for site, w := range w {
		all[site] = counters.Counts{
			Decodes: w.decodes * b.n, DecodedBytes: w.decodes * b.encoded,
			Hashes: w.hashes * b.n, HashedBytes: w.hashes * b.hashed,
			IDHashes: w.idHashes * b.n, IDHashedBytes: w.idHashes * b.idHashed,
			Encodes: w.encodes * b.n, EncodedBytes: w.encodes * b.encoded,
			Copies: w.copies * b.n, CopiedBytes: w.copies * b.copied,
		}
	}
	return all
}

func bySite(sites []counters.SiteCounts) map[string]counters.Counts {
	all := make(map[string]counters.Counts)
	for _, s := range sites {
		all[s.Site] = s.Counts
	}
	return all
}

// TestCountsPerSite publishes on A and compares what A and B worked, at every
// reach and log level, with the table.
func TestCountsPerSite(t *testing.T) {
	for _, reach := range reaches {
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			t.Run(fmt.Sprintf("%v/%v", reach, level), func(t *testing.T) { testCounts(t, reach, message.Blake3, level) })
		}
		t.Run(fmt.Sprintf("%v/%v", reach, message.WakuSHA256), func(t *testing.T) { testCounts(t, reach, message.WakuSHA256, slog.LevelInfo) })
	}
}

func testCounts(t *testing.T, reach Reach, hash message.Algorithm, level slog.Level) {
	logger := slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: level}))
	countsA, countsB := counters.New(), counters.New()
	app := func(context.Context, *message.Envelope) error { return nil }
	optsA := Options{Counts: countsA, Reach: reach, Hash: hash, Logger: logger, RouterLogger: logger, Stages: []Stage{app}}
	optsB, store := withShelf(Options{Counts: countsB, Reach: reach, Hash: hash, Logger: logger, RouterLogger: logger, Stages: []Stage{storesync, app}})
	a, b := start(t, optsA), start(t, optsB)
	store.relay = b.Relay
	connect(t, a.host, b.host)
	a.waitMesh(topicA, 1)
	b.waitMesh(topicA, 1)

	var sent batch
	var hashes []message.Hash
	for i := range 12 {
		m := sample(i, []int{10, 2_000, 50_000}[i%3])
		m.Meta = []byte("meta")
		sent.add(m, topicA)
		hashes = append(hashes, a.publish(topicA, m))
		b.passed.wait(t, "deliveries to B", i+1)
	}
	a.passed.wait(t, "deliveries to A", len(hashes))
	a.seen[Sent].wait(t, "copies sent", len(hashes))
	if diff := cmp.Diff(hashes, b.delivered()); diff != "" {
		t.Errorf("hashes published and delivered differ: %s", diff)
	}
	if n := a.seen[Validated].load(); n != 0 {
		t.Errorf("the publisher's own messages fired on_validated %d times", n)
	}
	if !counters.Enabled {
		checkUncounted(t, countsA, countsB)
		return
	}
	sent = sent.sharing(reach, hash)
	checkCounts(t, "A", countsA, sent.expect(perMessage[reach][0]))
	checkCounts(t, "B", countsB, sent.expect(perMessage[reach][1]))
	sum := counters.Total(counters.Load(countsA)).Add(counters.Total(counters.Load(countsB)))
	if want := totals[reach]; sum.Decodes != want[0]*sent.n || sum.Hashes != want[1]*sent.n || sum.IDHashes != 2*sent.n {
		t.Errorf("%d messages: %d decodes, %d hashes, %d id hashes; want %d, %d, 2 each", sent.n, sum.Decodes, sum.Hashes, sum.IDHashes, want[0], want[1])
	}
}

func checkUncounted(t *testing.T, sets ...counters.Set) {
	t.Helper()
	for _, s := range sets {
		if got := counters.Load(s); got != nil {
			t.Errorf("a build without counters has counts: %v", got)
		}
	}
}

func checkCounts(t *testing.T, node string, s counters.Set, want map[string]counters.Counts) {
	t.Helper()
	if diff := cmp.Diff(want, bySite(counters.Load(s))); diff != "" {
		t.Errorf("%s: counts differ (-want +got):\n%s", node, diff)
	}
}

// injected is the table of what one injected message costs, by site.
var injected = map[Reach]map[string]work{
	ReachStage: {
		"relay.validator":     {decodes: 1, copies: 1},
		"relay.handler":       {decodes: 1, copies: 1},
		"relaytest.archive":   {hashes: 1},
		"relaytest.storesync": {hashes: 1},
	},
	ReachDispatch: {
		"relay.validator": {decodes: 1, copies: 1},
		"relay.handler":   {decodes: 1, copies: 1},
		"relay.envelope":  {hashes: 1},
	},
	ReachNode: {
		"relay.validator": {decodes: 1},
		"relay.envelope":  {hashes: 1},
	},
}

func TestInjectCounts(t *testing.T) {
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			counts := counters.New()
			opts, store := withShelf(Options{Counts: counts, Reach: reach, Stages: []Stage{storesync}})
			n := start(t, opts)
			store.relay = n.Relay
			var sent batch
			for i := range 10 {
				m := sample(i, 5_000)
				sent.add(m, topicA)
				if err := n.Inject(t.Context(), received(topicA, encode(t, m))); err != nil {
					t.Fatal(err)
				}
			}
			if got := n.on(topicA); got.Delivered != 10 || got.Received != 10 || n.passed.load() != 10 {
				t.Errorf("10 injected: %+v", got)
			}
			if n.seen[Received].load()+n.seen[Validated].load()+n.seen[Sent].load() != 0 {
				t.Error("observers saw an injected message")
			}
			if !counters.Enabled {
				checkUncounted(t, counts)
				return
			}
			checkCounts(t, "node", counts, sent.expect(injected[reach]))
		})
	}
}

// received returns data as gossipsub hands it on.
func received(topic string, data []byte) *pubsub.Message {
	return &pubsub.Message{Message: &pubsubpb.Message{Topic: proto.String(topic), Data: data}}
}

// TestObservations has the observers told the same events at every reach, with
// message and hash only where each is handed bytes.
func TestObservations(t *testing.T) {
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			type told struct {
				Event         Event
				Size          int
				Message, Hash bool
			}
			seen := make(chan told, 16)
			observe := func(o Observation) {
				seen <- told{o.Event, o.Size, o.Message != nil, o.Hash != message.Hash{}}
			}
			a, b := pair(t, Options{Reach: reach, Observers: []Observer{observe}}, Options{Reach: reach, Observers: []Observer{observe}})
			m := sample(0, 100)
			a.publish(topicA, m)
			b.passed.wait(t, "deliveries", 1)
			a.seen[Sent].wait(t, "copies sent", 1)
			size, stage := proto.Size(m), reach == ReachStage
			want := map[Event]told{
				Received:  {Received, size, stage, false},
				Validated: {Validated, size, stage, stage},
				Sent:      {Sent, size, stage, stage},
			}
			for range want {
				got := <-seen
				if got != want[got.Event] {
					t.Errorf("observed %+v, want %+v", got, want[got.Event])
				}
			}
		})
	}
}
