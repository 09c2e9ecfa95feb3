package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

// record records encoded messages and returns the file.
func record(t testing.TB, wires ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.corpus")
	w, err := corpus.Create(corpus.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for i, wire := range wires {
		w.Record(corpus.Record{At: time.Unix(0, int64(i)), Topic: "/waku/2/rs/1/7", Message: wire})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func wires(t testing.TB, messages ...*pb.WakuMessage) (all [][]byte) {
	t.Helper()
	for _, m := range messages {
		wire, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, wire)
	}
	return all
}

func loaded(t testing.TB, path string) *Corpus {
	t.Helper()
	c, err := LoadCorpus(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func say(payload string, timestamp int64) *pb.WakuMessage {
	return &pb.WakuMessage{Payload: []byte(payload), ContentTopic: "/test/1/corpus/proto", Timestamp: proto.Int64(timestamp)}
}

// odd are messages that differ in ways that a generated workload's never do.
func odd() []*pb.WakuMessage {
	long := strings.Repeat("0123456789", 2000)
	withMeta := func(payload string, meta string) *pb.WakuMessage {
		m := say(payload, 7)
		m.Meta = []byte(meta)
		return m
	}
	untimed, versioned := say("untimed", 0), say("versioned", 9)
	untimed.Timestamp = nil
	versioned.Version, versioned.RateLimitProof = proto.Uint32(1), []byte("a proof of 18 byte")
	unknown := say("unknown", 10)
	unknown.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 99, protowire.BytesType), "unknown"))
	return []*pb.WakuMessage{
		say("", 1), say("x", 2), say("1234567", 3), say("12345678", 4), say("123456789", 5),
		say(long+"a"+long, 6), say(long+"b"+long, 6), // alike but in the middle
		withMeta("with meta", "m"), withMeta("with meta", "another"), withMeta(long, strings.Repeat("m", 64)),
		untimed, say("before 1970", -5), versioned, unknown,
		say("again", 100), say("again", 101), say("again", 102),
	}
}

// TestCorpusIsMeasured runs odd messages through every path and holds all counts
// to verdict.ExpectedCounts.
func TestCorpusIsMeasured(t *testing.T) {
	messages := odd()
	noted, ephemeral := say("not a message to keep", 8), proto.CloneOf(messages[1])
	noted.Ephemeral, ephemeral.Ephemeral = proto.Bool(true), proto.Bool(true)
	path := record(t, wires(t, slices.Concat(messages, []*pb.WakuMessage{noted, messages[3], ephemeral})...)...)
	var payload, meta uint64
	for _, m := range messages {
		payload, meta = payload+uint64(len(m.GetPayload())), meta+uint64(len(m.GetMeta()))
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(file)
	want := &verdict.Corpus{
		File: "x.corpus", SHA256: hex.EncodeToString(sum[:]),
		Records: len(messages) + 3, Messages: len(messages), Ephemeral: 2, Duplicates: 1,
	}
	for _, hash := range []message.Algorithm{message.Blake3, message.WakuSHA256} {
		t.Run(hash.String(), func(t *testing.T) {
			o := small(t, Micro, Macro)
			o.Corpus, o.Hash = loaded(t, path), hash
			o.Messages = o.Corpus.Len()
			r := mustRun(t, o)
			checkAcceptance(t, r)
			if len(r.Runs) != 3+4 || !r.Verified || r.Runs[0].Messages != len(messages) {
				t.Errorf("%d runs, verified %v, %d messages", len(r.Runs), r.Verified, r.Runs[0].Messages)
			}
			s := r.Settings
			if diff := cmp.Diff(want, s.Corpus); diff != "" {
				t.Errorf("corpus (-want +got):\n%s", diff)
			}
			if s.PayloadBytes != payload+meta || s.MetaBytes != meta || s.Profile != "corpus@"+want.SHA256[:12] || s.Seed != 0 {
				t.Errorf("settings %+v, want %d bytes, %d of them meta", s, payload+meta, meta)
			}
			if err := r.Validate(); err != nil {
				t.Error(err)
			}
			said := strings.Join(r.Limitations, "\n")
			for _, want := range []string{"corpus x.corpus in the order", "Of 20 records of the corpus 3 were left out: 2 ephemeral"} {
				if !strings.Contains(said, want) {
					t.Errorf("limitations do not say %q:\n%s", want, said)
				}
			}
		})
	}
}

// TestCorpusIsRepeated measures more messages than there are.
func TestCorpusIsRepeated(t *testing.T) {
	o := small(t, Micro, Macro)
	o.Corpus, o.Paths, o.Archive = loaded(t, record(t, wires(t, odd()...)...)), []string{"baseline", "zerocopy"}, "sqlite:"+filepath.Join(t.TempDir(), "x.db")
	o.Messages = 3*o.Corpus.Len() + 1
	r := mustRun(t, o)
	checkAcceptance(t, r)
	if said := strings.Join(r.Limitations, "\n"); !strings.Contains(said, "has 17 messages for 52 to measure") {
		t.Errorf("limitations do not say that messages were repeated:\n%s", said)
	}
}

func TestCorpusKeepsWhatWasRecorded(t *testing.T) {
	want := odd()
	c := loaded(t, record(t, wires(t, want...)...))
	got := c.Messages(4 * len(want))
	if diff := cmp.Diff(want, got[:len(want)], protocmp.Transform()); diff != "" {
		t.Errorf("first lap (-recorded +taken):\n%s", diff)
	}
	seen := make(map[message.Hash]bool)
	for i, m := range got {
		sum := message.Blake3.Sum(PubsubTopic, m)
		if seen[sum] {
			t.Errorf("message %d is there twice", i)
		}
		seen[sum] = true
		first := proto.CloneOf(want[i%len(want)])
		if later := m.GetTimestamp() - first.GetTimestamp(); later < 0 || later > 16 {
			t.Errorf("message %d has a timestamp %d ns later", i, later)
		}
		if first.Timestamp = m.Timestamp; !proto.Equal(first, m) {
			t.Errorf("message %d differs in more than its timestamp: %v", i, m)
		}
	}
	for i, m := range c.Messages(4 * len(want)) {
		if m == got[i] || !proto.Equal(m, got[i]) {
			t.Fatalf("message %d of another run: %v, want the same in other memory", i, m)
		}
	}
}

func TestLoadCorpusRefuses(t *testing.T) {
	whole := record(t, wires(t, say("one", 1), say("two", 2))...)
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	file := func(data []byte) string {
		path := filepath.Join(t.TempDir(), "y.corpus")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	topicless, large, ephemeral := say("x", 3), say(strings.Repeat("x", message.DefaultMaxSize), 3), say("x", 3)
	topicless.ContentTopic, ephemeral.Ephemeral = "", proto.Bool(true)
	for _, tt := range []struct {
		name, path string
		want       []string
	}{
		{"cut", file(data[:len(data)-20]), []string{"y.corpus", "record 2 at offset 0x", "truncated: want"}},
		{"damaged", file(bytes.Replace(data, []byte("two"), []byte("TWO"), 1)), []string{"record 2 at offset 0x", "damaged"}},
		{"foreign", file([]byte("scenario,msgs,payload_profile\n")), []string{"offset 0x0: not a corpus"}},
		{"empty", file(nil), []string{"offset 0x0", "truncated: want 17 bytes, have 0"}},
		{"missing", whole + ".none", []string{"no such file"}},
		{"no message", record(t, []byte("\xff\xff")), []string{"record 1:"}},
		{"no content topic", record(t, slices.Concat(wires(t, say("x", 1)), wires(t, topicless))...), []string{"record 2:", "no content topic"}},
		{"too large", record(t, wires(t, large)...), []string{"record 1:", "too large"}},
		{"nothing in it", record(t), []string{"no message to measure: 0 records"}},
		{"ephemeral alone", record(t, wires(t, ephemeral)...), []string{"no message to measure: 1 records, 1 of them ephemeral"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadCorpus(tt.path)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
		})
	}
	o := small(t, Micro)
	o.Corpus, o.Messages = loaded(t, record(t, wires(t, say("", 1), say("x", 2))...)), 1
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "none of the messages has a payload") {
		t.Errorf("empty payloads alone: %v", err)
	}
	if o.Messages, o.Profile = 2, (Profile{}); o.Validate() != nil {
		t.Errorf("a corpus needs a profile: %v", o.Validate())
	}
}

// TestNumbers numbers messages of few values, so that many are alike.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var messages []*pb.WakuMessage
		seen := make(map[message.Hash]bool)
		for range rapid.IntRange(0, 40).Draw(rt, "messages") {
			m := &pb.WakuMessage{
				Payload:      rapid.SliceOfN(rapid.SampledFrom([]byte("ab")), 0, 20).Draw(rt, "payload"),
				ContentTopic: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "topic"),
				Timestamp:    proto.Int64(rapid.Int64Range(0, 1).Draw(rt, "timestamp")),
				Meta:         rapid.SampledFrom([][]byte{nil, []byte("m")}).Draw(rt, "meta"),
			}
			if sum := message.Blake3.Sum("", m); !seen[sum] {
				seen[sum], messages = true, append(messages, m)
			}
		}
		n := NewNumbers(messages)
		for i, m := range messages {
			if got, ok := n.Of(proto.CloneOf(m)); !ok || got != i {
				rt.Errorf("number of %v is %d (%v), want %d", m, got, ok, i)
			}
		}
		if got, ok := n.Of(&pb.WakuMessage{Payload: []byte("c")}); ok {
			rt.Errorf("a message of another run has number %d", got)
		}
	})
}

// TestNumbersFindsAlike: what only a comparison of whole payloads tells apart.
func TestNumbersFindsAlike(t *testing.T) {
	a, b, c := say("12345678a12345678", 1), say("12345678b12345678", 1), say("12345678c12345678", 1)
	n := NewNumbers([]*pb.WakuMessage{a, b})
	for want, m := range []*pb.WakuMessage{a, b} {
		if got, ok := n.Of(m); !ok || got != want {
			t.Errorf("number %d (%v), want %d", got, ok, want)
		}
	}
	if got, ok := n.Of(c); ok {
		t.Errorf("a message that was not numbered has number %d", got)
	}
}
