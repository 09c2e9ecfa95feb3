package filter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

// Server pushes messages to the light peers that subscribed to them. Match and
// Push are stages of the message path, in this order.
type Server struct {
	life
	host    host.Host
	opts    Options
	streams streams // of requests
	pushers sync.WaitGroup
	window  *window
	tally   tallies

	mu    sync.RWMutex
	table table
}

// New returns a Server on a host, which it does not close. It starts nothing.
func New(h host.Host, o Options) (*Server, error) {
	err := o.Validate()
	if h == nil {
		err = errors.Join(err, errors.New("filter: new: host is nil"))
	}
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Server{
		life: newLife(), host: h, opts: o,
		window: newWindow(o.Window, o.WindowHashes),
		table:  newTable(o.MaxPeers, o.MaxTopics),
	}, nil
}

// Run answers requests and pushes until ctx ends or Close is called, and returns
// nil. All subscriptions end with it; copies that wait are dropped and counted. A
// Server runs once.
func (s *Server) Run(ctx context.Context) error {
	if err := s.begin("server"); err != nil {
		return err
	}
	defer close(s.done)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.host.SetStreamHandler(SubscribeProtocol, func(st network.Stream) {
		s.streams.handle(st, func() error { return s.answer(work, st) })
	})
	close(s.ready)
	s.sweepUntil(ctx)
	s.host.RemoveStreamHandler(SubscribeProtocol)
	s.streams.close()
	s.removeIf(RemoveStopped, func(*subscriber) bool { return true })
	s.pushers.Wait()
	return nil
}

// sweepUntil removes peers whose subscriptions have run out, a quarter of the TTL
// late at most, until ctx ends or Close is called.
func (s *Server) sweepUntil(ctx context.Context) {
	tick := time.NewTicker(max(s.opts.TTL/4, 1))
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			s.removeIf(RemoveExpired, func(sub *subscriber) bool { return s.expired(sub, now) })
		case <-ctx.Done():
			return
		case <-s.stop:
			return
		}
	}
}

func (s *Server) expired(sub *subscriber, now time.Time) bool {
	return now.Sub(sub.refreshed) >= s.opts.TTL
}

func (s *Server) removeIf(why Removal, is func(*subscriber) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.table.peers {
		if is(sub) {
			s.remove(sub, why)
		}
	}
}

// remove ends what a peer is subscribed to. The caller holds s.mu.
func (s *Server) remove(sub *subscriber, why Removal) {
	if !s.table.remove(sub) {
		return
	}
	s.tally.removed[why].Add(1)
	s.opts.Logger.Info("filter peer removed", "peer", sub.peer, "cause", why.String())
	sub.end()
}

// Match is the stage that decides whether a message is due to be pushed: somebody
// is subscribed to it, and it was not pushed within Options.Window. It asks for
// the hash of a message that somebody is subscribed to. Its error is env's.
func (s *Server) Match(_ context.Context, env *message.Envelope) error {
	if counters.Enabled {
		defer counters.Label(env.Counts(), siteFilter).End()
	}
	_, hash, err := s.wanted(env, siteFilter)
	if errors.Is(err, errUnwanted) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("filter: match: %w", err)
	}
	if s.window.admit(hash, time.Now()) {
		s.tally.due.Add(1)
	} else {
		s.tally.repeated.Add(1)
	}
	return nil
}

// Push is the stage that puts one shared copy of a message that is due into the
// queue of each peer that is subscribed to it. It does not wait: a full queue
// drops. It asks for the hash, by which it knows what is due, and by which the log
// tells of each copy. Its error is env's.
func (s *Server) Push(_ context.Context, env *message.Envelope) error {
	if counters.Enabled {
		defer counters.Label(env.Counts(), sitePush).End()
	}
	to, hash, err := s.wanted(env, sitePush)
	if errors.Is(err, errUnwanted) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("filter: push: %w", err)
	}
	if s.window.take(hash) {
		s.offer(newFrame(hash, to, env.Bytes()))
	}
	return nil
}

// wanted returns what a message is published on and its hash, or errUnwanted if
// nobody is subscribed to that.
func (s *Server) wanted(env *message.Envelope, site counters.Site) (to pair, hash message.Hash, err error) {
	m, err := env.Message(site)
	if err != nil {
		return to, hash, err
	}
	to = pair{env.Topic(), m.GetContentTopic()}
	if !s.subscribed(to) {
		return to, hash, errUnwanted
	}
	hash, err = env.Hash(site)
	return to, hash, err
}

var errUnwanted = errors.New("nobody is subscribed to the message")

// subscribed reports whether anybody is subscribed to p.
func (s *Server) subscribed(p pair) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.table.by[p]) > 0
}

// offer puts f into the queue of each peer that is subscribed to it.
func (s *Server) offer(f *frame) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for sub := range s.table.by[f.to] {
		s.tally.copies.Add(1)
		select {
		case sub.queue <- f:
		default:
			s.drop(sub, f, DropQueue, nil)
		}
	}
}

// drop counts a copy that does not reach its peer.
func (s *Server) drop(sub *subscriber, f *frame, why Drop, err error) {
	s.tally.dropped[why].Add(1)
	if s.traced() {
		s.opts.Logger.Debug("filter push dropped", "hash", f.hash, "peer", sub.peer, "cause", why.String(), "error", err)
	}
}

// traced reports whether the log tells of each copy, for which values would be
// allocated that nobody looks at otherwise.
func (s *Server) traced() bool {
	return s.opts.Logger.Enabled(context.Background(), slog.LevelDebug)
}
