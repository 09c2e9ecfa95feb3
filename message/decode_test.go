package message_test

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// wholeMessage has every field of the schema and unknown fields.
func wholeMessage() *pb.WakuMessage {
	m := &pb.WakuMessage{
		Payload:        []byte("payload"),
		ContentTopic:   "/app/1/name/proto",
		Version:        proto.Uint32(2),
		Timestamp:      proto.Int64(1_700_000_000_123_456_789),
		Meta:           []byte("meta"),
		RateLimitProof: []byte("proof"),
		Ephemeral:      proto.Bool(true),
	}
	m.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 101, protowire.BytesType), "unknown"))
	return m
}

func marshal(t rapid.TB, m *pb.WakuMessage) []byte {
	t.Helper()
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// golang/protobuf#1495, dedis/protobuf#62, vtprotobuf#79: reuse of the input
// changes a message that aliases it. Here that is the contract of one decoder
// and impossible with the other.
func TestOverwriteInput(t *testing.T) {
	for _, d := range decoders {
		t.Run(d.String(), func(t *testing.T) {
			want := wholeMessage()
			wire := marshal(t, want)
			m, err := d.Decode(wire)
			if err != nil {
				t.Fatal(err)
			}
			hash := message.Blake3.Sum("t", m)
			for i := range wire {
				wire[i] = 0xff
			}
			if d == message.Aliasing {
				checkOverwritten(t, m)
				// What is left must be as it was.
				m.Payload, m.Meta, m.RateLimitProof = want.Payload, want.Meta, want.RateLimitProof
				m.ContentTopic = want.ContentTopic
			}
			if !proto.Equal(m, want) {
				t.Errorf("message changed with its input: %v, want %v", m, want)
			}
			if got := message.Blake3.Sum("t", m); got != hash {
				t.Errorf("hash changed with the input: %v, want %v", got, hash)
			}
		})
	}
}

// checkOverwritten expects every slice of m to show the overwritten input.
func checkOverwritten(t *testing.T, m *pb.WakuMessage) {
	t.Helper()
	for name, field := range map[string][]byte{
		"payload": m.Payload, "meta": m.Meta, "proof": m.RateLimitProof, "content topic": []byte(m.ContentTopic),
	} {
		if want := bytes.Repeat([]byte{0xff}, len(field)); len(field) == 0 || !bytes.Equal(field, want) {
			t.Errorf("%s is %q: it does not alias the input", name, field)
		}
	}
}

// A small message of the copying decoder must not keep the buffer that it came
// in; one of the aliasing decoder does, as documented.
func TestInputKeptAlive(t *testing.T) {
	for _, d := range decoders {
		buffer, m := decodeSmall(t, d)
		runtime.GC()
		runtime.GC()
		if kept := buffer.Value() != nil; kept != (d == message.Aliasing) {
			t.Errorf("%v: the buffer is kept alive: %t", d, kept)
		}
		runtime.KeepAlive(m)
	}
}

func decodeSmall(t *testing.T, d message.Decoder) (weak.Pointer[[150 << 10]byte], *pb.WakuMessage) {
	t.Helper()
	buffer := new([150 << 10]byte)
	n := copy(buffer[:], marshal(t, wholeMessage()))
	m, err := d.Decode(buffer[:n])
	if err != nil {
		t.Fatal(err)
	}
	return weak.Make(buffer), m
}

// An append to a field by a consumer that breaks the rules must not reach the
// field behind it.
func TestAliasedFieldsHaveNoSpareCapacity(t *testing.T) {
	m, err := message.Aliasing.Decode(marshal(t, wholeMessage()))
	if err != nil {
		t.Fatal(err)
	}
	for name, field := range map[string][]byte{"payload": m.Payload, "meta": m.Meta, "proof": m.RateLimitProof} {
		if cap(field) != len(field) {
			t.Errorf("%s: capacity %d, length %d", name, cap(field), len(field))
		}
	}
}

// golang/protobuf#376 and #896, vtprotobuf#52 and #65: absent and empty bytes.
func TestPresence(t *testing.T) {
	absent, empty := wireCaseByID(t, "P02"), wireCaseByID(t, "P03")
	for _, d := range decoders {
		a, errA := d.Decode(absent)
		e, errE := d.Decode(empty)
		if err := errors.Join(errA, errE); err != nil {
			t.Fatal(err)
		}
		if a.Meta != nil || e.Meta == nil {
			t.Errorf("%v: meta is %#v when absent and %#v when empty", d, a.Meta, e.Meta)
		}
		for _, h := range []message.Algorithm{message.Blake3, message.WakuSHA256} {
			if h.Sum("t", a) != h.Sum("t", e) {
				t.Errorf("%v, %v: absent and empty meta hash differently", d, h)
			}
		}
		for _, wire := range []string{"P41", "P42"} { // payload absent, payload empty
			m, err := d.Decode(wireCaseByID(t, wire))
			if err != nil || m.Payload != nil {
				t.Errorf("%v: %s: payload is %#v, error %v; want nil", d, wire, m.GetPayload(), err)
			}
		}
	}
}

// The second of two content topics wins, but does not excuse the first.
func TestRepeatedFields(t *testing.T) {
	topic := func(b []byte, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), s)
	}
	_, m := decodeBoth(t, topic(topic(nil, "first"), "last"), true)
	if m.ContentTopic != "last" {
		t.Errorf("content topic %q, want the last one", m.ContentTopic)
	}
	decodeBoth(t, topic(topic(nil, "\xff"), "last"), false)
	decodeBoth(t, topic(topic(nil, "first"), "\xff"), false)

	payload := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte("first"))
	_, m = decodeBoth(t, append(payload, 0x0a, 0), true)
	if m.Payload != nil {
		t.Errorf("payload %q, want that of the last, empty field", m.Payload)
	}
	scalars := []byte{0x18, 5, 0x50, 5, 0xf8, 1, 1, 0x18, 0, 0x50, 0, 0xf8, 1, 0}
	_, m = decodeBoth(t, scalars, true)
	if m.GetVersion() != 0 || m.GetTimestamp() != 0 || m.GetEphemeral() || m.Version == nil || m.Timestamp == nil || m.Ephemeral == nil {
		t.Errorf("scalars %v, want the last ones, present", m)
	}
}

