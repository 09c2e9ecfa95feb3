package relay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/zeebo/blake3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// surrounded is the documented layout of an id's second half, written down a
// second time.
func surrounded(topic string, before, after []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(topic)))
	b = append(b, topic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(before)))
	out := make([]byte, 32)
	blake3.DeriveKey("msgpath 2026-11-30 gossip id v2", slices.Concat(b, before, after), out)
	return out
}

func TestGossipID(t *testing.T) {
	m := sample(0, 100)
	m.Meta = []byte("meta")
	data := encode(t, m)
	at := bytes.Index(data, m.Payload)
	digest := message.DigestPayload(m.Payload)
	want := append(digest[:], surrounded(topicA, data[:at], data[at+len(m.Payload):])...)
	id := GossipID(topicA, data)
	if id != string(want) {
		t.Errorf("id %x, want %x", id, want)
	}
	if got, ok := payloadDigest(id); !ok || got != digest {
		t.Errorf("digest in the id: %x, %t; want %x", got, ok, digest)
	}
	malformed := data[:at]
	if id := GossipID(topicA, malformed); id != string(surrounded(topicA, malformed, nil)) {
		t.Errorf("id of bytes that are no message: %x", id)
	} else if _, ok := payloadDigest(id); ok {
		t.Error("an id of bytes that are no message has a payload's digest")
	}
}

// TestGossipIDCoverage: it covers the topic and every byte, and what is framed
// apart cannot be moved together.
func TestGossipIDCoverage(t *testing.T) {
	data := encode(t, sample(0, 100))
	ids := map[string]bool{GossipID(topicA, data): true}
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		ids[GossipID(topicA, changed)] = true
	}
	others := []struct {
		topic, data string
	}{{topicB, string(data)}, {topicA, string(data[:99])}, {"ab", "c"}, {"a", "bc"}, {"", "abc"}, {"abc", ""}}
	for _, o := range others {
		ids[GossipID(o.topic, []byte(o.data))] = true
	}
	if want := 1 + len(data) + len(others); len(ids) != want {
		t.Errorf("%d ids of %d inputs", len(ids), want)
	}
	if !ids[GossipID(topicA, bytes.Clone(data))] {
		t.Error("the same input gives another id")
	}
}

// forged returns copies of m's encoding that differ in what a node could
// overlook: each is another sequence of bytes, and decodes to the same message
// but for its proof.
func forged(t testing.TB, m *pb.WakuMessage) map[string][]byte {
	t.Helper()
	data := encode(t, m)
	proof := proto.CloneOf(m)
	proof.RateLimitProof = []byte("forged")
	_, _, first := protowire.ConsumeField(data)
	again := slices.Concat(data, data[:first])
	long := bytes.Clone(data[first:])
	long[1] |= 0x80 // the length of the content topic, in two bytes
	return map[string][]byte{
		"genuine":         data,
		"proof":           encode(t, proof),
		"unknown field":   append(bytes.Clone(data), 0xaa, 6, 1, 0),
		"another unknown": append(bytes.Clone(data), 0xaa, 6, 1, 1),
		"other order":     slices.Concat(data[first:], data[:first]),
		"payload twice":   again,
		"and again":       slices.Concat(again, data[:first]),
		"payload, topics": slices.Concat(data[:first], data[first:], data[first:]),
		"long length":     slices.Concat(data[:first], long[:2], []byte{0}, long[2:]),
		"group":           append(bytes.Clone(data), 0x2b, 0x2c),
		"version 0":       append(bytes.Clone(data), 0x18, 0),
	}
}

// TestForgedCopies: a forged copy that arrives first does not take the place of
// the genuine one; and all are one message.
func TestForgedCopies(t *testing.T) {
	for _, hash := range []message.Algorithm{message.Blake3, message.WakuSHA256} {
		t.Run(hash.String(), func(t *testing.T) {
			copies := forged(t, sample(0, 3_000))
			ids := make(map[string]bool)
			n := start(t, Options{Reach: ReachNode, Hash: hash})
			w := dial(t, n)
			for _, data := range copies {
				ids[GossipID(topicA, data)] = true
				w.send(topicA, data)
			}
			if len(ids) != len(copies) {
				t.Errorf("%d ids of %d copies", len(ids), len(copies))
			}
			n.passed.wait(t, "deliveries", len(copies))
			want := hash.Sum(topicA, sample(0, 3_000))
			for _, h := range n.delivered() {
				if h != want {
					t.Errorf("a copy has hash %v, want %v", h, want)
				}
			}
		})
	}
}

