package filter

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// ClientOptions say what a Client does. Handle must be set; the zero value of the
// rest holds the defaults.
type ClientOptions struct {
	Counts counters.Set   // the light node's counters; the zero Set counts nothing
	Format message.Format // how messages are read, named and bounded

	// Handle is called for each message pushed that the client is subscribed to at
	// the peer, in the order of one stream, and holds up the next one of it. The
	// message is decoded. Of different peers it is called at once. It must not call
	// Close.
	Handle func(peer.ID, *message.Envelope)

	Timeout time.Duration // of a request, its answer included; 0: 10 seconds
}

// Validate reports everything wrong with o.
func (o ClientOptions) Validate() error {
	errs := []error{o.Format.Validate()}
	if o.Handle == nil {
		errs = append(errs, errors.New("filter: client options: Handle is nil"))
	}
	if o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("filter: client options: Timeout %v is negative", o.Timeout))
	}
	return errors.Join(errs...)
}

// Client is a light peer: it subscribes at servers and takes what they push.
type Client struct {
	life
	host    host.Host
	opts    ClientOptions
	streams streams // of pushes
	tally   struct{ delivered, unwanted, invalid, malformed, strangers atomic.Uint64 }

	mu   sync.RWMutex
	subs map[peer.ID]map[pair]bool // no entry is empty
}

// ClientStats is what a Client did so far.
type ClientStats struct {
	Delivered uint64 // messages handed to Handle
	Unwanted  uint64 // pushes of a topic that is not subscribed at the peer, or of no pubsub topic
	Invalid   uint64 // pushes whose message is not one, or past the limits
	Malformed uint64 // streams that ended in what is no push
	Strangers uint64 // streams refused, of peers at which nothing is subscribed
}

// NewClient returns a Client on a host, which it does not close. It starts nothing.
func NewClient(h host.Host, o ClientOptions) (*Client, error) {
	err := o.Validate()
	if h == nil {
		err = errors.Join(err, errors.New("filter: new client: host is nil"))
	}
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	return &Client{life: newLife(), host: h, opts: o, subs: make(map[peer.ID]map[pair]bool)}, nil
}

// Run takes pushes until ctx ends or Close is called, and returns nil when Handle
// is called no more. It unsubscribes nowhere. A Client runs once.
func (c *Client) Run(ctx context.Context) error {
	if err := c.begin("client"); err != nil {
		return err
	}
	defer close(c.done)
	c.host.SetStreamHandler(PushProtocol, func(st network.Stream) {
		c.streams.handle(st, func() error { return c.take(st) })
	})
	close(c.ready)
	select {
	case <-ctx.Done():
	case <-c.stop:
	}
	c.host.RemoveStreamHandler(PushProtocol)
	c.streams.close()
	return nil
}

// Subscribe asks a peer to push what is on a pubsub topic with one of 1 to 100
// content topics, of [MaxTopicBytes] at most each, beside what it pushes already. It
// may be called once Ready's channel is closed. The error is a [StatusError] if the peer refused.
func (c *Client) Subscribe(ctx context.Context, p peer.ID, pubsubTopic string, contentTopics ...string) error {
	if err := c.checked(pubsubTopic, contentTopics); err != nil {
		return fmt.Errorf("filter: subscribe at %v: %w", p, err)
	}
	added := c.add(p, pairs(pubsubTopic, contentTopics)) // the first push may come before the answer
	if err := c.ask(ctx, p, pb.FilterSubscribeRequest_SUBSCRIBE, pubsubTopic, contentTopics); err != nil {
		c.cut(p, added)
		return fmt.Errorf("filter: subscribe at %v: %w", p, err)
	}
	return nil
}

