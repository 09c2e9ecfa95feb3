package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
)

var siteSink = counters.NewSite("relaynodetest.sink")

// publish FROM TO TOPIC N connects a source to the relaynode at address FROM
// and a sink to the one at TO, has the source publish N messages, and waits
// until the sink has them all, when each relaynode on the way has accepted them.
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: publish FROM TO TOPIC N")
	}
	n, err := strconv.Atoi(args[3])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	source, stopSource, err := end(ctx, args[0], args[2])
	ts.Check(err)
	arrived := make(chan bool, n+1000)
	_, stopSink, err := end(ctx, args[1], args[2], func(_ context.Context, env *message.Envelope) error {
		m, err := env.Message(siteSink)
		arrived <- m.GetEphemeral()
		return err
	})
	if err != nil {
		ts.Check(errors.Join(err, stopSource()))
	}
	err = transfer(ctx, source, args[2], n, arrived)
	ts.Check(errors.Join(err, stopSource(), stopSink()))
}

// end runs a node that is connected to the one at address.
func end(ctx context.Context, address, topic string, stages ...relay.Stage) (n *node.Node, stop func() error, err error) {
	to, err := peer.AddrInfoFromString(address)
	if err != nil {
		return nil, nil, err
	}
	n, err = node.New(node.Options{Relay: relay.Options{Topics: []string{topic}, Stages: stages}})
	if err != nil {
		return nil, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- n.Run(context.Background()) }()
	select {
	case <-n.Ready():
	case err := <-ended:
		return nil, nil, err
	}
	stop = func() error { return errors.Join(n.Close(), <-ended) }
	if err = n.Connect(ctx, *to); err == nil {
		err = n.Relay().WaitMesh(ctx, topic, 1)
	}
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return n, stop, nil
}

// transfer publishes n messages once the way to the sink is complete, and waits
// until they have arrived.
func transfer(ctx context.Context, source *node.Node, topic string, n int, arrived <-chan bool) error {
	if err := probe(ctx, source, topic, arrived); err != nil {
		return err
	}
	for i := range n {
		if err := send(ctx, source, topic, i, false); err != nil {
			return err
		}
	}
	for got := 0; got < n; {
		select {
		case ephemeral := <-arrived:
			if !ephemeral {
				got++
			}
		case <-ctx.Done():
			return fmt.Errorf("%d of %d messages arrived: %w", got, n, ctx.Err())
		}
	}
	return nil
}

// probe publishes ephemeral messages, which no archive keeps, until one has
// arrived: then every node on the way has grafted the next.
func probe(ctx context.Context, source *node.Node, topic string, arrived <-chan bool) error {
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for i := 0; ; i++ {
		if err := send(ctx, source, topic, i, true); err != nil {
			return err
		}
		select {
		case <-arrived:
			return nil
		case <-every.C:
		case <-ctx.Done():
			return fmt.Errorf("no probe arrived: %w", ctx.Err())
		}
	}
}

func send(ctx context.Context, source *node.Node, topic string, i int, ephemeral bool) error {
	_, err := source.Relay().Publish(ctx, topic, &pb.WakuMessage{
		Payload:      fmt.Appendf(nil, "message %d", i),
		ContentTopic: "/test/1/relaynode/proto",
		Timestamp:    proto.Int64(time.Now().UnixNano()), // else no archive would take it
		Ephemeral:    proto.Bool(ephemeral),
	})
	return err
}
