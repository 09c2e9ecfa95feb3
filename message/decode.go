package message

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message/pb"
)

// Decoder is how bytes become a message. Both accept and refuse the same bytes
// and give equal messages.
type Decoder uint8

const (
	// Copying is proto.Unmarshal: the message owns all its bytes.
	Copying Decoder = iota
	// Aliasing gives a message whose payload, content topic, meta and proof are
	// slices of the bytes decoded, which must not change as long as the message
	// is used, and which it keeps alive: a message of ten bytes kept for long
	// keeps the whole buffer that it came in. Version, timestamp, ephemeral and
	// the unknown fields are copies.
	Aliasing
)

var decoderNames = [...]string{Copying: "copying", Aliasing: "aliasing"}

// String returns "copying" or "aliasing".
func (d Decoder) String() string {
	if int(d) < len(decoderNames) {
		return decoderNames[d]
	}
	return fmt.Sprintf("Decoder(%d)", uint8(d))
}

// Decode decodes the wire message data. It checks no limit. Its error wraps
// [ErrInvalidTopic] if a content topic is not UTF-8, and otherwise says how data
// is malformed.
func (d Decoder) Decode(data []byte) (*pb.WakuMessage, error) {
	if d == Aliasing {
		return decodeAliasing(data)
	}
	m := new(pb.WakuMessage)
	if err := proto.Unmarshal(data, m); err != nil {
		return nil, refusal(data, err)
	}
	return m, nil
}

// refusal names why proto.Unmarshal refused data with err, which gives a caller
// nothing to branch on.
func refusal(data []byte, err error) error {
	if _, named := decodeAliasing(data); errors.Is(named, ErrInvalidTopic) {
		return named
	}
	return fmt.Errorf("message: decode: %w", err)
}

// Field numbers of RFC 14/WAKU2-MESSAGE.
const (
	fieldPayload        = 1
	fieldContentTopic   = 2
	fieldVersion        = 3
	fieldTimestamp      = 10
	fieldMeta           = 11
	fieldRateLimitProof = 21
	fieldEphemeral      = 31
)

// aliased holds a message and the scalars it points at, so that decoding is
// one allocation.
type aliased struct {
	m         pb.WakuMessage
	timestamp int64
	version   uint32
	ephemeral bool
}

// decodeAliasing decodes data without copying a field. Like proto.Unmarshal it
// lets the last of repeated fields win, refuses a content topic that is not
// UTF-8 even if another follows, takes a known field of another wire type for an
// unknown one, and keeps unknown fields with their tags made canonical.
func decodeAliasing(data []byte) (*pb.WakuMessage, error) {
	a := new(aliased)
	var unknown []byte
	for b := data; len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, fmt.Errorf("message: decode tag: %w", protowire.ParseError(n))
		}
		if !num.IsValid() { // ConsumeTag lets numbers past the maximum through
			return nil, fmt.Errorf("message: decode tag: field number %d is out of range", num)
		}
		b = b[n:]
		if n = a.field(num, typ, b); n == foreign {
			if n = protowire.ConsumeFieldValue(num, typ, b); n >= 0 {
				unknown = append(protowire.AppendTag(unknown, num, typ), b[:n]...)
			}
		}
		if n < 0 {
			return nil, fieldError(num, n, b)
		}
		b = b[n:]
	}
	if unknown != nil {
		a.m.ProtoReflect().SetUnknown(unknown)
	}
	return &a.m, nil
}

// What field returns in place of a length. Each value of the schema takes at
// least one byte, and protowire's own codes are small negative numbers.
const (
	foreign = 0           // not a field of the schema
	notUTF8 = math.MinInt // a content topic that is not UTF-8
)

// fieldError is the error for the code n, found at the field num whose value
// starts b.
func fieldError(num protowire.Number, n int, b []byte) error {
	if n == notUTF8 {
		v, _ := protowire.ConsumeBytes(b)
		return fmt.Errorf("message: decode: content %w: %.64q", ErrInvalidTopic, v)
	}
	return fmt.Errorf("message: decode field %d: %w", num, protowire.ParseError(n))
}

// field sets the field num from the head of b and returns the length consumed,
// foreign, or a negative code.
func (a *aliased) field(num protowire.Number, typ protowire.Type, b []byte) int {
	switch typ {
	case protowire.BytesType:
		return a.bytesField(num, b)
	case protowire.VarintType:
		return a.varintField(num, b)
	}
	return foreign
}

func (a *aliased) bytesField(num protowire.Number, b []byte) int {
	switch num {
	case fieldPayload, fieldContentTopic, fieldMeta, fieldRateLimitProof:
	default:
		return foreign
	}
	v, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return n
	}
	v = v[:len(v):len(v)] // an append by a consumer must not write into the next field
	switch num {
	case fieldPayload:
		a.m.Payload = nil // without presence: empty is absent, as proto.Unmarshal has it
		if len(v) > 0 {
			a.m.Payload = v
		}
	case fieldContentTopic:
		if !utf8.Valid(v) {
			return notUTF8
		}
		a.m.ContentTopic = unsafe.String(unsafe.SliceData(v), len(v))
	case fieldMeta:
		a.m.Meta = v
	case fieldRateLimitProof:
		a.m.RateLimitProof = v
	}
	return n
}

func (a *aliased) varintField(num protowire.Number, b []byte) int {
	switch num {
	case fieldVersion, fieldTimestamp, fieldEphemeral:
	default:
		return foreign
	}
	v, n := protowire.ConsumeVarint(b)
	if n < 0 {
		return n
	}
	switch num {
	case fieldVersion: // the low 32 bits, as protobuf defines it
		a.version, a.m.Version = uint32(v), &a.version
	case fieldTimestamp:
		a.timestamp, a.m.Timestamp = protowire.DecodeZigZag(v), &a.timestamp
	case fieldEphemeral:
		a.ephemeral, a.m.Ephemeral = protowire.DecodeBool(v), &a.ephemeral
	}
	return n
}
