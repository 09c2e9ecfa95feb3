package message_test

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

var (
	sitePublish = counters.NewSite("example.publish")
	siteArchive = counters.NewSite("example.archive")
)

// A publisher seals a message; a receiver wraps the bytes and asks for what it
// needs. Both name the message by the same key.
func Example() {
	const topic = "/waku/2/rs/0/0"
	sealed, err := message.Seal(counters.New(), message.Format{}, topic, &pb.WakuMessage{
		Payload:      []byte("hello"),
		ContentTopic: "/app/1/greeting/proto",
		Timestamp:    proto.Int64(1_700_000_000_000_000_000),
	}, sitePublish)
	if err != nil {
		fmt.Println(err)
		return
	}

	received := message.Wrap(counters.New(), message.Format{Decoder: message.Aliasing}, topic, sealed.Bytes())
	key, err := received.Key(siteArchive)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := received.Message(siteArchive) // decoded already
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d bytes: %q at %d\n", len(received.Bytes()), m.GetPayload(), key.Timestamp)
	fmt.Println(key.Hash)
	// Output:
	// 40 bytes: "hello" at 1700000000000000000
	// a9774a110842fc1cdde1d508346ece32459e5da046b73b242341799b538b9c0e
}

// Bytes that are no valid message give the same error to everyone who asks.
func ExampleEnvelope_Message() {
	e := message.Wrap(counters.New(), message.Format{}, "/waku/2/rs/0/0", nil)
	_, err := e.Message(siteArchive)
	fmt.Println(err)
	_, again := e.Hash(siteArchive)
	fmt.Println(errors.Is(again, message.ErrNoContentTopic))
	// Output:
	// message: no content topic
	// true
}

func ExampleAlgorithm() {
	algorithm, err := message.ParseAlgorithm("waku-sha256")
	if err != nil {
		fmt.Println(err)
		return
	}
	m := &pb.WakuMessage{
		Payload:      []byte("Hello World"),
		ContentTopic: "Test",
		Timestamp:    proto.Int64(123456789123456789),
	}
	fmt.Println(algorithm, algorithm.Sum("test", m))
	fmt.Println(message.Blake3, message.Blake3.Sum("test", m))
	// Output:
	// waku-sha256 b659607f2aae18848dcaa7d51cb37e6cc6fc33402c704ff0c016337d83ad6150
	// blake3 cea80b2a46528a4ee46e518be40b394fe6ac24744898d061ee820bacd077b954
}
