package message_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

var decoders = []message.Decoder{message.Copying, message.Aliasing}

// wireCase is a row of testdata/wakumessage_wire_cases.json.
type wireCase struct {
	ID, Wire, Why, Source string
	OK                    bool
	Fields                map[string]string // those present, by name
	Unknown, Remarshal    string            // hex; Unknown may be cut: "…...(4000 bytes)"
}

func wireCases(t testing.TB) []wireCase {
	t.Helper()
	var file struct{ Cases []wireCase }
	readTestdata(t, "wakumessage_wire_cases.json", &file)
	if len(file.Cases) != 42 {
		t.Fatalf("%d wire cases, want 42", len(file.Cases))
	}
	return file.Cases
}

func wireCaseByID(t testing.TB, id string) []byte {
	t.Helper()
	for _, c := range wireCases(t) {
		if c.ID == id {
			return c.bytes(t)
		}
	}
	t.Fatalf("no wire case %s", id)
	return nil
}

var nested = regexp.MustCompile(`^([0-9a-f]*)\+ \(([0-9a-f]+)\)\*N \+ \(([0-9a-f]+)\)\*N, N=(\d+)$`)

// bytes returns the case's input: hex, or "prefix+ (open)*N + (close)*N, N=1000".
func (c wireCase) bytes(t testing.TB) []byte {
	t.Helper()
	m := nested.FindStringSubmatch(c.Wire)
	if m == nil {
		return unhex(t, c.Wire)
	}
	n, err := strconv.Atoi(m[4])
	if err != nil {
		t.Fatal(err)
	}
	return unhex(t, m[1]+strings.Repeat(m[2], n)+strings.Repeat(m[3], n))
}

// fields returns the fields present in m in the form of wireCase.Fields.
func fields(m *pb.WakuMessage) map[string]string {
	found := make(map[string]string)
	m.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		text := v.String()
		if f.Kind() == protoreflect.BytesKind {
			text = "hex:" + hex.EncodeToString(v.Bytes())
		}
		found[string(f.Name())] = text
		return true
	})
	return found
}

func TestWireCases(t *testing.T) {
	for _, c := range wireCases(t) {
		for _, d := range decoders {
			t.Run(c.ID+"/"+d.String(), func(t *testing.T) { c.check(t, d) })
		}
	}
}

func (c wireCase) check(t *testing.T, d message.Decoder) {
	m, err := d.Decode(c.bytes(t))
	if (err == nil) != c.OK {
		t.Fatalf("%s: accepted: %t, want %t (error: %v)", c.Why, err == nil, c.OK, err)
	}
	if err != nil {
		return
	}
	if got := fields(m); !maps.Equal(got, c.Fields) {
		t.Errorf("fields = %v, want %v", got, c.Fields)
	}
	unknown := hex.EncodeToString(m.ProtoReflect().GetUnknown())
	if head, _, cut := strings.Cut(c.Unknown, "..."); cut {
		size := fmt.Sprintf("(%d bytes)", len(unknown)/2)
		if !strings.HasPrefix(unknown, head) || !strings.HasSuffix(c.Unknown, size) {
			t.Errorf("unknown fields are %.80s… %s, want %s", unknown, size, c.Unknown)
		}
		return
	}
	if unknown != c.Unknown {
		t.Errorf("unknown fields are %s, want %s", unknown, c.Unknown)
	}
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(again); got != c.Remarshal {
		t.Errorf("marshals again as %s, want %s", got, c.Remarshal)
	}
}

// wireRow is a row of testdata/protowire_vectors.json: hex and what it means.
type wireRow [2]string

func (r wireRow) valid() bool {
	for _, word := range []string{"err", "EOF", "overflow"} {
		if strings.Contains(r[1], word) {
			return false
		}
	}
	return true
}

// TestProtowireVectors embeds the rows of google's own table as fields of a
// message. What a row means is asked of the table and of google's protowire; both
// decoders must follow.
func TestProtowireVectors(t *testing.T) {
	var file struct{ Tag, Varint, Bytes, Group, Field []wireRow }
	readTestdata(t, "protowire_vectors.json", &file)
	for _, r := range file.Tag {
		t.Run("tag/"+r[0], func(t *testing.T) { checkTagRow(t, r) })
	}
	for _, r := range file.Varint {
		t.Run("varint/"+r[0], func(t *testing.T) { checkVarintRow(t, r) })
	}
	for _, r := range file.Bytes {
		t.Run("bytes/"+r[0], func(t *testing.T) { checkBytesRow(t, r) })
	}
	for _, r := range file.Group { // the inside of a group with number 5
		t.Run("group/"+r[0], func(t *testing.T) {
			checkUnknownRow(t, append(protowire.AppendTag(nil, 5, protowire.StartGroupType), unhex(t, r[0])...), r.valid())
		})
	}
	for _, r := range file.Field {
		t.Run("field/"+r[0], func(t *testing.T) { checkUnknownRow(t, unhex(t, r[0]), r.valid()) })
	}
}

