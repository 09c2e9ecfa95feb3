package filter

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// outbound is one stream of pushes to a peer, which many frames go over.
type outbound struct {
	stream network.Stream
	ended  chan struct{} // closed when nothing more can be read from it
	closed bool          // then: by the peer, in good order
	forget func() bool
}

// open opens a stream to a connected peer; it dials nobody. The stream is reset
// when ctx ends.
func (s *Server) open(ctx context.Context, p peer.ID) (*outbound, error) {
	opening, cancel := context.WithTimeout(network.WithNoDial(ctx, "filter push"), s.opts.Timeout)
	defer cancel()
	st, err := s.host.NewStream(opening, p, PushProtocol)
	if err != nil {
		return nil, err
	}
	o := &outbound{stream: st, ended: make(chan struct{})}
	o.forget = context.AfterFunc(ctx, func() { _ = st.Reset() })
	go o.watch()
	return o, nil
}

// watch waits for the end of the stream: nothing is ever to be read from it.
func (o *outbound) watch() {
	defer close(o.ended)
	_, err := o.stream.Read(make([]byte, 1))
	o.closed = errors.Is(err, io.EOF)
}

// gone returns a channel that is closed when the peer has ended the stream, nil
// if there is no stream.
func (o *outbound) gone() <-chan struct{} {
	if o == nil {
		return nil
	}
	return o.ended
}

// leave leaves a stream that the peer has ended. What was written over one that
// it closed may still reach it: some peers close their side at once, and read on.
func (o *outbound) leave() {
	if !o.closed {
		o.reset()
		return
	}
	o.forget()
	_ = o.stream.Close()
}

func (o *outbound) reset() {
	if o == nil {
		return
	}
	o.forget()
	_ = o.stream.Reset()
	<-o.ended
}

// pushTo writes what is in a peer's queue until ctx ends, which it does with the
// peer's subscriptions. Nobody else waits for it.
func (s *Server) pushTo(ctx context.Context, sub *subscriber) {
	var out *outbound
	defer func() { out.reset() }()
	var failing time.Time // since when; zero: the last push worked
	for {
		select {
		case <-ctx.Done():
			s.discard(sub)
			return
		case <-out.gone():
			out.leave()
			out = nil
		case f := <-sub.queue:
			var worked bool
			if !s.wants(sub, f.to) {
				s.drop(sub, f, DropRemoved, nil)
			} else if out, worked = s.push(ctx, sub, out, f); worked {
				failing = time.Time{}
			} else {
				failing = s.failed(sub, failing, time.Now())
			}
		}
	}
}

// wants reports whether a peer is subscribed to p still.
func (s *Server) wants(sub *subscriber, p pair) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return sub.pairs[p]
}

// push writes a frame to a peer, over out if that is a stream still, and returns
// the stream for the next one, nil if there is none.
func (s *Server) push(ctx context.Context, sub *subscriber, out *outbound, f *frame) (*outbound, bool) {
	select {
	case <-out.gone(): // a peer that reads one push a stream has closed this one
		out.leave()
		out = nil
	default:
	}
	if out == nil {
		var err error
		if out, err = s.open(ctx, sub.peer); err != nil {
			s.drop(sub, f, cause(ctx, DropStream), err)
			return nil, false
		}
	}
	err := out.stream.SetWriteDeadline(time.Now().Add(s.opts.Timeout))
	if err == nil {
		_, err = f.WriteTo(out.stream)
	}
	if err != nil {
		out.reset()
		s.drop(sub, f, cause(ctx, DropWrite), err)
		return nil, false
	}
	s.tally.pushed.Add(1)
	if s.traced() {
		s.opts.Logger.Debug("filter push", "hash", f.hash, "peer", sub.peer)
	}
	return out, true
}

// cause returns why a copy was dropped: with what failed, or with ctx.
func cause(ctx context.Context, failed Drop) Drop {
	if ctx.Err() != nil {
		return DropRemoved
	}
	return failed
}

// failed removes a peer to which pushes have failed for too long, and returns
// since when they do.
func (s *Server) failed(sub *subscriber, since, now time.Time) time.Time {
	if since.IsZero() {
		return now
	}
	if now.Sub(since) >= s.opts.Unreachable {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(sub, RemoveUnreachable)
	}
	return since
}

// discard drops what waits for a peer that was removed: nothing more comes.
func (s *Server) discard(sub *subscriber) {
	for {
		select {
		case f := <-sub.queue:
			s.drop(sub, f, DropRemoved, nil)
		default:
			return
		}
	}
}
