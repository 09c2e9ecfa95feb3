package message_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/blake3"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

var rewrite = flag.Bool("rewrite", false, "rewrite golden files in testdata")

var algorithms = []message.Algorithm{message.Blake3, message.WakuSHA256}

// framedBlake3 is the documented layout, written down a second time: all of it
// in buffers, through the one-shot function.
func framedBlake3(topic string, m *pb.WakuMessage) (sum message.Hash) {
	var b []byte
	number := func(n uint64) { b = binary.LittleEndian.AppendUint64(b, n) }
	for _, field := range []string{topic, m.GetContentTopic(), string(m.GetMeta())} {
		number(uint64(len(field)))
		b = append(b, field...)
	}
	number(uint64(m.GetTimestamp()))
	var payload [32]byte
	blake3.DeriveKey("msgpath 2026-11-30 payload digest v1", m.GetPayload(), payload[:])
	blake3.DeriveKey("msgpath 2026-11-30 message hash v2", append(b, payload[:]...), sum[:])
	return sum
}

// goldenMessages are the messages of the published RFC 14 vectors and some at
// the edges: no field, extreme timestamps, payloads around a chunk of BLAKE3 and
// around the buffer of its implementation.
func goldenMessages(t testing.TB) map[string]*pb.WakuMessage {
	messages := map[string]*pb.WakuMessage{
		"zero":          {},
		"min-timestamp": {ContentTopic: "/app/1/name/proto", Timestamp: proto.Int64(math.MinInt64)},
		"max-timestamp": {ContentTopic: "/app/1/name/proto", Timestamp: proto.Int64(math.MaxInt64)},
	}
	for _, v := range hashVectors(t) {
		messages[v.ID] = v.message(t)
	}
	for name, size := range map[string]int{"1kib": 1024, "8kib": 8192, "8kib+1": 8193, "150kb": 150_000} {
		payload := make([]byte, size)
		for i := range payload {
			payload[i] = byte(i % 251)
		}
		messages["payload-"+name] = &pb.WakuMessage{Payload: payload, ContentTopic: "/app/1/name/proto", Timestamp: proto.Int64(1)}
	}
	return messages
}

// The hashes are in archives and sync sets of other nodes: they cannot change.
func TestBlake3Golden(t *testing.T) {
	const topic, name = "/waku/2/rs/0/0", "testdata/blake3_message_hashes.json"
	type golden struct {
		PubsubTopic string            `json:"pubsub_topic"`
		Hashes      map[string]string `json:"hashes"`
	}
	independent, ours := golden{topic, map[string]string{}}, golden{topic, map[string]string{}}
	for id, m := range goldenMessages(t) {
		independent.Hashes[id] = framedBlake3(topic, m).String()
		ours.Hashes[id] = message.Blake3.Sum(topic, m).String()
	}
	if *rewrite {
		b, err := json.MarshalIndent(independent, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var committed golden
	readTestdata(t, "blake3_message_hashes.json", &committed)
	if d := cmp.Diff(committed, independent); d != "" {
		t.Errorf("committed hashes against the reimplementation (-committed +reimplemented):\n%s", d)
	}
	if d := cmp.Diff(committed, ours); d != "" {
		t.Errorf("committed hashes against Blake3.Sum (-committed +Sum):\n%s", d)
	}
}

// identity is all that a message hash covers.
type identity struct {
	Topic, ContentTopic, Meta string
	Timestamp                 int64
	Payload                   string
}

func (i identity) message() *pb.WakuMessage {
	return &pb.WakuMessage{
		Payload: []byte(i.Payload), ContentTopic: i.ContentTopic, Meta: []byte(i.Meta), Timestamp: proto.Int64(i.Timestamp),
	}
}

func (i identity) hash(a message.Algorithm) message.Hash { return a.Sum(i.Topic, i.message()) }

// Two splits of the same bytes into fields are two messages to BLAKE3. Short
// fields of few values make splits that nearly agree likely.
func TestBlake3Framing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		joined := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 8, 'a'}), 8, 40).Draw(t, "joined")
		split := func(label string) identity {
			i := identity{}
			rest := joined
			i.Timestamp = int64(binary.LittleEndian.Uint64(rest))
			rest = rest[8:]
			for n, field := range []*string{&i.Topic, &i.ContentTopic, &i.Meta} {
				cut := rapid.IntRange(0, len(rest)).Draw(t, label+string(rune('0'+n)))
				*field, rest = string(rest[:cut]), rest[cut:]
			}
			i.Payload = string(rest)
			return i
		}
		a, b := split("a"), split("b")
		if a.hash(message.Blake3) != framedBlake3(a.Topic, a.message()) {
			t.Fatalf("%+v: Sum differs from the documented layout", a)
		}
		if (a == b) != (a.hash(message.Blake3) == b.hash(message.Blake3)) {
			t.Fatalf("same message: %t, same hash: %t\n%+v\n%+v", a == b, a != b, a, b)
		}
	})
}

