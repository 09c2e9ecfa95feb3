package filter_test

import (
	"context"
	"fmt"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/filter"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

var siteApp = counters.NewSite("example.app")

// A light peer subscribes to a content topic, and a server pushes to it what its
// node has received.
func Example() {
	const pubsub, content = "/waku/2/rs/1/0", "/example/1/chat/proto"
	ctx := context.Background()
	host, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer host.Close()
	lightHost, err := libp2p.New(libp2p.NoListenAddrs)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lightHost.Close()

	server, err := filter.New(host, filter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pushed := make(chan string, 1)
	client, err := filter.NewClient(lightHost, filter.ClientOptions{
		Handle: func(_ peer.ID, env *message.Envelope) {
			m, _ := env.Message(siteApp) // decoded already
			pushed <- fmt.Sprintf("%s on %s", m.GetPayload(), env.Topic())
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	go server.Run(ctx)
	go client.Run(ctx)
	defer server.Close()
	defer client.Close()
	<-server.Ready()
	<-client.Ready()

	if err := lightHost.Connect(ctx, peer.AddrInfo{ID: host.ID(), Addrs: host.Addrs()}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("subscribe:", client.Subscribe(ctx, host.ID(), pubsub, content))

	env, err := message.Seal(counters.New(), message.Format{}, pubsub,
		&pb.WakuMessage{Payload: []byte("hello"), ContentTopic: content, Timestamp: proto.Int64(1_700_000_000_000_000_000)}, siteApp)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("stages:", server.Match(ctx, env), server.Push(ctx, env))
	fmt.Println(<-pushed)
	// Output:
	// subscribe: <nil>
	// stages: <nil> <nil>
	// hello on /waku/2/rs/1/0
}