// decodeBoth decodes wire with both decoders and fails unless both accept it, or
// refuse it, as want says.
func decodeBoth(t *testing.T, wire []byte, want bool) (copied, aliased *pb.WakuMessage) {
	t.Helper()
	copied, errCopying := message.Copying.Decode(wire)
	aliased, errAliasing := message.Aliasing.Decode(wire)
	if (errCopying == nil) != want || (errAliasing == nil) != want {
		t.Fatalf("%x: accepted: copying %t (%v), aliasing %t (%v), want %t",
			wire, errCopying == nil, errCopying, errAliasing == nil, errAliasing, want)
	}
	if want && !proto.Equal(copied, aliased) {
		t.Fatalf("%x: copying gives %v, aliasing %v", wire, copied, aliased)
	}
	return copied, aliased
}

// checkTagRow follows the tag by a value that fits its type, if it has one.
func checkTagRow(t *testing.T, r wireRow) {
	tag := unhex(t, r[0])
	if len(tag) == 0 { // at the end of a message this is no error but its end
		decodeBoth(t, tag, true)
		return
	}
	value := []byte{0}
	if tag[0]&7 == byte(protowire.Fixed32Type) {
		value = []byte{0, 0, 0, 0}
	}
	decodeBoth(t, append(tag, value...), r.valid())
}

func checkVarintRow(t *testing.T, r wireRow) {
	value := unhex(t, r[0])
	want, n := protowire.ConsumeVarint(value)
	if (n >= 0) != r.valid() {
		t.Fatalf("protowire consumes %d bytes, the row says %q", n, r[1])
	}
	for _, num := range []protowire.Number{3, 10, 31} {
		_, m := decodeBoth(t, append(protowire.AppendTag(nil, num, protowire.VarintType), value...), r.valid())
		if !r.valid() {
			continue
		}
		got := map[protowire.Number]bool{
			3:  m.Version != nil && m.GetVersion() == uint32(want),
			10: m.Timestamp != nil && m.GetTimestamp() == protowire.DecodeZigZag(want),
			31: m.Ephemeral != nil && m.GetEphemeral() == protowire.DecodeBool(want),
		}
		if !got[num] {
			t.Errorf("field %d: %v, want %d", num, m, want)
		}
	}
}

func checkBytesRow(t *testing.T, r wireRow) {
	value := unhex(t, r[0])
	want, n := protowire.ConsumeBytes(value)
	if (n >= 0) != r.valid() {
		t.Fatalf("protowire consumes %d bytes, the row says %q", n, r[1])
	}
	for _, num := range []protowire.Number{1, 2, 11, 21} {
		_, m := decodeBoth(t, append(protowire.AppendTag(nil, num, protowire.BytesType), value...), r.valid())
		if !r.valid() {
			continue
		}
		got := map[protowire.Number][]byte{1: m.Payload, 2: []byte(m.ContentTopic), 11: m.Meta, 21: m.RateLimitProof}[num]
		if !bytes.Equal(got, want) {
			t.Errorf("field %d = %q, want %q", num, got, want)
		}
		if num > 2 && got == nil {
			t.Errorf("field %d is absent, want it present", num)
		}
	}
}

// checkUnknownRow decodes field after a whole message. If valid is true the
// field must be kept, with canonical tags outside and its bytes inside.
func checkUnknownRow(t *testing.T, field []byte, valid bool) {
	num, typ, n := protowire.ConsumeTag(field)
	if n < 0 {
		t.Fatalf("row starts with no tag: %v", protowire.ParseError(n))
	}
	if google := protowire.ConsumeFieldValue(num, typ, field[n:]) >= 0; google != valid {
		t.Fatalf("protowire accepts: %t, the row says %t", google, valid)
	}
	_, m := decodeBoth(t, append(wireCaseByID(t, "P02"), field...), valid)
	if !valid {
		return
	}
	if got := m.ProtoReflect().GetUnknown(); !bytes.Equal(got, field) {
		t.Errorf("unknown fields are %x, want %x", got, field)
	}
}