// FuzzGossipID: two inputs have one id if, and only if, they are equal.
func FuzzGossipID(f *testing.F) {
	copies := forged(f, sample(0, 8))
	for _, a := range copies {
		for _, b := range copies {
			f.Add(topicA, a, topicA, b)
		}
	}
	f.Add("ab", []byte("c"), "a", []byte("bc"))
	f.Fuzz(func(t *testing.T, topic1 string, data1 []byte, topic2 string, data2 []byte) {
		equal := topic1 == topic2 && bytes.Equal(data1, data2)
		if one := GossipID(topic1, data1) == GossipID(topic2, data2); one != equal {
			t.Errorf("equal: %t, one id: %t", equal, one)
		}
	})
}

// Messages put together of few pieces, so that two often nearly agree: where a
// payload begins, what is around it, in which order.
func TestGossipIDProperty(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"\x0a\x01x", "\x0a\x02xx", "\x0a\x00", "\x0a\x03\x0a\x01x", "\x0a\x81\x00x", "x", "\x12\x01x", "\x5a\x01x", "\xaa\x06\x01x", "\x18\x00",
	})
	draw := func(t *rapid.T) (topic string, data []byte) {
		topic = rapid.SampledFrom([]string{"", "x", "\x0a\x01x"}).Draw(t, "topic")
		for _, p := range rapid.SliceOfN(pieces, 0, 4).Draw(t, "data") {
			data = append(data, p...)
		}
		return topic, data
	}
	seen := make(map[string][2]string)
	rapid.Check(t, func(t *rapid.T) {
		topic, data := draw(t)
		input := [2]string{topic, string(data)}
		id := GossipID(topic, data)
		if other, ok := seen[id]; ok && other != input {
			t.Fatalf("%q and %q have one id", other, input)
		}
		seen[id] = input
		digest, ok := payloadDigest(id)
		if m, err := message.Aliasing.Decode(data); err == nil && (!ok || digest != message.DigestPayload(m.GetPayload())) {
			t.Fatalf("%x: the id has digest %x, %t; payload %x", data, digest, ok, m.GetPayload())
		}
	})
}

func TestGossipIDAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	data := encode(t, sample(0, 50_000))
	if got := testing.AllocsPerRun(100, func() { GossipID(topicA, data) }); got > 1 {
		t.Errorf("%v allocations, want that of the id", got)
	}
}

// TestDuplicateCost: each copy received costs an id over all of its bytes; only
// the one that is hashed as a message shares its pass.
func TestDuplicateCost(t *testing.T) {
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			counts := counters.New()
			n := start(t, Options{Counts: counts, Reach: reach})
			w := dial(t, n)
			m := sample(0, 5_000)
			data := encode(t, m)
			const copies = 4
			for range copies {
				w.send(topicA, data)
			}
			n.seen[Received].wait(t, "copies", copies)
			n.passed.wait(t, "deliveries", 1)
			n.drained(t, topicA)
			n.settle()
			if s := n.on(topicA); s.Duplicates != copies-1 || s.Delivered != 1 {
				t.Errorf("%d copies: %+v", copies, s)
			}
			want := counters.Counts{IDHashes: copies, IDHashedBytes: uint64(copies * (len(topicA) + len(data)))}
			if reach == ReachNode {
				want.IDHashedBytes -= uint64(len(m.Payload))
			}
			if got := bySite(counters.Load(counts))["relay.gossip_id"]; counters.Enabled && got != want {
				t.Errorf("%d copies cost %+v, want %+v", copies, got, want)
			}
		})
	}
}

// TestRefusedCost: what is not hashed as a message shares nothing.
func TestRefusedCost(t *testing.T) {
	counts := counters.New()
	n := start(t, Options{Counts: counts, Reach: ReachNode})
	bad := [][]byte{encode(t, &pb.WakuMessage{Payload: []byte("no content topic")}), encode(t, exactly(t, message.DefaultMaxSize+1)), []byte("\x0a\xff")}
	dial(t, n).send(topicA, bad...)
	n.seen[Received].wait(t, "copies", len(bad))
	n.drained(t, topicA)
	n.settle()
	want := counters.Counts{IDHashes: uint64(len(bad))}
	for _, data := range bad {
		want.IDHashedBytes += uint64(len(topicA) + len(data))
	}
	got := bySite(counters.Load(counts))
	if n := counters.Total(counters.Load(counts)).Hashes; n != 0 {
		t.Errorf("%d message hashes", n)
	}
	if counters.Enabled && got["relay.gossip_id"] != want {
		t.Errorf("ids cost %+v, want %+v", got["relay.gossip_id"], want)
	}
}

// TestOneHash: publisher, receiver and store agree, at every reach and with each
// algorithm, about messages with all and with few fields.
func TestOneHash(t *testing.T) {
	for _, hash := range []message.Algorithm{message.Blake3, message.WakuSHA256} {
		for _, reach := range reaches {
			t.Run(hash.String()+"/"+reach.String(), func(t *testing.T) { testOneHash(t, reach, hash) })
		}
	}
}

