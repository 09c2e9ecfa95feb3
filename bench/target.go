package bench

import (
	"context"
	"time"

	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

// An Item is one message of a workload, ready to be driven.
type Item struct {
	Index   int             // the number in the first 8 bytes of the payload
	Message *pb.WakuMessage // shared between runs' messages and read-only
	Wire    []byte          // its canonical encoding, made outside the measurement
}

// A Delivery tells that a message reached the end of its path: the receiver's
// application, after its archive committed it.
type Delivery struct {
	Index int
	At    time.Time
}

// A Target is anything that messages can be driven through: nodes of this
// project, bare gossipsub, an adopter's relay.
type Target interface {
	// Start returns when a message published now would reach the receiver.
	Start(ctx context.Context) error
	// Publish hands one message to the target. One goroutine calls it.
	Publish(ctx context.Context, it Item) error
	// Delivered returns the channel of deliveries, always the same. It must have
	// room for every message in flight.
	Delivered() <-chan Delivery
	// Close frees everything. A second Close returns nil.
	Close() error
}

// An Accountant is a Target that says what its nodes did.
type Accountant interface {
	// Nodes waits until every node has handled all that was published and
	// returns what each did since Start.
	Nodes(ctx context.Context) ([]verdict.Node, error)
}

// A Verifier is a Target that can prove, outside the counted path, that what
// arrived is what was published.
type Verifier interface {
	// Verify returns an error that says what was lost, added or altered, given
	// every message published since Start.
	Verify(ctx context.Context, items []Item) error
}

// settling waits until a publisher has delivered to itself what it published,
// which the receiver's deliveries do not wait for.
type settling struct {
	handled            chan struct{} // one for each message that the publisher delivered to itself
	published, settled int
}

func newSettling(room int) settling { return settling{handled: make(chan struct{}, room)} }

func (s *settling) wait(ctx context.Context) error {
	timer := time.NewTimer(stall)
	defer timer.Stop()
	for ; s.settled < s.published; s.settled++ {
		select {
		case <-s.handled:
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return invalid("the publisher delivered %d of its own %d messages to itself", s.settled, s.published)
		}
	}
	return nil
}
