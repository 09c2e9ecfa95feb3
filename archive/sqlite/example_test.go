package sqlite_test

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

func Example() {
	ctx := context.Background()
	d, err := sqlite.Open(ctx, sqlite.Memory)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = d.Close() }()

	m := &pb.WakuMessage{Payload: []byte("hello"), ContentTopic: "/app/1/chat/proto", Timestamp: proto.Int64(7)}
	key := message.Key{Timestamp: m.GetTimestamp(), Hash: message.Blake3.Sum("/waku/2/rs/0/0", m)}
	row := archive.Row{Key: key, Topic: "/waku/2/rs/0/0", Message: m}
	fresh, err := d.Insert(ctx, []archive.Row{row, row})
	fmt.Println(fresh, err)

	got, err := archive.Get(ctx, d, key.Hash)
	fmt.Printf("%s %v\n", got.Message.GetPayload(), err)
	// Output:
	// [true false] <nil>
	// hello <nil>
}
