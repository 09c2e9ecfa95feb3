package p2p

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/msgpath/msgpath/message"
)

// ID is the protocol's id.
const ID protocol.ID = "/msgpath/storesync/1.0.0"

// Syncer makes the store of its node and those of its peers hold the same. All
// its methods are safe for concurrent use.
type Syncer struct {
	host    host.Host
	store   Store
	opts    Options
	ledger  *ledger
	roster  *roster
	tallies tallies

	started atomic.Bool // Run was called, or Close before it
	ready   chan struct{}
	stop    chan struct{}
	done    chan struct{}
	close   sync.Once

	mu       sync.Mutex
	ended    bool
	cancels  map[*session]context.CancelFunc // of the sessions that are on
	sessions sync.WaitGroup
}

// New returns a Syncer on a host, which it does not close. It starts nothing.
func New(h host.Host, store Store, o Options) (*Syncer, error) {
	err := o.Validate()
	if h == nil {
		err = errors.Join(err, errors.New("p2p: new: host is nil"))
	}
	if store.Snapshot == nil || store.Load == nil || store.Has == nil || store.Accept == nil {
		err = errors.Join(err, errors.New("p2p: new: Store needs Snapshot, Load, Has and Accept"))
	}
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Syncer{
		host: h, store: store, opts: o, ledger: newLedger(o), roster: newRoster(o),
		ready: make(chan struct{}), stop: make(chan struct{}), done: make(chan struct{}),
		cancels: make(map[*session]context.CancelFunc),
	}, nil
}

// Ready returns a channel that is closed when Run answers peers.
func (s *Syncer) Ready() <-chan struct{} { return s.ready }

// Run answers peers, and begins sessions if Options.Interval says so, until ctx
// ends or Close is called. Then it ends the sessions that are on, waits for them
// and returns nil. A Syncer runs once: a second Run, or one after Close, returns
// an error that wraps ErrClosed.
func (s *Syncer) Run(ctx context.Context) error {
	if !s.started.CompareAndSwap(false, true) {
		return fmt.Errorf("p2p: run a second time or after Close: %w", ErrClosed)
	}
	defer close(s.done)
	defer s.endSessions()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan struct{})
	defer func() { <-stopped }()
	go func() {
		defer close(stopped)
		select {
		case <-s.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	s.host.SetStreamHandler(ID, func(stream network.Stream) { s.handle(ctx, stream) })
	defer s.host.RemoveStreamHandler(ID)
	close(s.ready)
	s.loop(ctx, s.syncAny)
	return nil
}

// Close ends Run and all sessions, and waits for them. It returns nil. It must not
// be called by a function of the Store, for which it waits.
func (s *Syncer) Close() error {
	s.close.Do(func() { close(s.stop) })
	if s.started.CompareAndSwap(false, true) {
		close(s.done)
	}
	<-s.done
	s.endSessions()
	return nil
}

// enter begins a session, which leave ends.
func (s *Syncer) enter(se *session, cancel context.CancelFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return ErrClosed
	}
	s.cancels[se] = cancel
	s.sessions.Add(1)
	return nil
}

func (s *Syncer) leave(se *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cancels, se)
	s.sessions.Done()
}

func (s *Syncer) endSessions() {
	s.mu.Lock()
	s.ended = true
	for _, cancel := range s.cancels {
		cancel()
	}
	s.mu.Unlock()
	s.sessions.Wait()
}

// Sync runs one session with a connected peer now. The report tells what was done,
// also beside an error, which wraps ErrBusy, ErrDeclined, ErrFault, ErrClosed, or an
// error of ctx, the stream or the store.
func (s *Syncer) Sync(ctx context.Context, p peer.ID) (Report, error) {
	if err := s.roster.begin(p); err != nil {
		return Report{}, fmt.Errorf("p2p: sync with %v: %w", p, err)
	}
	defer s.roster.end(p, Began)
	report, err := s.run(ctx, p, Began, func(ctx context.Context) (network.Stream, error) {
		return s.host.NewStream(network.WithNoDial(ctx, "store-sync"), p, ID)
	})
	if err != nil {
		return report, fmt.Errorf("p2p: sync with %v: %w", p, err)
	}
	return report, nil
}

// handle answers a peer that opened a stream.
func (s *Syncer) handle(ctx context.Context, stream network.Stream) {
	p := stream.Conn().RemotePeer()
	_, err := s.run(ctx, p, Answered, func(context.Context) (network.Stream, error) { return stream, nil })
	if errors.Is(err, ErrClosed) {
		_ = stream.Reset()
	}
	if err != nil {
		s.opts.Logger.Info("store-sync of a peer failed", "peer", p, "error", err)
	}
}

