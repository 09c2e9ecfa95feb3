package message

import (
	"errors"
	"fmt"
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
	// is used, and which it keeps alive.
	Aliasing
)

// Decode decodes the wire message data.
func (d Decoder) Decode(data []byte) (*pb.WakuMessage, error) {
	if d == Aliasing {
		return decodeAliasing(data)
	}
	m := new(pb.WakuMessage)
	if err := proto.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("message: decode: %w", err)
	}
	return m, nil
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

var errInvalidUTF8 = errors.New("content topic is not valid UTF-8")

// aliased holds a message and the scalars it points at, so that decoding is
// one allocation.
type aliased struct {
	m         pb.WakuMessage
	timestamp int64
	version   uint32
	ephemeral bool
}

// decodeAliasing decodes data without copying a field. Like proto.Unmarshal it
// lets the last of repeated fields win, takes a known field of another wire type
// for an unknown one, and keeps unknown fields with their tags made canonical.
func decodeAliasing(data []byte) (*pb.WakuMessage, error) {
	a := new(aliased)
	var unknown []byte
	for b := data; len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, fmt.Errorf("message: decode: %w", protowire.ParseError(n))
		}
		b = b[n:]
		n, known := a.field(num, typ, b)
		if !known {
			if n = protowire.ConsumeFieldValue(num, typ, b); n >= 0 {
				unknown = append(protowire.AppendTag(unknown, num, typ), b[:n]...)
			}
		}
		if n < 0 {
			return nil, fmt.Errorf("message: decode field %d: %w", num, protowire.ParseError(n))
		}
		b = b[n:]
	}
	if !utf8.ValidString(a.m.ContentTopic) {
		return nil, fmt.Errorf("message: decode: %w", errInvalidUTF8)
	}
	if unknown != nil {
		a.m.ProtoReflect().SetUnknown(unknown)
	}
	return &a.m, nil
}

// field sets the field num from the head of b. It returns the length consumed,
// negative for an error, and whether the field is of the schema.
func (a *aliased) field(num protowire.Number, typ protowire.Type, b []byte) (n int, known bool) {
	switch {
	case typ == protowire.BytesType:
		return a.bytesField(num, b)
	case typ == protowire.VarintType:
		return a.varintField(num, b)
	}
	return 0, false
}

func (a *aliased) bytesField(num protowire.Number, b []byte) (n int, known bool) {
	var to *[]byte
	switch num {
	case fieldPayload:
		to = &a.m.Payload
	case fieldMeta:
		to = &a.m.Meta
	case fieldRateLimitProof:
		to = &a.m.RateLimitProof
	case fieldContentTopic:
		v, n := protowire.ConsumeBytes(b)
		a.m.ContentTopic = unsafe.String(unsafe.SliceData(v), len(v))
		return n, true
	default:
		return 0, false
	}
	v, n := protowire.ConsumeBytes(b)
	*to = v[:len(v):len(v)]
	return n, true
}

func (a *aliased) varintField(num protowire.Number, b []byte) (n int, known bool) {
	switch num {
	case fieldVersion, fieldTimestamp, fieldEphemeral:
	default:
		return 0, false
	}
	v, n := protowire.ConsumeVarint(b)
	switch num {
	case fieldVersion:
		a.version, a.m.Version = uint32(v), &a.version
	case fieldTimestamp:
		a.timestamp, a.m.Timestamp = protowire.DecodeZigZag(v), &a.timestamp
	case fieldEphemeral:
		a.ephemeral, a.m.Ephemeral = protowire.DecodeBool(v), &a.ephemeral
	}
	return n, true
}