// Bytes moved over the border to the neighbour in the hash's own order: every
// border, and the numbers between them.
func TestBlake3NeighbouringFields(t *testing.T) {
	seen := make(map[message.Hash]identity)
	for _, i := range []identity{
		{Topic: "ab", ContentTopic: "cd", Meta: "ef", Timestamp: 7, Payload: "gh"},
		{Topic: "abc", ContentTopic: "d", Meta: "ef", Timestamp: 7, Payload: "gh"},
		{Topic: "a", ContentTopic: "bcd", Meta: "ef", Timestamp: 7, Payload: "gh"},
		{Topic: "ab", ContentTopic: "cde", Meta: "f", Timestamp: 7, Payload: "gh"},
		{Topic: "ab", ContentTopic: "c", Meta: "def", Timestamp: 7, Payload: "gh"},
		{Topic: "ab", ContentTopic: "cd", Meta: "", Timestamp: 7, Payload: "efgh"},
		{Topic: "ab", ContentTopic: "cd", Meta: "efgh", Timestamp: 7, Payload: ""},
		{Topic: "ab", ContentTopic: "cd", Meta: "ef\x07\x00\x00\x00\x00\x00\x00\x00", Payload: "gh"},
		{Topic: "ab", ContentTopic: "cd", Meta: "ef", Timestamp: 7 << 8, Payload: "gh"},
		{Topic: "", ContentTopic: "ab", Meta: "cdef", Timestamp: 7, Payload: "gh"},
		{Topic: "ab\x02\x00\x00\x00\x00\x00\x00\x00cd", ContentTopic: "", Meta: "ef", Timestamp: 7, Payload: "gh"},
	} {
		if other, ok := seen[i.hash(message.Blake3)]; ok {
			t.Errorf("%+v and %+v have one hash", i, other)
		}
		seen[i.hash(message.Blake3)] = i
	}
}

// RFC 14 joins the fields without lengths, so different messages collide, by its
// design; whoever chooses it gets that.
func TestWakuSHA256Collides(t *testing.T) {
	a := identity{Topic: "/waku/2/rs/0/0", Payload: "pay", ContentTopic: "load/topic", Timestamp: 1}
	b := identity{Topic: "/waku/2/rs/0/0", Payload: "payload", ContentTopic: "/topic", Timestamp: 1}
	if a.hash(message.WakuSHA256) != b.hash(message.WakuSHA256) {
		t.Error("waku-sha256 tells the two apart: it is not the RFC's hash")
	}
	if a.hash(message.Blake3) == b.hash(message.Blake3) {
		t.Error("blake3 does not tell them apart")
	}
}

// golang/protobuf#637, go-libp2p-pubsub#219: the hash must not depend on how the
// bytes were encoded; protobuf#29551: nor on unknown fields.
func TestHashOfOtherEncodings(t *testing.T) {
	for _, a := range algorithms {
		for _, d := range decoders {
			sums := make(map[message.Hash]bool)
			// Plain, length written long, fields out of order, unknown field, unknown
			// group, tag written long, empty meta, timestamp 0.
			for _, id := range []string{"P02", "P12", "P16", "P20", "P21", "P44", "P03", "P04"} {
				m, err := d.Decode(wireCaseByID(t, id))
				if err != nil {
					t.Fatal(err)
				}
				sums[a.Sum("/waku/2/rs/0/0", m)] = true
			}
			if len(sums) != 1 {
				t.Errorf("%v, %v: %d hashes of one message", a, d, len(sums))
			}
		}
	}
}

