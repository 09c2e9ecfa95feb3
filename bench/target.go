package bench

import (
	"context"
	"time"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

// A Delivery tells that a message reached the end of its path, the receiver's
// application.
type Delivery struct {
	Index     int       // the message's number: see Numbers
	At        time.Time // when the application was called
	Committed time.Time // when the archive had committed it; zero: no archive
}

// A Target is anything that messages can be driven through: nodes of this
// project, bare gossipsub, an adopter's relay.
type Target interface {
	// Start returns when a message published now would reach the receiver. The
	// target takes over messages, of which message i has number i; what it
	// needs of them is made ready here, outside the measurement.
	Start(ctx context.Context, messages []*pb.WakuMessage) error
	// Publish hands message i to the target. One goroutine calls it.
	Publish(ctx context.Context, i int) error
	// Delivered returns the channel of deliveries, always the same after Start.
	// It must have room for every message in flight.
	Delivered() <-chan Delivery
	// Close frees everything. A second Close returns nil.
	Close() error
}

// An Accountant is a Target that says what its nodes did.
type Accountant interface {
	// Nodes waits until every node has handled all that was published and
	// returns what each did since Start. It works after Close too.
	Nodes(ctx context.Context) ([]verdict.Node, error)
	// Losses returns at once what the nodes rejected and dropped since Start, a
	// line for each node and cause.
	Losses() []string
}

// A Verifier is a Target that can prove, outside the counted path, that what
// arrived is what was published.
type Verifier interface {
	// Verify is called when every message was delivered. Its error says what was
	// lost, added or altered.
	Verify(ctx context.Context) error
}

// A Viewer is a Target whose receiver shares one decoded message between
// consumers.
type Viewer interface {
	// Views looks, outside the counted path, at the first messages that were shared
	// and returns how many it saw. Its error says which was
	// altered since. It is called when every message was delivered.
	Views() (int, error)
}

// Work is done by a node for each message that reached its application. It has
// the node's name, its counters and the encoded message, which it must not alter.
type Work func(node string, counts counters.Set, wire []byte)

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