// Numbers that google's ConsumeTag lets through and proto.Unmarshal refuses.
func TestFieldNumberRange(t *testing.T) {
	for num, want := range map[uint64]bool{
		0: false, 100: true,
		uint64(protowire.MaxValidNumber): true, uint64(protowire.MaxValidNumber) + 1: false,
		math.MaxInt32: false, math.MaxInt32 + 1: false, 1<<32 + 1: false, 1<<61 - 1: false,
	} {
		decodeBoth(t, append(protowire.AppendVarint(nil, num<<3), 0), want)
	}
}

// golang/protobuf#484, boulder#3838: the error names the topic, whichever the
// decoder, and does not repeat all of it.
func TestInvalidUTF8(t *testing.T) {
	long := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), strings.Repeat("\xff", 100_000))
	inputs := [][]byte{long}
	for _, id := range []string{"P17", "P18", "P19"} {
		inputs = append(inputs, wireCaseByID(t, id))
	}
	for _, wire := range inputs {
		for _, d := range decoders {
			_, err := d.Decode(wire)
			if !errors.Is(err, message.ErrInvalidTopic) {
				t.Errorf("%v: %.20x: error %v, want ErrInvalidTopic", d, wire, err)
			}
			if n := len(err.Error()); n > 500 {
				t.Errorf("%v: the error is %d bytes long", d, n)
			}
		}
	}
}

// golang/protobuf#1719: depth of unknown groups. 76,800 groups nested by
// one-byte tags fill the largest message.
func TestNestedGroups(t *testing.T) {
	wire := append(bytes.Repeat([]byte{0x23}, 76_800), bytes.Repeat([]byte{0x24}, 76_800)...)
	for _, depth := range []int{1, 100, 9_999, 10_000, 10_001, 10_002, 10_003, 76_800} {
		nested := wire[76_800-depth : 76_800+depth]
		_, errCopying := message.Copying.Decode(nested)
		_, errAliasing := message.Aliasing.Decode(nested)
		if (errCopying == nil) != (errAliasing == nil) {
			t.Errorf("depth %d: copying %v, aliasing %v", depth, errCopying, errAliasing)
		}
		if depth <= 10_000 && errAliasing != nil {
			t.Errorf("depth %d: %v", depth, errAliasing)
		}
		if depth == 76_800 && errAliasing == nil {
			t.Errorf("depth %d is accepted", depth)
		}
	}
	decodeBoth(t, wire[:76_800], false) // never closed
	decodeBoth(t, wire[76_800:], false) // never opened
}

// gogo/protobuf#18: a length is a claim. Neither decoder may allocate by it, and
// every cut of a whole message is refused or is a message of fewer fields.
func TestClaimedLengths(t *testing.T) {
	claims := [][]byte{wireCaseByID(t, "P30"), wireCaseByID(t, "P31"), wireCaseByID(t, "P32")}
	for _, num := range []protowire.Number{1, 2, 11, 21, 101} {
		for _, size := range []uint64{2, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<63 - 1, 1 << 63, math.MaxUint64} {
			claim := protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.BytesType), size)
			claims = append(claims, append(claim, 'x'))
		}
	}
	for _, wire := range claims {
		decodeBoth(t, wire, false)
		for _, d := range decoders {
			if got := allocated(func() { _, _ = d.Decode(wire) }); got > 64<<10 {
				t.Errorf("%v: %x: allocates %d bytes", d, wire, got)
			}
		}
	}
	whole := marshal(t, wholeMessage())
	for n := range whole {
		_, errCopying := message.Copying.Decode(whole[:n])
		decodeBoth(t, whole[:n], errCopying == nil)
	}
}

// allocated returns how many bytes the process allocated while f ran.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestDecodeAllocations(t *testing.T) {
	for _, size := range []int{0, 10_000, 150_000} {
		wire := marshal(t, &pb.WakuMessage{
			Payload: make([]byte, size), ContentTopic: "/app/1/name/proto", Version: proto.Uint32(1),
			Timestamp: proto.Int64(1), Meta: []byte("meta"), Ephemeral: proto.Bool(true),
		})
		got := testing.AllocsPerRun(100, func() {
			if _, err := message.Aliasing.Decode(wire); err != nil {
				t.Fatal(err)
			}
		})
		if got > 1 {
			t.Errorf("aliasing decode of a payload of %d bytes: %v allocations, want at most 1", size, got)
		}
	}
}

// inside reports whether field is a part of data, by address.
func inside(data, field []byte) bool {
	if len(field) == 0 {
		return true
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(field)))
	return at >= start && at+uintptr(len(field)) <= start+uintptr(len(data))
}

func TestDecoderString(t *testing.T) {
	if got := message.Copying.String() + " " + message.Aliasing.String() + " " + message.Decoder(9).String(); got != "copying aliasing Decoder(9)" {
		t.Error(got)
	}
}
