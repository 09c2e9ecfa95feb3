package message_test

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// fuzzLimits are the default limits, and some that short inputs can violate.
var fuzzLimits = []message.Limits{{}, {MaxSize: 64, MaxMeta: 3}}

// FuzzDecoders holds the two decoders to one meaning.
func FuzzDecoders(f *testing.F) {
	for _, c := range wireCases(f) {
		if b := c.bytes(f); len(b) < 1<<10 { // long ones slow the search down and are in TestWireCases
			f.Add(b)
		}
	}
	f.Add(marshal(f, wholeMessage()))
	f.Add([]byte{0x12, 1, 0xff, 0x12, 1, 'a'})                   // topic not UTF-8, then one that is
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x10, 0})               // field number 2^29
	f.Add([]byte{0x0b, 0x23, 0x24, 0x0c, 0x0a, 1, 'x', 0x0a, 0}) // group of a known number, repeated payload
	f.Add([]byte{0x18, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x1d, 1, 2, 3, 4, 0x51, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		input := bytes.Clone(data)
		checkDecoders(t, input)
		for _, limits := range fuzzLimits {
			checkEnvelopes(t, input, limits)
		}
		if !bytes.Equal(input, data) {
			t.Error("the input was changed")
		}
	})
}

// Random fields, mostly well-formed: known and unknown numbers, each wire type,
// numbers in more bytes than needed, groups, and a cut at the end.
func TestDecodersAgree(t *testing.T) {
	known, edge := []uint64{1, 2, 3, 10, 11, 21, 31}, []uint64{4, 101, 1<<29 - 1, 0, 1 << 29, 1<<31 - 1, 1 << 31, 1<<61 - 1}
	numbers := rapid.SampledFrom(slices.Concat(slices.Repeat(known, 10), edge))
	rapid.Check(t, func(rt *rapid.T) {
		var wire []byte
		for range rapid.IntRange(0, 8).Draw(rt, "fields") {
			wire = appendField(rt, wire, numbers.Draw(rt, "number"), 3)
		}
		wire = wire[:len(wire)-rapid.SampledFrom([]int{0, 0, 0, 0, min(1, len(wire)), len(wire) / 2}).Draw(rt, "cut")]
		checkDecoders(rt, wire)
		for _, limits := range fuzzLimits {
			checkEnvelopes(rt, wire, limits)
		}
	})
}

func appendField(t *rapid.T, b []byte, num uint64, depth int) []byte {
	types := slices.Concat(slices.Repeat([]uint64{0, 2}, 20), slices.Repeat([]uint64{1, 3, 5}, 4), []uint64{4, 6, 7})
	typ := rapid.SampledFrom(types).Draw(t, "type")
	b = appendLong(t, b, num<<3|typ)
	switch typ {
	case 0:
		return appendLong(t, b, rapid.Uint64().Draw(t, "varint"))
	case 1, 5:
		return append(b, make([]byte, map[uint64]int{1: 8, 5: 4}[typ])...)
	case 2:
		value := rapid.SampledFrom([]string{"", "a", "/app/1/n/proto", "\xff", "\xed\xa0\x80", "long meta"}).Draw(t, "value")
		return append(appendLong(t, b, uint64(len(value))), value...)
	case 3:
		if depth > 0 {
			b = appendField(t, b, rapid.Uint64Range(1, 40).Draw(t, "inner"), depth-1)
		}
		return appendLong(t, b, num<<3|4)
	}
	return b
}

// appendLong appends v as a varint, sometimes with up to 9 bytes of padding.
func appendLong(t *rapid.T, b []byte, v uint64) []byte {
	b = protowire.AppendVarint(b, v)
	padding := rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 9}).Draw(t, "padding")
	for range padding {
		b[len(b)-1] |= 0x80
		b = append(b, 0)
	}
	return b
}

func checkDecoders(t rapid.TB, data []byte) {
	copied, errCopying := message.Copying.Decode(data)
	aliased, errAliasing := message.Aliasing.Decode(data)
	if (errCopying == nil) != (errAliasing == nil) {
		t.Fatalf("copying: %v\naliasing: %v", errCopying, errAliasing)
	}
	if errCopying != nil {
		if sentinel(errCopying) != sentinel(errAliasing) {
			t.Errorf("copying: %v\naliasing: %v", errCopying, errAliasing)
		}
		return
	}
	checkEqual(t, copied, aliased)
	checkInside(t, data, aliased)
	for _, a := range algorithms {
		if a.Sum(topic, copied) != a.Sum(topic, aliased) {
			t.Errorf("%v: different hashes", a)
		}
	}
}

// checkEqual is stricter than proto.Equal: presence, and unknown fields to the
// byte and in order.
func checkEqual(t rapid.TB, copied, aliased *pb.WakuMessage) {
	if !proto.Equal(copied, aliased) {
		t.Errorf("copying:  %v\naliasing: %v", copied, aliased)
	}
	if (copied.Payload == nil) != (aliased.Payload == nil) || (copied.Meta == nil) != (aliased.Meta == nil) ||
		(copied.RateLimitProof == nil) != (aliased.RateLimitProof == nil) {
		t.Errorf("nil fields differ: copying %#v, aliasing %#v", copied, aliased)
	}
	if c, a := copied.ProtoReflect().GetUnknown(), aliased.ProtoReflect().GetUnknown(); !bytes.Equal(c, a) {
		t.Errorf("unknown fields: copying %x, aliasing %x", c, a)
	}
	if c, a := marshal(t, copied), marshal(t, aliased); !bytes.Equal(c, a) {
		t.Errorf("marshal again: copying %x, aliasing %x", c, a)
	}
}

func checkInside(t rapid.TB, data []byte, m *pb.WakuMessage) {
	contentTopic := unsafe.Slice(unsafe.StringData(m.ContentTopic), len(m.ContentTopic))
	for name, field := range map[string][]byte{
		"payload": m.Payload, "content topic": contentTopic, "meta": m.Meta, "proof": m.RateLimitProof,
	} {
		if !inside(data, field) {
			t.Errorf("%s lies outside the input", name)
		}
	}
}

func checkEnvelopes(t rapid.TB, data []byte, limits message.Limits) {
	wrap := func(d message.Decoder) *message.Envelope {
		return message.Wrap(counters.Set{}, message.Format{Decoder: d, Limits: limits}, topic, data)
	}
	keyCopying, errCopying := wrap(message.Copying).Key(siteFirst)
	keyAliasing, errAliasing := wrap(message.Aliasing).Key(siteFirst)
	if keyCopying != keyAliasing || (errCopying == nil) != (errAliasing == nil) || sentinel(errCopying) != sentinel(errAliasing) {
		t.Errorf("%+v:\ncopying:  %v, %v\naliasing: %v, %v", limits, keyCopying, errCopying, keyAliasing, errAliasing)
	}
}
