package measure

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/msgpath/msgpath/counters"

	"example.org/echo-relay/echo"
	"example.org/echo-relay/pb"
)

const loopback = "/ip4/127.0.0.1/tcp/0"

// A Pair is node A, which publishes, and node B, which echoes.
type Pair struct {
	A, B      counters.Set // what each node counts
	reuse     bool
	a, b      *echo.Node
	delivered chan *pb.Note
	stop      context.CancelFunc
	failed    chan error // the first note that a node could not handle
	ended     chan error // one for each node that runs
}

// NewPair returns two nodes that are not started. With reuse, a node decodes and
// hashes each received note once. Room is for echoes that nobody has taken yet;
// with more, node A waits.
func NewPair(reuse bool, room int) *Pair {
	return &Pair{
		A: counters.New(), B: counters.New(), reuse: reuse,
		delivered: make(chan *pb.Note, room), failed: make(chan error, 1), ended: make(chan error, 2),
	}
}

// Start returns when a note published now would reach B and its echo A.
func (p *Pair) Start(ctx context.Context) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.stop = stop
	a := echo.Config{Counts: p.A, Deliver: func(n *pb.Note) { p.deliver(running, n) }}
	b := echo.Config{Counts: p.B, Echo: true}
	var err error
	if p.a, err = p.node(1, a); err != nil {
		return err
	}
	if p.b, err = p.node(2, b); err != nil {
		return err
	}
	for _, n := range []*echo.Node{p.a, p.b} {
		go func() { p.ended <- n.Run(running) }()
	}
	return errors.Join(p.a.Connect(ctx, p.b.Address()), p.a.Joined(ctx), p.b.Joined(ctx))
}

// node makes a node whose key depends on its number alone.
func (p *Pair) node(number byte, c echo.Config) (*echo.Node, error) {
	c.Listen, c.Reuse, c.Fail = loopback, p.reuse, p.fail
	c.Key = ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), number))
	return echo.New(c)
}

func (p *Pair) deliver(ctx context.Context, n *pb.Note) {
	select {
	case p.delivered <- n:
	case <-ctx.Done():
	}
}

// fail keeps the first failure, which makes the run invalid.
func (p *Pair) fail(err error) {
	select {
	case p.failed <- err:
	default:
	}
}

// Publish sends a note from A.
func (p *Pair) Publish(ctx context.Context, body []byte) error { return p.a.Publish(ctx, body) }

// Delivered returns the channel of echoes that reached A.
func (p *Pair) Delivered() <-chan *pb.Note { return p.delivered }

// Close ends both nodes and returns what made one of them end before.
func (p *Pair) Close() error {
	if p.stop == nil {
		return nil
	}
	p.stop()
	p.stop = nil
	var errs []error
	for _, n := range []*echo.Node{p.a, p.b} {
		if n != nil {
			errs = append(errs, n.Close())
		}
	}
	if p.a != nil && p.b != nil {
		errs = append(errs, <-p.ended, <-p.ended)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("measure: close nodes: %w", err)
	}
	return nil
}
