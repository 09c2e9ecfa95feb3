package echo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/msgpath/msgpath/counters"

	"example.org/echo-relay/pb"
)

// Run handles notes until ctx ends or the node is closed, and then returns nil.
// A note that cannot be handled, such as one whose echo is refused, ends nothing:
// it is counted, told to the config's Fail, and the next one is taken.
func (n *Node) Run(ctx context.Context) error {
	for {
		m, err := n.sub.Next(ctx)
		if ctx.Err() != nil || errors.Is(err, pubsub.ErrSubscriptionCancelled) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("echo: receive: %w", err)
		}
		if err := n.handle(ctx, m); err != nil && ctx.Err() == nil {
			n.fail(err)
		}
	}
}

func (n *Node) fail(err error) {
	n.failed.Add(1)
	if n.config.Fail != nil {
		n.config.Fail(err)
	}
}

// Failed returns how many notes could not be handled so far.
func (n *Node) Failed() uint64 { return n.failed.Load() }

// handle delivers one note of another node and answers it.
func (n *Node) handle(ctx context.Context, m *pubsub.Message) error {
	if m.ReceivedFrom == n.host.ID() {
		return nil
	}
	r, ok := m.ValidatorData.(*received)
	if !ok { // what the validator knew is lost: do it again
		var err error
		if r, err = open(n.counts, siteHandler, m.Data); err != nil {
			return err
		}
	}
	if n.config.Deliver != nil {
		n.config.Deliver(r.note)
	}
	if !n.config.Echo || len(r.note.EchoOf) > 0 {
		return nil
	}
	return n.publish(ctx, n.reply(r))
}

// reply returns the echo of a note, with a body of its own.
func (n *Node) reply(r *received) *pb.Note {
	body := slices.Clone(r.note.Body)
	if counters.Enabled {
		counters.Copy(n.counts, siteReply, len(body))
	}
	return &pb.Note{Body: body, EchoOf: r.digest[:]}
}
