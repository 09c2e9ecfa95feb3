package archive_test

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

func Example() {
	a, err := archive.New(archive.NewMemory(), archive.Options{
		Stored: func(env *message.Envelope, err error) {
			m, _ := env.Message(counters.Site{})
			fmt.Printf("%s: %v\n", m.GetPayload(), err)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error)
	go func() { ran <- a.Run(ctx) }()

	for _, text := range []string{"hello", "world", "hello"} {
		m := &pb.WakuMessage{Payload: []byte(text), ContentTopic: "/app/1/chat/proto", Timestamp: proto.Int64(7)}
		data, _ := proto.Marshal(m)
		env := message.Wrap(counters.Set{}, message.Format{}, "/waku/2/rs/0/0", data)
		if err := a.Store(ctx, env); err != nil {
			fmt.Println(err)
		}
	}
	stop() // what was accepted is committed all the same
	fmt.Println(<-ran, a.Close())
	fmt.Println(a.Stats().Stored, "stored")
	// Output:
	// hello: <nil>
	// world: <nil>
	// hello: already stored
	// <nil> <nil>
	// 2 stored
}
