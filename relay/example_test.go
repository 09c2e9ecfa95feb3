package relay_test

import (
	"context"
	"fmt"

	"github.com/libp2p/go-libp2p"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/relay"
)

var siteApp = counters.NewSite("example.app")

// A node that runs alone publishes a message, which its own app receives.
func Example() {
	host, err := libp2p.New(libp2p.NoListenAddrs)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = host.Close() }()

	received := make(chan string, 1)
	app := func(_ context.Context, env *message.Envelope) error {
		m, err := env.Message(siteApp)
		if err != nil {
			return err
		}
		received <- fmt.Sprintf("%s on %s", m.GetPayload(), m.GetContentTopic())
		return nil
	}
	r, err := relay.New(host, relay.Options{
		Reach:        relay.ReachNode,
		Topics:       []string{"/waku/2/rs/1/0"},
		Stages:       []relay.Stage{app},
		AllowNoPeers: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error, 1)
	go func() { done <- r.Run(context.Background()) }()
	<-r.Ready()

	hash, err := r.Publish(context.Background(), "/waku/2/rs/1/0", &pb.WakuMessage{
		Payload:      []byte("hello"),
		ContentTopic: "/example/1/chat/proto",
		Timestamp:    proto.Int64(1_700_000_000_000_000_000),
	})
	fmt.Println(hash, err)
	fmt.Println(<-received)
	fmt.Println(r.Close(), <-done)
	s := r.Stats()[0]
	fmt.Println("published", s.Published, "delivered", s.Delivered)
	// Output:
	// de9cbf1bea4a9cd67f947ce5b5662f14883d5569678fb6a77b13a8e16857a4fb <nil>
	// hello on /example/1/chat/proto
	// <nil> <nil>
	// published 1 delivered 1
}