// The hash covers topic, payload, content topic, meta and timestamp, and nothing
// else: an ephemeral and a stored copy are the same message.
func TestHashCoverage(t *testing.T) {
	for _, a := range algorithms {
		want := a.Sum("topic", wholeMessage())
		for name, change := range map[string]func(*pb.WakuMessage){
			"ephemeral": func(m *pb.WakuMessage) { m.Ephemeral = proto.Bool(false) },
			"version":   func(m *pb.WakuMessage) { m.Version = nil },
			"proof":     func(m *pb.WakuMessage) { m.RateLimitProof = []byte("forged") },
			"unknown":   func(m *pb.WakuMessage) { m.ProtoReflect().SetUnknown(nil) },
		} {
			m := wholeMessage()
			if change(m); a.Sum("topic", m) != want {
				t.Errorf("%v: changing %s changes the hash", a, name)
			}
		}
		for name, change := range map[string]func(*pb.WakuMessage){
			"payload":       func(m *pb.WakuMessage) { m.Payload[0] ^= 1 },
			"content topic": func(m *pb.WakuMessage) { m.ContentTopic += "/" },
			"meta":          func(m *pb.WakuMessage) { m.Meta = nil },
			"timestamp":     func(m *pb.WakuMessage) { *m.Timestamp++ },
		} {
			m := wholeMessage()
			if change(m); a.Sum("topic", m) == want {
				t.Errorf("%v: changing %s keeps the hash", a, name)
			}
		}
		if a.Sum("other", wholeMessage()) == want {
			t.Errorf("%v: changing the pubsub topic keeps the hash", a)
		}
		zero := &pb.WakuMessage{Payload: []byte{}, Meta: []byte{}, Timestamp: proto.Int64(0)}
		if a.Sum("topic", zero) != a.Sum("topic", new(pb.WakuMessage)) {
			t.Errorf("%v: absent and empty fields hash differently", a)
		}
	}
}

func TestHashAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	for _, a := range algorithms {
		for _, size := range []int{0, 10_000, 150_000} {
			m := wholeMessage()
			m.Payload = make([]byte, size)
			if got := testing.AllocsPerRun(100, func() { a.Sum("/waku/2/rs/0/0", m) }); got != 0 {
				t.Errorf("%v of %d bytes: %v allocations, want none", a, size, got)
			}
		}
	}
}

func TestKeyCompare(t *testing.T) {
	ascending := []message.Key{
		{Timestamp: math.MinInt64, Hash: message.Hash{9}},
		{Timestamp: -1},
		{},
		{Hash: message.Hash{31: 1}},
		{Hash: message.Hash{1}},
		{Hash: message.Hash{0xff}},
		{Timestamp: 1},
		{Timestamp: math.MaxInt64},
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := bytes.Compare([]byte{byte(i)}, []byte{byte(j)})
			if got := a.Compare(b); got != want {
				t.Errorf("%v.Compare(%v) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestParseAlgorithm(t *testing.T) {
	for _, a := range algorithms {
		if got, err := message.ParseAlgorithm(a.String()); got != a || err != nil {
			t.Errorf("ParseAlgorithm(%q) = %v, %v", a, got, err)
		}
	}
	for _, name := range []string{"", "BLAKE3", "sha256", "Algorithm(2)"} {
		if a, err := message.ParseAlgorithm(name); err == nil {
			t.Errorf("ParseAlgorithm(%q) = %v", name, a)
		}
	}
	if got := message.Algorithm(2).String(); got != "Algorithm(2)" {
		t.Errorf("String = %q", got)
	}
}

func TestHashString(t *testing.T) {
	h := message.Hash{0: 0xab, 31: 1}
	if got, want := h.String(), hex.EncodeToString(h[:]); got != want || len(got) != 64 {
		t.Errorf("String = %q, want %q", got, want)
	}
}
