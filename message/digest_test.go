package message_test

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

var siteID = counters.NewSite("message_test.id")

// checkCut holds Cut to the decoders: the payload that it finds is theirs.
func checkCut(t rapid.TB, data []byte) {
	before, payload, after, ok := message.Cut(data)
	m, err := message.Copying.Decode(data)
	switch {
	case !ok && err == nil && !unusual(data):
		t.Fatalf("%x: not cut, and a message", data)
	case !ok:
		if before != nil || payload != nil || after != nil {
			t.Fatalf("%x: not cut, and parts %x, %x, %x", data, before, payload, after)
		}
		return
	case err == nil && !bytes.Equal(payload, m.GetPayload()):
		t.Fatalf("%x: cut out %x, the payload is %x", data, payload, m.GetPayload())
	}
	if joined := slices.Concat(before, payload, after); !bytes.Equal(joined, data) {
		t.Fatalf("%x: the parts %x, %x, %x are not the whole", data, before, payload, after)
	}
}

// unusual reports whether a decodable message has a group or over 32 fields.
func unusual(data []byte) bool {
	fields := 0
	for len(data) > 0 {
		_, typ, n := protowire.ConsumeField(data)
		if n < 0 || typ == protowire.StartGroupType {
			return true
		}
		data = data[n:]
		fields++
	}
	return fields > 32
}

func FuzzCut(f *testing.F) {
	for _, c := range wireCases(f) {
		f.Add(c.bytes(f))
	}
	f.Add(marshal(f, wholeMessage()))
	f.Add([]byte{0x0a, 1, 'x', 0x8a, 0x00, 0x81, 0x00, 'y', 0x08, 1}) // again with long numbers, and as a varint
	f.Fuzz(func(t *testing.T, data []byte) { checkCut(t, data) })
}

func TestCut(t *testing.T) {
	for _, c := range wireCases(t) {
		checkCut(t, c.bytes(t))
	}
	whole := marshal(t, wholeMessage())
	if _, payload, _, ok := message.Cut(whole); !ok || string(payload) != "payload" || !inside(whole, payload) {
		t.Errorf("cut out %q, %t", payload, ok)
	}
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{
		"no bytes":        {nil, true},
		"32 fields":       {bytes.Repeat([]byte{0x18, 0}, 32), true},
		"33 fields":       {bytes.Repeat([]byte{0x18, 0}, 33), false},
		"a group":         {[]byte{0x0a, 1, 'x', 0x2b, 0x2c}, false},
		"number 2^29":     {[]byte{0x80, 0x80, 0x80, 0x80, 0x10, 0}, false},
		"number 0":        {[]byte{0, 0}, false},
		"payload cut off": {[]byte{0x0a, 2, 'x'}, false},
	} {
		if _, _, _, ok := message.Cut(c.data); ok != c.want {
			t.Errorf("%s: cut: %t, want %t", name, ok, c.want)
		}
	}
}

func TestCutRandomFields(t *testing.T) {
	numbers := rapid.SampledFrom([]uint64{1, 1, 1, 2, 3, 10, 11, 21, 31, 101, 0, 1 << 29})
	rapid.Check(t, func(rt *rapid.T) {
		var wire []byte
		for range rapid.IntRange(0, 40).Draw(rt, "fields") {
			wire = appendField(rt, wire, numbers.Draw(rt, "number"), 2)
		}
		checkCut(rt, wire)
	})
}

func TestDigestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	m := wholeMessage()
	m.Payload = make([]byte, 50_000)
	wire := marshal(t, m)
	got := testing.AllocsPerRun(100, func() {
		if _, payload, _, ok := message.Cut(wire); !ok || message.DigestPayload(payload) == (message.PayloadDigest{}) {
			t.Fatal("not cut")
		}
	})
	if got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

// identified returns an Envelope that was told the digest which a gossip id was
// made of, and its counters.
func identified(t testing.TB, format message.Format, wire []byte) (*message.Envelope, counters.Set) {
	t.Helper()
	counts := counters.New()
	_, payload, _, ok := message.Cut(wire)
	if !ok {
		t.Fatal("not cut")
	}
	counters.IDHash(counts, siteID, len(wire))
	e := message.Wrap(counts, format, topic, wire)
	e.Adopt(message.DigestPayload(payload), siteID)
	return e, counts
}

// An adopted digest changes who passes over the payload, and not the hash.
func TestAdopt(t *testing.T) {
	wire := marshal(t, wholeMessage())
	size, payload, meta := uint64(len(wire)), uint64(len("payload")), uint64(len("meta"))
	for _, format := range formats() {
		e, counts := identified(t, format, wire)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if h, err := e.Hash(siteFirst); err != nil || h != format.Hash.Sum(topic, wholeMessage()) {
					t.Errorf("%+v: hash %v, %v", format, h, err)
				}
			})
		}
		all.Wait()
		first := counters.Counts{Decodes: 1, DecodedBytes: size, Hashes: 1, HashedBytes: payload + meta}
		id := counters.Counts{IDHashes: 1, IDHashedBytes: size}
		if format.Decoder == message.Copying {
			first.Copies, first.CopiedBytes = 1, payload
		}
		if format.Hash == message.Blake3 {
			id.IDHashedBytes -= payload
		}
		expectCounts(t, counts, map[string]counters.Counts{"message_test.first": first, "message_test.id": id})
	}
}

// The digest is used: without that the hash would hide who computed it.
func TestAdoptedDigestIsUsed(t *testing.T) {
	e := message.Wrap(counters.Set{}, message.Format{}, topic, marshal(t, wholeMessage()))
	e.Adopt(message.DigestPayload([]byte("another")), siteID)
	got, err := e.Hash(siteFirst)
	m := wholeMessage()
	m.Payload = []byte("another")
	if want := message.Blake3.Sum(topic, m); got != want || err != nil {
		t.Errorf("hash %v, %v; want that of the adopted digest, %v", got, err, want)
	}
	m, err = e.Fresh().Message(siteFirst)
	if h, errHash := e.Fresh().Hash(siteFirst); h != message.Blake3.Sum(topic, m) || errors.Join(err, errHash) != nil {
		t.Errorf("a fresh Envelope has hash %v, %v", h, err)
	}
}

// Who refuses a message has no hash of it, and the id keeps its bytes.
func TestAdoptRefused(t *testing.T) {
	wire := wireCaseByID(t, "P43") // no content topic
	e, counts := identified(t, message.Format{Decoder: message.Aliasing}, wire)
	for range 2 {
		if h, err := e.Hash(siteFirst); h != (message.Hash{}) || !errors.Is(err, message.ErrNoContentTopic) {
			t.Errorf("hash %v, %v", h, err)
		}
	}
	expectCounts(t, counts, map[string]counters.Counts{
		"message_test.first": {Decodes: 1, DecodedBytes: uint64(len(wire))},
		"message_test.id":    {IDHashes: 1, IDHashedBytes: uint64(len(wire))},
	})
}

// One message has one hash whatever its encoding, also by the digest found in
// each encoding.
func TestAdoptOtherEncodings(t *testing.T) {
	sums := make(map[message.Hash]bool)
	for _, id := range []string{"P02", "P12", "P16", "P20", "P44", "P03", "P04"} {
		e, _ := identified(t, message.Format{Decoder: message.Aliasing}, wireCaseByID(t, id))
		h, err := e.Hash(siteFirst)
		if err != nil {
			t.Fatal(err)
		}
		sums[h] = true
	}
	if len(sums) != 1 {
		t.Errorf("%d hashes of one message", len(sums))
	}
}