// Unsubscribe asks a peer to push these no more. Whatever the peer answers,
// nothing of them is delivered from now on. The error is a [StatusError] if the
// peer refused.
func (c *Client) Unsubscribe(ctx context.Context, p peer.ID, pubsubTopic string, contentTopics ...string) error {
	if err := c.checked(pubsubTopic, contentTopics); err != nil {
		return fmt.Errorf("filter: unsubscribe at %v: %w", p, err)
	}
	c.cut(p, pairs(pubsubTopic, contentTopics))
	if err := c.ask(ctx, p, pb.FilterSubscribeRequest_UNSUBSCRIBE, pubsubTopic, contentTopics); err != nil {
		return fmt.Errorf("filter: unsubscribe at %v: %w", p, err)
	}
	return nil
}

// UnsubscribeAll is Unsubscribe of all that is subscribed at a peer.
func (c *Client) UnsubscribeAll(ctx context.Context, p peer.ID) error {
	c.mu.Lock()
	delete(c.subs, p)
	c.mu.Unlock()
	if err := c.ask(ctx, p, pb.FilterSubscribeRequest_UNSUBSCRIBE_ALL, "", nil); err != nil {
		return fmt.Errorf("filter: unsubscribe all at %v: %w", p, err)
	}
	return nil
}

// Ping asks a peer to keep what is subscribed there, which it otherwise forgets
// after some minutes. The error is a [StatusError] with StatusNotFound if it
// has forgotten: then everything is to be subscribed again.
func (c *Client) Ping(ctx context.Context, p peer.ID) error {
	if err := c.ask(ctx, p, pb.FilterSubscribeRequest_SUBSCRIBER_PING, "", nil); err != nil {
		return fmt.Errorf("filter: ping %v: %w", p, err)
	}
	return nil
}

// checked says why criteria cannot be asked for.
func (c *Client) checked(pubsub string, content []string) error {
	if !c.running() {
		return errNotRunning
	}
	return checkCriteria(pubsub, content)
}

// add notes pairs as subscribed at a peer and returns those that were not.
func (c *Client) add(p peer.ID, to []pair) (added []pair) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.subs[p] == nil {
		c.subs[p] = make(map[pair]bool)
	}
	for _, t := range to {
		if !c.subs[p][t] {
			c.subs[p][t] = true
			added = append(added, t)
		}
	}
	return added
}

// cut notes pairs as not subscribed at a peer.
func (c *Client) cut(p peer.ID, from []pair) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range from {
		delete(c.subs[p], f)
	}
	if len(c.subs[p]) == 0 {
		delete(c.subs, p)
	}
}

// ask makes one request and waits for its answer.
func (c *Client) ask(ctx context.Context, p peer.ID, kind pb.FilterSubscribeRequest_FilterSubscribeType, pubsub string, content []string) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	st, err := c.host.NewStream(ctx, p, SubscribeProtocol)
	if err != nil {
		return err
	}
	defer func() { _ = st.Reset() }() // of a stream that is done with, nothing
	stop := context.AfterFunc(ctx, func() { _ = st.Reset() })
	defer stop()
	req := &pb.FilterSubscribeRequest{RequestId: rand.Text(), FilterSubscribeType: kind, ContentTopics: content}
	if pubsub != "" {
		req.PubsubTopic = proto.String(pubsub)
	}
	if err = exchange(st, req); err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err) // which is why the stream was reset
	}
	return err
}

// exchange sends a request and returns what its answer says.
func exchange(st network.Stream, req *pb.FilterSubscribeRequest) error {
	if err := writeMessage(st, req); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	if err := st.CloseWrite(); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	resp := new(pb.FilterSubscribeResponse)
	if err := readMessage(st, resp); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if code := resp.GetStatusCode(); code/100 != 2 { // a server that could not read the request does not know its id
		return &StatusError{Code: code, Desc: resp.GetStatusDesc()}
	}
	if resp.GetRequestId() != req.GetRequestId() {
		return fmt.Errorf("answer is to request %q, not to %q", resp.GetRequestId(), req.GetRequestId())
	}
	return nil
}

// Stats returns what c did so far.
func (c *Client) Stats() ClientStats {
	t := &c.tally
	return ClientStats{
		Delivered: t.delivered.Load(), Unwanted: t.unwanted.Load(), Invalid: t.invalid.Load(),
		Malformed: t.malformed.Load(), Strangers: t.strangers.Load(),
	}
}
