package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/filter"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/storesync"
	"github.com/msgpath/msgpath/storesync/p2p"
)

// Node is one relay node.
type Node struct {
	options Options
	peers   []peer.AddrInfo
	open    opener // nil: no archive
	logger  *slog.Logger
	metrics *metrics

	// Set by Run before it closes ready.
	host      host.Host
	relay     *relay.Relay
	archive   *archive.Archive
	set       *storesync.Set
	handled   *lru.Cache[message.Hash, struct{}] // what passed the archive; nil: the archive tells
	recording *corpus.Writer                     // nil: none
	filter    *filter.Server
	syncer    *p2p.Syncer

	started  atomic.Bool // Run was called, or Close before it
	ready    chan struct{}
	stop     chan struct{} // closed by Close
	stopping chan struct{} // closed when Run begins to stop the parts
	done     chan struct{}
	close    sync.Once
}

// New returns a Node. It starts and opens nothing.
func New(o Options) (*Node, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	open, err := parseArchive(o.Archive, o.Logger)
	if err != nil {
		return nil, err
	}
	if o.Backend != nil {
		open = o.Backend
	}
	n := &Node{
		options:  o,
		peers:    configuredPeers(o.Peers),
		open:     open,
		logger:   o.Logger,
		ready:    make(chan struct{}),
		stop:     make(chan struct{}),
		stopping: make(chan struct{}),
		done:     make(chan struct{}),
	}
	n.metrics = newMetrics(n)
	return n, nil
}

// Ready returns a channel that is closed when the node listens and has joined
// its topics. The accessors below may be used from then on. It stays open if
// Run fails before: wait for Run's return too.
func (n *Node) Ready() <-chan struct{} { return n.ready }

// ID returns the peer id.
func (n *Node) ID() peer.ID { return n.host.ID() }

// AddrInfo returns the peer id and the addresses that the node listens on.
func (n *Node) AddrInfo() peer.AddrInfo { return peer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()} }

// Connect dials a peer once.
func (n *Node) Connect(ctx context.Context, p peer.AddrInfo) error {
	if err := n.host.Connect(ctx, p); err != nil {
		return fmt.Errorf("node: connect to %v: %w", p.ID, err)
	}
	return nil
}

// Relay returns the node's relay: to publish, join, leave and inject.
func (n *Node) Relay() *relay.Relay { return n.relay }

// Archive returns the node's archive, nil if it keeps nothing.
func (n *Node) Archive() *archive.Archive { return n.archive }

// SyncSet returns the set of the archive's messages, nil if it keeps none.
func (n *Node) SyncSet() *storesync.Set { return n.set }

// Filter returns the server that pushes to light peers, nil if there is none.
func (n *Node) Filter() *filter.Server { return n.filter }

// Syncer returns what keeps the archive and those of peers the same, nil without
// Options.Sync.
func (n *Node) Syncer() *p2p.Syncer { return n.syncer }

// Run runs the node until ctx ends or Close is called, and returns nil after an
// orderly stop. It may be called once.
func (n *Node) Run(ctx context.Context) error {
	if !n.started.CompareAndSwap(false, true) {
		return errors.New("node: run: has run or was closed before")
	}
	defer close(n.done)
	return n.serve(ctx)
}

// Close ends Run, waits for it and returns nil. Before Run it keeps Run from
// starting. It must not be called by a stage, a validator or an observer, for
// which it waits.
func (n *Node) Close() error {
	n.close.Do(func() { close(n.stop) })
	if n.started.CompareAndSwap(false, true) {
		close(n.done)
	}
	<-n.done
	return nil
}

// serve starts the parts from the end of a message's path to its beginning, and
// stops them from the beginning to the end. The parts run on a context that
// ctx does not cancel, so that each can finish its work when its turn comes.
func (n *Node) serve(ctx context.Context) (err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		select {
		case <-n.stop:
			end()
		case <-ctx.Done():
		}
	}()
	if n.host, err = newHost(n.options); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.closeHost()) }()
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if err := n.assemble(ctx, work); err != nil {
		return n.startFailure(ctx, err)
	}
	stopParts := n.startParts(work, end)
	n.serving(ctx)
	close(n.stopping)
	n.logger.Info("node is stopping", "peer", n.host.ID())
	return stopParts()
}

