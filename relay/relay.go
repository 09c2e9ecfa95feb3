package relay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p-pubsub/timecache"
	"github.com/libp2p/go-libp2p/core/host"

	"github.com/msgpath/msgpath/message"
)

// Errors on which a caller may branch.
var (
	ErrNotJoined = errors.New("topic is not joined") // also before Run has joined it and after Close
	ErrJoined    = errors.New("topic is joined already")
	ErrNoPeers   = errors.New("nobody is in the topic's mesh")
	ErrDuplicate = errors.New("message is known already")
	ErrClosed    = errors.New("relay is closed")
)

// Relay is one node's part in its gossipsub topics.
type Relay struct {
	opts   Options
	host   host.Host
	format message.Format

	joining sync.Mutex // held while joining or leaving; never taken by the tracer
	mu      sync.RWMutex
	topics  map[string]*topic   // joined now
	tallies map[string]*tallies // ever joined

	foreign atomic.Uint64

	// Set by Run before it closes ready.
	gossip   *pubsub.PubSub
	ctx      context.Context // gossipsub's, which outlives Run's while topics are left
	accepted timecache.TimeCache

	ready chan struct{}
	stop  chan struct{}
	done  chan struct{}
	run   sync.Once
	close sync.Once
}

// New returns a Relay on a host, which it does not close. It starts nothing.
func New(h host.Host, o Options) (*Relay, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Relay{
		opts:    o,
		host:    h,
		format:  message.Format{Hash: o.Hash, Decoder: o.Reach.decoder(), Limits: o.Limits},
		topics:  make(map[string]*topic),
		tallies: make(map[string]*tallies),
		ready:   make(chan struct{}),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}, nil
}

// Ready returns a channel that is closed when Run has joined the configured
// topics. Whether anybody is in their meshes is another matter: see WaitMesh.
func (r *Relay) Ready() <-chan struct{} { return r.ready }

// Run starts gossipsub, joins the topics and blocks until ctx ends or Close is
// called; then it leaves every topic, handing what was accepted to the handler,
// and returns nil. A second Run returns an error that wraps ErrClosed.
func (r *Relay) Run(ctx context.Context) error {
	err := fmt.Errorf("relay: run again: %w", ErrClosed)
	r.run.Do(func() {
		defer close(r.done)
		err = r.serve(ctx)
	})
	return err
}

func (r *Relay) serve(ctx context.Context) (err error) {
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r.accepted = timecache.NewTimeCacheWithStrategy(timecache.Strategy_LastSeen, r.opts.SeenTTL)
	defer r.accepted.Done()
	r.gossip, err = pubsub.NewGossipSub(r.ctx, r.host,
		append(GossipOptions(r.opts.Counts, r.opts), pubsub.WithRawTracer(tracer{r}))...)
	if err != nil {
		return fmt.Errorf("relay: start gossipsub: %w", err)
	}
	defer func() { err = errors.Join(err, r.leaveAll()) }()
	for _, name := range r.opts.Topics {
		if err = r.join(name, nil); err != nil {
			return err
		}
	}
	close(r.ready)
	select {
	case <-ctx.Done():
	case <-r.stop:
	}
	return nil
}

// Close ends Run, waits for it and returns nil. Before Run it keeps Run from
// starting.
func (r *Relay) Close() error {
	r.close.Do(func() { close(r.stop) })
	r.run.Do(func() { close(r.done) })
	<-r.done
	return nil
}

// Join joins a topic beside the configured ones. The validators run after those
// of the options. It may be called once Ready's channel is closed.
func (r *Relay) Join(name string, validators ...Validator) error {
	select {
	case <-r.done:
		return fmt.Errorf("relay: join %q: %w", name, ErrClosed)
	case <-r.ready:
		return r.join(name, validators)
	default:
		return fmt.Errorf("relay: join %q: relay is not running", name)
	}
}

// Leave leaves a topic. Messages accepted before are handed to the handler
// before it returns.
func (r *Relay) Leave(name string) error {
	r.joining.Lock()
	defer r.joining.Unlock()
	j := r.joined(name)
	if j == nil {
		return fmt.Errorf("relay: leave %q: %w", name, ErrNotJoined)
	}
	return r.leave(j)
}

func (r *Relay) leaveAll() error {
	r.joining.Lock()
	defer r.joining.Unlock()
	var errs []error
	for _, j := range r.joinedAll() {
		errs = append(errs, r.leave(j))
	}
	return errors.Join(errs...)
}

// joined returns the topic called name, nil if it is not joined.
func (r *Relay) joined(name string) *topic {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.topics[name]
}

func (r *Relay) joinedAll() (all []*topic) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, j := range r.topics {
		all = append(all, j)
	}
	return all
}

// wrap returns an Envelope for bytes received, charged to this node.
func (r *Relay) wrap(topic string, data []byte) *message.Envelope {
	return message.Wrap(r.opts.Counts, r.format, topic, data)
}
