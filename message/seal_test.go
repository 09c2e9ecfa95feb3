package message_test

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

func TestSealRoundTrip(t *testing.T) {
	for _, format := range formats() {
		counts := counters.New()
		m := wholeMessage()
		sealed, err := message.Seal(counts, format, topic, m, siteFirst)
		if err != nil {
			t.Fatal(err)
		}
		key, err := sealed.Key(siteSecond)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := sealed.Message(siteSecond); got != m || err != nil {
			t.Errorf("a sealed message was decoded, or: %v", err)
		}
		for _, d := range decoders {
			received := message.Wrap(counters.Set{}, message.Format{Hash: format.Hash, Decoder: d}, topic, sealed.Bytes())
			got, err := received.Message(siteSecond)
			if err != nil || !proto.Equal(got, wholeMessage()) {
				t.Errorf("%v: received %v, %v", d, got, err)
			}
			if k, err := received.Key(siteSecond); k != key || err != nil {
				t.Errorf("%v: received key %v, %v; sealed %v", d, k, err, key)
			}
		}
		expectCounts(t, counts, map[string]counters.Counts{
			"message_test.first":  {Encodes: 1, EncodedBytes: uint64(len(sealed.Bytes()))},
			"message_test.second": {Hashes: 1, HashedBytes: uint64(len("payload") + len("meta"))},
		})
	}
}

func TestSealDeterministic(t *testing.T) {
	var first []byte
	for range 50 {
		e, err := message.Seal(counters.Set{}, message.Format{}, topic, wholeMessage(), siteFirst)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = e.Bytes()
		}
		if !bytes.Equal(e.Bytes(), first) {
			t.Fatalf("sealed as %x and as %x", first, e.Bytes())
		}
	}
}

// What a receiver would refuse is not sent, and not encoded.
func TestSealRefuses(t *testing.T) {
	valid := func(change func(*pb.WakuMessage)) *pb.WakuMessage {
		m := wholeMessage()
		change(m)
		return m
	}
	for name, c := range map[string]struct {
		topic string
		m     *pb.WakuMessage
		want  error
	}{
		"meta":               {topic, valid(func(m *pb.WakuMessage) { m.Meta = make([]byte, 65) }), message.ErrMetaTooLong},
		"no content topic":   {topic, valid(func(m *pb.WakuMessage) { m.ContentTopic = "" }), message.ErrNoContentTopic},
		"nil":                {topic, nil, message.ErrNoContentTopic},
		"content topic":      {topic, valid(func(m *pb.WakuMessage) { m.ContentTopic = "abc\xff" }), message.ErrInvalidTopic},
		"pubsub topic":       {"abc\xff", wholeMessage(), message.ErrInvalidTopic},
		"payload of 153600":  {topic, valid(func(m *pb.WakuMessage) { m.Payload = make([]byte, 153_600) }), message.ErrTooLarge},
		"schema in unknown":  {topic, valid(func(m *pb.WakuMessage) { m.ProtoReflect().SetUnknown([]byte{0x0a, 1, 'x'}) }), errAny},
		"scalars in unknown": {topic, valid(func(m *pb.WakuMessage) { m.ProtoReflect().SetUnknown([]byte{0xf8, 1, 0}) }), errAny},
		"cut unknown":        {topic, valid(func(m *pb.WakuMessage) { m.ProtoReflect().SetUnknown([]byte{0xaa, 6, 9}) }), errAny},
	} {
		counts := counters.New()
		e, err := message.Seal(counts, message.Format{}, c.topic, c.m, siteFirst)
		if e != nil || !matches(err, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, e, err, c.want)
		}
		expectCounts(t, counts, nil)
	}
}

func TestSealLargest(t *testing.T) {
	m := &pb.WakuMessage{ContentTopic: "/app/1/name/proto"}
	m.Payload = make([]byte, message.DefaultMaxSize-proto.Size(m)-4) // tag and a length of 3 bytes
	e, err := message.Seal(counters.Set{}, message.Format{}, topic, m, siteFirst)
	if err != nil || len(e.Bytes()) != 153_600 {
		t.Fatalf("sealed: %v", err)
	}
	m.Payload = append(m.Payload, 0)
	if _, err := message.Seal(counters.Set{}, message.Format{}, topic, m, siteFirst); !errors.Is(err, message.ErrTooLarge) {
		t.Errorf("a byte more: error %v, want ErrTooLarge", err)
	}
}
