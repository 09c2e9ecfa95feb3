package message_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// benchMessage is a message with a payload of kB thousand bytes.
func benchMessage(kB int) *pb.WakuMessage {
	return &pb.WakuMessage{
		Payload:      make([]byte, kB*1000),
		ContentTopic: "/app/1/name/proto",
		Timestamp:    proto.Int64(1_700_000_000_123_456_789),
	}
}

// atSizes runs f for payloads of 10, 50 and 150 kB.
func atSizes(b *testing.B, name string, f func(b *testing.B, m *pb.WakuMessage)) {
	for _, kB := range []int{10, 50, 150} {
		b.Run(fmt.Sprintf("%s/size=%dkB", name, kB), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(kB) * 1000)
			f(b, benchMessage(kB))
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, d := range decoders {
		atSizes(b, "decoder="+d.String(), func(b *testing.B, m *pb.WakuMessage) {
			wire := marshal(b, m)
			for b.Loop() {
				if _, err := d.Decode(wire); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSum(b *testing.B) {
	for _, a := range algorithms {
		atSizes(b, "hash="+a.String(), func(b *testing.B, m *pb.WakuMessage) {
			for b.Loop() {
				a.Sum(topic, m)
			}
		})
	}
}

func BenchmarkSeal(b *testing.B) {
	atSizes(b, "seal", func(b *testing.B, m *pb.WakuMessage) {
		for b.Loop() {
			if _, err := message.Seal(counters.Set{}, message.Format{}, topic, m, siteFirst); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkEnvelope is a received message that one consumer decodes and another
// hashes.
func BenchmarkEnvelope(b *testing.B) {
	for _, d := range decoders {
		counts := counters.New()
		format := message.Format{Decoder: d}
		atSizes(b, "decoder="+d.String(), func(b *testing.B, m *pb.WakuMessage) {
			wire := marshal(b, m)
			for b.Loop() {
				e := message.Wrap(counts, format, topic, wire)
				_, errMessage := e.Message(siteFirst)
				_, errKey := e.Key(siteSecond)
				if errMessage != nil || errKey != nil {
					b.Fatal(errMessage, errKey)
				}
			}
		})
	}
}
