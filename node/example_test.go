package node_test

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
)

// A node alone publishes a message to itself and archives it.
func Example() {
	const topic = "/waku/2/rs/0/0"
	n, err := node.New(node.Options{
		Relay:   relay.Options{Topics: []string{topic}, AllowNoPeers: true},
		Listen:  []string{"/ip4/127.0.0.1/tcp/0"},
		Archive: "sqlite::memory:",
		Sync:    true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	select {
	case <-n.Ready():
	case err := <-ended:
		fmt.Println(err)
		return
	}
	_, err = n.Relay().Publish(ctx, topic, &pb.WakuMessage{
		Payload:      []byte("hello"),
		ContentTopic: "/example/1/greeting/plain",
		Timestamp:    proto.Int64(1700000000000000000),
	})
	fmt.Println("published:", err)
	n.Close() // commits what was accepted
	fmt.Println("ended:", <-ended)
	fmt.Println("stored:", n.Archive().Stats().Stored, "in the sync set:", n.SyncSet().Len())
	// Output:
	// published: <nil>
	// ended: <nil>
	// stored: 1 in the sync set: 1
}