// run runs one side of a session over a stream, which it ends.
func (s *Syncer) run(ctx context.Context, p peer.ID, by Side, open func(context.Context) (network.Stream, error)) (Report, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.SessionTime, errTime)
	defer cancel()
	se := &session{Syncer: s, peer: p}
	if err := s.enter(se, cancel); err != nil {
		return Report{}, err
	}
	defer s.leave(se)
	stream, err := open(ctx)
	if err == nil {
		stop := context.AfterFunc(ctx, func() { _ = stream.Reset() })
		defer stop()
		if err = se.talk(ctx, stream, by); err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		part(stream, err)
	}
	s.conclude(se, by, err)
	return se.report, err
}

// talk runs one side of a session over anything that carries bytes both ways.
func (s *session) talk(ctx context.Context, stream duplex, by Side) (err error) {
	end, _ := ctx.Deadline()
	s.wire = newWire(stream, s.opts.StepTime, end)
	switch by {
	case Began:
		err = s.begin(ctx)
	case Answered:
		if err = s.roster.admit(s.peer); err != nil {
			return err
		}
		defer s.roster.end(s.peer, Answered)
		err = s.answer(ctx)
	}
	s.report.BytesIn, s.report.BytesOut = s.bytesIn, s.bytesOut
	_, s.report.Pending = s.ledger.counts(&s.report)
	return err
}

// conclude counts a session.
func (s *Syncer) conclude(se *session, by Side, err error) {
	s.tallies.bytesIn.Add(se.report.BytesIn)
	s.tallies.bytesOut.Add(se.report.BytesOut)
	s.tallies.sessions[by][outcome(se.report, err)].Add(1)
	if errors.Is(err, errUnasked) {
		s.tallies.unwanted.Add(1)
	}
	if errors.Is(err, ErrFault) {
		s.roster.shun(se.peer)
		s.opts.Logger.Warn("peer broke the protocol of store-sync", "peer", se.peer, "error", err)
	}
}

func outcome(r Report, err error) Outcome {
	switch {
	case errors.Is(err, ErrFault):
		return Faulted
	case errors.Is(err, ErrDeclined), errors.As(err, new(declined)):
		return Declined
	case err != nil:
		return Failed
	case r.More || r.Failed > 0:
		return Partial
	}
	return Completed
}

// part ends a stream: in order, with the reason why there is no session, or at
// once.
func part(stream network.Stream, err error) {
	var d declined
	switch errors.As(err, &d); {
	case err == nil:
		_ = stream.Close()
	case d.why != "":
		tell(stream, d.why)
	default:
		_ = stream.Reset()
	}
}

// tell sends the reason why there is no session, and waits a little for the peer
// to have read it: to end the stream while the peer writes would lose it.
func tell(stream network.Stream, why string) {
	const patience = 5 * time.Second
	w := newWire(stream, patience, time.Now().Add(patience))
	_ = w.write(kindDecline, []byte(why)[:min(len(why), maxReason)])
	if w.flush() == nil && stream.CloseWrite() == nil {
		_, _, _ = w.read(maxHello)
		_, _, _ = w.read(maxHello)
	}
	_ = stream.Close()
}

// Stored tells what became of a message: err nil means that it is stored, or was
// found stored before. It is called once for each message that Accept took, and
// may be called for others, which are passed over.
func (s *Syncer) Stored(env *message.Envelope, err error) {
	if len(s.ledger.slots) == 0 { // nothing is awaited
		return
	}
	m, e := env.Message(siteReceive)
	if e != nil || m.GetEphemeral() { // was not accepted: to hash it would be work for nothing
		return
	}
	h, e := env.Hash(siteReceive)
	if e != nil {
		return
	}
	c := s.ledger.answer(h)
	switch {
	case c == nil:
	case err == nil:
		s.tallies.synced.Add(1)
	default:
		s.unstored(c, h, err)
	}
}

// Reconsider makes the next session with each peer go over everything, and ask again
// for what was refused. Whoever made the store take what it refused before, as by
// joining a topic, calls it.
func (s *Syncer) Reconsider() {
	s.ledger.forget()
	s.roster.rewind()
}

// unstored notes that a message that was claimed is not stored.
func (s *Syncer) unstored(c *claim, h message.Hash, err error) {
	if c == nil {
		return
	}
	final := errors.Is(err, ErrRefused)
	s.ledger.refuse(copyOf{c.from, h}, final)
	if final {
		s.tallies.refused.Add(1)
		return
	}
	s.tallies.failed.Add(1)
	s.roster.rewind()
	s.opts.Logger.Warn("synced message not stored", "hash", h, "peer", c.from, "error", err)
}
