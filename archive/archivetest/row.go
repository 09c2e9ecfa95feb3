package archivetest

import (
	"encoding/binary"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// Topic is the pubsub topic of the rows made here.
const Topic = "/waku/2/rs/0/0"

// NewRow returns m on the pubsub topic as a row under its own key.
func NewRow(topic string, m *pb.WakuMessage) archive.Row {
	key := message.Key{Timestamp: m.GetTimestamp(), Hash: message.Blake3.Sum(topic, m)}
	return archive.Row{Key: key, Topic: topic, Message: m}
}

// Numbered returns a row with a payload of size bytes (at least 8) that begins
// with the number n, at the timestamp in nanoseconds.
func Numbered(n uint64, timestamp int64, size int) archive.Row {
	payload := make([]byte, max(size, 8))
	binary.BigEndian.PutUint64(payload, n)
	return NewRow(Topic, &pb.WakuMessage{
		Payload: payload, ContentTopic: "/archivetest/1/numbered/proto", Timestamp: proto.Int64(timestamp),
	})
}

// drawRow draws a row with any combination of fields, present, absent and empty.
func drawRow(t *rapid.T) archive.Row {
	m := &pb.WakuMessage{
		Payload:        drawBytes(t, "payload", 300),
		ContentTopic:   rapid.StringN(1, -1, 80).Draw(t, "contentTopic"),
		Version:        rapid.Ptr(rapid.Uint32(), true).Draw(t, "version"),
		Timestamp:      rapid.Ptr(rapid.Int64(), true).Draw(t, "timestamp"),
		Meta:           drawBytes(t, "meta", message.DefaultMaxMeta),
		RateLimitProof: drawBytes(t, "proof", 300),
		Ephemeral:      rapid.Ptr(rapid.Bool(), true).Draw(t, "ephemeral"),
	}
	return NewRow(rapid.StringN(0, -1, 80).Draw(t, "topic"), m)
}

// drawBytes draws nil, an empty slice or up to limit bytes.
func drawBytes(t *rapid.T, label string, limit int) []byte {
	if !rapid.Bool().Draw(t, label+" present") {
		return nil
	}
	return rapid.SliceOfN(rapid.Byte(), 0, limit).Draw(t, label)
}

// requireSame fails unless got is want in every field, hashes to its key, and
// tells absent from empty as want does.
func requireSame(t rapid.TB, got, want archive.Row) {
	t.Helper()
	if got.Key != want.Key || got.Topic != want.Topic {
		t.Fatalf("got row %v on %q, want %v on %q", got.Key, got.Topic, want.Key, want.Topic)
	}
	if !proto.Equal(got.Message, want.Message) {
		t.Fatalf("got message %v, want %v", got.Message, want.Message)
	}
	if h := message.Blake3.Sum(got.Topic, got.Message); h != got.Key.Hash {
		t.Fatalf("row hashes to %s, its key says %s", h, got.Key.Hash)
	}
}
