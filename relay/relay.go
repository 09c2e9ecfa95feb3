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
	ErrRejected  = errors.New("message is rejected") // by Receive: by its limits or a validator
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

	started atomic.Bool // Run was called, or Close before it
	ended   bool        // no topic can be joined any more; guarded by joining

	ready chan struct{}
	stop  chan struct{}
	done  chan struct{}
	close sync.Once
}

// New returns a Relay on a host, which it does not close. It starts nothing.
func New(h host.Host, o Options) (*Relay, error) {
	err := o.Validate()
	if h == nil {
		err = errors.Join(err, errors.New("relay: new: host is nil"))
	}
	if err != nil {
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
// called; then it leaves every topic, as Leave does, and returns nil. Another
// error says what could not be started, and leaves Ready's channel open. A Relay
// runs once: a second Run, or one after Close, returns an error that wraps
// ErrClosed.
func (r *Relay) Run(ctx context.Context) error {
	if !r.started.CompareAndSwap(false, true) {
		return fmt.Errorf("relay: run a second time or after Close: %w", ErrClosed)
	}
	defer close(r.done)
	return r.serve(ctx)
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
	defer r.unhandle()
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

// unhandle takes gossipsub's protocols off the host, where they would lead
// peers to a router that has ended.
func (r *Relay) unhandle() {
	for _, p := range protocols {
		r.host.RemoveStreamHandler(p)
	}
}

// Close ends Run, waits for it and returns nil. Before Run it keeps Run from
// starting. It must not be called by a stage, a validator or an observer, for
// which it waits.
func (r *Relay) Close() error {
	r.close.Do(func() { close(r.stop) })
	if r.started.CompareAndSwap(false, true) {
		close(r.done)
	}
	<-r.done
	return nil
}

// Join joins a topic beside the configured ones. The validators run after those
// of the options. It may be called once Ready's channel is closed; an error
// wraps ErrJoined, or ErrClosed once Run is ending.
func (r *Relay) Join(name string, validators ...Validator) error {
	select {
	case <-r.ready:
		return r.join(name, validators)
	default:
	}
	select {
	case <-r.done:
		return fmt.Errorf("relay: join %q: %w", name, ErrClosed)
	default:
		return fmt.Errorf("relay: join %q: relay is not running", name)
	}
}

// Leave leaves a topic. Messages accepted before it are handed to the store, or
// to the stages if there is none, before it returns; those that are not
// validated yet are dropped and counted as DropLeft. It waits for validators,
// whose context it ends, for calls of Publish and Inject, and for the handler,
// and so must not be called by any of them.
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
	r.ended = true
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