func (n *Node) closeHost() error {
	if err := n.host.Close(); err != nil {
		return fmt.Errorf("node: close host: %w", err)
	}
	return nil
}

// startFailure returns err, unless the node was told to stop while it was
// starting, which is an orderly stop.
func (n *Node) startFailure(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	n.logger.Warn("node was stopped while it was starting", "error", err)
	return nil
}

// assemble makes the parts; it starts none.
func (n *Node) assemble(ctx, work context.Context) (err error) {
	o := n.options.Relay
	if o.Logger == nil {
		o.Logger = n.logger
	}
	o.Observers = slices.Concat([]relay.Observer{n.metrics.observe}, o.Observers)
	defer func() {
		if err != nil {
			err = errors.Join(err, n.abandon())
		}
	}()
	if err := errors.Join(n.openRecording(), n.openArchive(ctx, work, &o)); err != nil {
		return err
	}
	n.record(&o)
	var stages []relay.Stage
	if n.options.Sync {
		err = n.openSet(ctx)
		stages = append(stages, n.set.Add)
	}
	if err == nil && n.options.Filter != nil {
		err = n.openFilter()
		stages = append(stages, n.filter.Match, n.filter.Push)
	}
	o.Stages = slices.Concat(stages, o.Stages)
	if err == nil {
		n.relay, err = relay.New(n.host, o)
	}
	if err == nil && n.options.Sync {
		n.syncer, err = n.newSyncer()
	}
	return err
}

// openFilter makes the server of light peers.
func (n *Node) openFilter() (err error) {
	o := *n.options.Filter
	if o.Logger == nil {
		o.Logger = n.logger
	}
	n.filter, err = filter.New(n.host, o)
	return err
}

// startParts starts the parts and returns how to stop them. A part that ends
// before ends the node.
func (n *Node) startParts(work context.Context, end func()) (stop func() error) {
	stopRecording := n.startRecording(work, end)
	stopFilter, stopArchive := func() error { return nil }, func() error { return nil }
	if n.filter != nil {
		stopFilter = start(work, "filter", n.filter.Run, end)
	}
	if n.archive != nil {
		stopRun := start(work, "archive", n.archive.Run, end)
		stopArchive = func() error { return errors.Join(stopRun(), n.archive.Close()) }
	}
	stopRelay := start(work, "relay", n.relay.Run, end)
	stopSync := func() error { return nil }
	if n.syncer != nil {
		stopSync = start(work, "store-sync", n.runSyncer, end)
	}
	return func() error {
		err := stopSync()
		err = errors.Join(err, stopRelay())
		err = errors.Join(err, stopArchive())
		return errors.Join(err, stopFilter(), stopRecording())
	}
}

// start runs one part and returns how to stop it and learn its error. The part
// calls ended when it ends, whoever ended it.
func start(ctx context.Context, name string, run func(context.Context) error, ended func()) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	go func() {
		defer ended()
		err := run(ctx)
		if err == nil && ctx.Err() == nil {
			err = fmt.Errorf("node: run: %s was closed by another", name)
		}
		result <- err
	}()
	return func() error {
		cancel()
		return <-result
	}
}

// serving announces that the node is ready, keeps its peers connected, and
// returns when ctx ends.
func (n *Node) serving(ctx context.Context) {
	for _, ready := range n.readies() {
		select {
		case <-ready:
		case <-ctx.Done():
			return
		}
	}
	close(n.ready)
	n.logger.Info("node is ready", "peer", n.host.ID(), "addresses", n.addresses(), "topics", n.options.Relay.Topics)
	var dialing sync.WaitGroup
	for _, p := range n.peers {
		dialing.Go(func() { n.keepConnected(ctx, p) })
	}
	<-ctx.Done()
	dialing.Wait()
}

// readies returns the channels that the parts close when they are ready.
func (n *Node) readies() []<-chan struct{} {
	all := []<-chan struct{}{n.relay.Ready()}
	if n.filter != nil {
		all = append(all, n.filter.Ready())
	}
	if n.syncer != nil {
		all = append(all, n.syncer.Ready())
	}
	return all
}

// addresses returns what to give to others to dial this node.
func (n *Node) addresses() []string {
	var all []string
	for _, a := range n.host.Addrs() {
		all = append(all, fmt.Sprintf("%v/p2p/%v", a, n.host.ID()))
	}
	return all
}