func testOneHash(t *testing.T, reach Reach, hash message.Algorithm) {
	opts, store := withShelf(Options{Reach: reach, Hash: hash, Stages: []Stage{storesync}})
	a, b := start(t, Options{Reach: reach, Hash: hash}), start(t, opts)
	store.relay = b.Relay
	connect(t, a.host, b.host)
	a.waitMesh(topicA, 1)
	full := sample(1, 10_000)
	full.Meta, full.RateLimitProof, full.Ephemeral, full.Version = []byte{}, []byte("proof"), proto.Bool(false), proto.Uint32(0)
	full.ProtoReflect().SetUnknown([]byte{0xaa, 6, 1, 0})
	for i, m := range []*pb.WakuMessage{full, {ContentTopic: contentTopic}, sample(2, 150_000)} {
		want := hash.Sum(topicA, m)
		if got := a.publish(topicA, m); got != want {
			t.Errorf("message %d: published with hash %v, want %v", i, got, want)
		}
		b.passed.wait(t, "deliveries", i+1)
		a.passed.wait(t, "own deliveries", i+1)
		if b.delivered()[i] != want || a.delivered()[i] != want {
			t.Errorf("message %d: delivered with another hash", i)
		}
		b.findStored(t, store, want)
	}
}

// findStored looks for a hash in the store.
func (n *node) findStored(t *testing.T, store *shelf, want message.Hash) {
	t.Helper()
	store.mu.Lock()
	defer store.mu.Unlock()
	if store.stored[want] == nil {
		t.Errorf("not stored by hash %v", want)
	}
}

// TestPublishTwice: what is known already is encoded and identified again. At
// ReachNode, where the validator hashes, it is not hashed again.
func TestPublishTwice(t *testing.T) {
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) {
			counts := counters.New()
			n := start(t, Options{Counts: counts, Reach: reach, AllowNoPeers: true})
			n.publish(topicA, sample(0, 500))
			n.passed.wait(t, "deliveries", 1)
			if h, err := n.Publish(t.Context(), topicA, sample(0, 500)); !errors.Is(err, ErrDuplicate) || h != (message.Hash{}) {
				t.Errorf("published twice: %v, %v", h, err)
			}
			n.settle()
			if !counters.Enabled {
				return
			}
			size := uint64(proto.Size(sample(0, 500)))
			want := map[string]counters.Counts{
				"relay.publish":   {Encodes: 2, EncodedBytes: 2 * size, Hashes: 2, HashedBytes: 2 * 500},
				"relay.gossip_id": {IDHashes: 2, IDHashedBytes: 2 * (size + uint64(len(topicA)))},
			}
			if reach == ReachNode {
				want["relay.publish"] = counters.Counts{Encodes: 2, EncodedBytes: 2 * size, Hashes: 1, HashedBytes: 500}
				want["relay.gossip_id"] = counters.Counts{IDHashes: 2, IDHashedBytes: 2*(size+uint64(len(topicA))) - 500}
			}
			got := bySite(counters.Load(counts))
			for site, w := range want {
				if got[site] != w {
					t.Errorf("%s: %+v, want %+v", site, got[site], w)
				}
			}
		})
	}
}

// TestPublisherIsCharged: a publisher's own handler has its message as soon as
// gossipsub does, and asks for the hash too. It never pays for it.
func TestPublisherIsCharged(t *testing.T) {
	counts := counters.New()
	n := start(t, Options{Counts: counts, Reach: ReachNode, AllowNoPeers: true, Stages: []Stage{storesync}})
	var sent batch
	for i := range 500 {
		m := sample(i, 200)
		sent.add(m, topicA)
		if h := n.publish(topicA, m); h != message.Blake3.Sum(topicA, m) {
			t.Fatalf("message %d: hash %v", i, h)
		}
	}
	n.passed.wait(t, "deliveries", 500)
	if counters.Enabled {
		checkCounts(t, "node", counts, sent.sharing(ReachNode, message.Blake3).expect(perMessage[ReachNode][0]))
	}
}

// TestInjectedID: whoever injects a message may have computed its ID in any way.
func TestInjectedID(t *testing.T) {
	n := start(t, Options{Reach: ReachNode})
	m := received(topicA, encode(t, sample(0, 100)))
	m.ID = GossipID(topicA, encode(t, sample(1, 100)))
	if err := n.Inject(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if want := message.Blake3.Sum(topicA, sample(0, 100)); n.delivered()[0] != want {
		t.Errorf("hash %v, want %v", n.delivered()[0], want)
	}
}
