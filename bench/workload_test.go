package bench

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

var testBase = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// digest covers sizes, payloads and their order.
func digest(w Workload) string {
	h := sha256.New()
	for _, m := range w.Messages {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(m.GetPayload())))
		_, _ = h.Write(size[:])
		_, _ = h.Write(m.GetPayload())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestWorkloadGolden fixes the workload for good: results of two versions of
// the program compare only if it is the same.
func TestWorkloadGolden(t *testing.T) {
	w := NewWorkload(42, DefaultProfile(), PubsubTopic, 1000, testBase, 0)
	const want = "5b9005c291a15ad8f00782865fef4bc75d3c3b9defa4f5b1ddc3384d16eea175"
	if got := digest(w); got != want {
		t.Errorf("digest of the workload of seed 42 is %s, want %s", got, want)
	}
	if got := w.PayloadBytes(); got != 65_000_000 || got != payloadBytes(DefaultProfile().payloads(len(w.Messages))) {
		t.Errorf("payloads have %d bytes, want 65000000", got)
	}
}

func TestWorkloadDependsOnSeed(t *testing.T) {
	build := func(seed uint64) Workload {
		return NewWorkload(seed, DefaultProfile(), PubsubTopic, 40, testBase, 0)
	}
	first, again, other := build(1), build(1), build(2)
	if digest(first) != digest(again) {
		t.Error("one seed gave two workloads")
	}
	if digest(first) == digest(other) {
		t.Error("two seeds gave one workload")
	}
	if slices.Equal(sizesOf(first), sizesOf(other)) {
		t.Error("two seeds gave one order of sizes")
	}
}

func sizesOf(w Workload) (sizes []int) {
	for _, m := range w.Messages {
		sizes = append(sizes, len(m.GetPayload()))
	}
	return sizes
}

func TestWorkloadMixIsExactAndShuffled(t *testing.T) {
	sizes := sizesOf(NewWorkload(42, DefaultProfile(), PubsubTopic, 100, testBase, 0))
	if slices.IsSorted(sizes) {
		t.Error("sizes are in order")
	}
	slices.Sort(sizes)
	var want []int
	for i, count := range []int{25, 50, 25} {
		want = append(want, slices.Repeat([]int{DefaultProfile().Sizes[i]}, count)...)
	}
	if !slices.Equal(sizes, want) {
		t.Errorf("sizes are %v", sizes)
	}
}

func TestWorkloadMessages(t *testing.T) {
	const n, warmup = 60, 20
	p := Profile{Sizes: []int{8, 200}, Mix: []int{50, 50}}
	measured := NewWorkload(7, p, "/a/topic", n, testBase, 0)
	warm := NewWorkload(7, p, "/a/topic", warmup, testBase, n)
	if measured.Topic != "/a/topic" || measured.First != 0 || warm.First != n {
		t.Errorf("topic %q, first indices %d and %d", measured.Topic, measured.First, warm.First)
	}
	payloads, stamps, hashes := map[string]bool{}, map[int64]bool{}, map[message.Hash]bool{}
	for i, m := range append(measured.Messages, warm.Messages...) {
		if index, ok := PayloadIndex(m.GetPayload()); !ok || index != uint64(i) {
			t.Errorf("message %d: payload holds index %d, %t", i, index, ok)
		}
		if got, want := m.GetTimestamp(), testBase.UnixNano()+int64(i); got != want {
			t.Errorf("message %d: timestamp %d, want %d", i, got, want)
		}
		if m.GetContentTopic() != "/waku/2/default-content/proto" || m.GetVersion() != 2 || m.Meta != nil {
			t.Errorf("message %d: topic %q, version %d, meta %v", i, m.GetContentTopic(), m.GetVersion(), m.Meta)
		}
		payloads[string(m.GetPayload())] = true
		stamps[m.GetTimestamp()] = true
		hashes[message.Blake3.Sum(measured.Topic, m)] = true
	}
	if len(payloads) != n+warmup || len(stamps) != n+warmup || len(hashes) != n+warmup {
		t.Errorf("%d payloads, %d timestamps, %d hashes differ, want %d", len(payloads), len(stamps), len(hashes), n+warmup)
	}
}

// TestWorkloadPayloadIgnoresNeighbours changes the number of messages before a
// message of the same size: its payload stays.
func TestWorkloadPayloadIgnoresNeighbours(t *testing.T) {
	p := Profile{Sizes: []int{100}, Mix: []int{100}}
	long := NewWorkload(3, p, PubsubTopic, 10, testBase, 0)
	short := NewWorkload(3, p, PubsubTopic, 1, testBase.Add(time.Hour), 9)
	if !bytes.Equal(long.Messages[9].GetPayload(), short.Messages[0].GetPayload()) {
		t.Error("the payload of index 9 depends on where the workload begins")
	}
}

// TestWorkloadDoesNotCompress compresses messages singly and together.
func TestWorkloadDoesNotCompress(t *testing.T) {
	var all []byte
	for _, m := range NewWorkload(42, DefaultProfile(), PubsubTopic, 8, testBase, 0).Messages {
		// 8 bytes of index compress, the rest must not.
		if got := compressed(t, m.GetPayload()); got < len(m.GetPayload())-indexSize {
			t.Errorf("a payload of %d bytes compresses to %d", len(m.GetPayload()), got)
		}
		all = append(all, m.GetPayload()...)
	}
	if got := compressed(t, all); got < len(all)*999/1000 {
		t.Errorf("payloads of %d bytes compress to %d", len(all), got)
	}
}

func compressed(t *testing.T, data []byte) int {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// TestWorkloadIsPublishable puts the largest and the smallest message through
// the limits of a node and back.
func TestWorkloadIsPublishable(t *testing.T) {
	p := Profile{Sizes: []int{indexSize, MaxPayload}, Mix: []int{50, 50}}
	for _, m := range NewWorkload(42, p, PubsubTopic, 2, time.Now(), 0).Messages {
		e, err := message.Seal(counters.Set{}, message.Format{}, PubsubTopic, proto.CloneOf(m), counters.Site{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := message.Wrap(counters.Set{}, message.Format{}, PubsubTopic, e.Bytes()).Message(counters.Site{})
		if err != nil || !proto.Equal(m, got) {
			t.Errorf("a message of %d bytes came back otherwise: %v", len(m.GetPayload()), err)
		}
	}
}

func TestNewWorkloadPanics(t *testing.T) {
	for name, build := range map[string]func(){
		"profile":  func() { NewWorkload(1, Profile{Sizes: []int{7}, Mix: []int{100}}, "t", 1, testBase, 0) },
		"messages": func() { NewWorkload(1, DefaultProfile(), "t", -1, testBase, 0) },
		"index":    func() { NewWorkload(1, DefaultProfile(), "t", 1, testBase, -1) },
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "bench: build workload: ") {
					t.Errorf("%s: panic says %q", name, said)
				}
			}()
			build()
		}()
	}
}

func TestPayloadIndexTooShort(t *testing.T) {
	if index, ok := PayloadIndex(make([]byte, indexSize-1)); ok {
		t.Errorf("7 bytes hold index %d", index)
	}
}

func BenchmarkNewWorkload(b *testing.B) {
	b.SetBytes(65_000_000)
	for b.Loop() {
		NewWorkload(42, DefaultProfile(), PubsubTopic, 1000, testBase, 0)
	}
}
