package p2p

import (
	"context"
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

// begin is the side that opened the stream: it leads.
func (s *session) begin(ctx context.Context) error {
	if err := s.greet(s.window(s.peer)); err != nil {
		return err
	}
	mark := s.roster.mark()
	need, have, err := s.reconcile()
	if err == nil {
		err = s.fetch(ctx, need)
	}
	if err == nil {
		err = s.offer(ctx, have)
	}
	if err == nil {
		err = s.write(kindDone)
	}
	var left []byte
	if err == nil {
		left, err = s.expect(kindDone, s.opts.FrameBytes)
	}
	if err != nil {
		return err
	}
	s.report.More = s.report.More || s.owing || len(left) > 0
	if !s.report.More && s.report.Failed == 0 {
		s.roster.advance(s.peer, s.to, mark)
	}
	return nil
}

// window returns the range to ask a peer for.
func (s *Syncer) window(p peer.ID) (from, to int64) {
	from, to = s.bounds(0, s.opts.Now().UnixNano())
	if upTo := s.roster.upTo(p); upTo > 0 {
		from = max(from, upTo-int64(s.opts.Range))
	}
	return min(from, to), to
}

// bounds returns what of a range this node takes part in: no message before
// CatchUp, none that its store would not keep, none that may still be under way.
func (s *Syncer) bounds(from, to int64) (int64, int64) {
	now := s.opts.Now()
	to = max(0, min(to, now.Add(-s.opts.Settle).UnixNano()))
	if s.opts.CatchUp > 0 {
		from = max(from, now.Add(-s.opts.CatchUp).UnixNano())
	}
	if s.store.Oldest != nil {
		from = max(from, s.store.Oldest())
	}
	return min(max(from, 0), to), to
}

// greet says this side's terms and takes the peer's, whose range is a part of
// the one asked for.
func (s *session) greet(from, to int64) error {
	if err := s.write(kindHello, s.opts.terms(from, to).encode()); err != nil {
		return err
	}
	body, err := s.expect(kindHello, maxHello)
	if err != nil {
		return err
	}
	theirs, err := parseTerms(body)
	switch {
	case err != nil:
		return fmt.Errorf("hello: %w", err)
	case theirs.version != version || theirs.hash != s.opts.Format.Hash.String():
		return faultf("hello: version %d and hash %q in answer to %d and %q", theirs.version, theirs.hash, version, s.opts.Format.Hash)
	case theirs.from < from || theirs.to > to:
		return faultf("hello: range from %d to %d in answer to %d to %d", theirs.from, theirs.to, from, to)
	}
	s.agree(theirs, theirs.from, theirs.to)
	return nil
}

// reconcile finds the ids that only the peer has, of those wanted, and that only
// this side has. It ends early when there is enough of the former to ask for.
func (s *session) reconcile() (need, have []message.Hash, err error) {
	set, err := s.store.Snapshot(s.from, s.to)
	if err != nil {
		return nil, nil, fmt.Errorf("take snapshot: %w", err)
	}
	side, err := negentropy.NewInitiator(set, s.limits())
	if err != nil {
		return nil, nil, err
	}
	frame, err := side.Start()
	for frame != nil && err == nil {
		if s.report.Rounds == s.rounds || len(need) >= s.opts.Ask || s.report.Need >= s.opts.Claims {
			s.owing = true
			break
		}
		var diff negentropy.Diff
		if frame, diff, err = s.round(side, frame); err == nil {
			need, have = s.note(diff, need, have)
		}
	}
	return need, have, err
}

// round carries a frame to the peer and its answer back.
func (s *session) round(side *negentropy.Initiator, frame []byte) ([]byte, negentropy.Diff, error) {
	if err := s.write(kindReconcile, frame); err != nil {
		return nil, negentropy.Diff{}, err
	}
	answer, err := s.expect(kindReconcile, s.opts.FrameBytes)
	if err != nil {
		return nil, negentropy.Diff{}, err
	}
	s.report.Rounds++
	s.tallies.rounds.Add(1)
	next, diff, err := side.Step(answer)
	return next, diff, reconciling(err)
}

// note adds what a round found. What the peer would be offered beyond a bound is
// left for another session.
func (s *session) note(diff negentropy.Diff, need, have []message.Hash) (n, h []message.Hash) {
	s.report.Need += len(diff.Need)
	s.report.Have += len(diff.Have)
	for _, id := range diff.Need {
		switch s.ledger.judge(copyOf{s.peer, id}) {
		case wanted:
			need = append(need, id)
		case onWay, failing: // what is on its way from another may never come
			s.owing = true
		}
	}
	room := max(0, s.opts.Claims-len(have))
	if len(diff.Have) > room {
		s.report.More = true
	}
	return need, append(have, diff.Have[:min(room, len(diff.Have))]...)
}

// offer offers ids in batches, and sends those that the peer wants.
func (s *session) offer(ctx context.Context, ids []message.Hash) error {
	for len(ids) > 0 {
		n := min(s.batch, len(ids))
		if err := s.write(kindOffer, appendIDs(nil, ids[:n])); err != nil {
			return err
		}
		more, err := s.serveOffer(ctx)
		if err != nil {
			return err
		}
		if !more {
			s.report.More = true
			return nil
		}
		ids = ids[n:]
	}
	return nil
}

// serveOffer sends what the peer wants of an offer, until it wants nothing more
// of it, or nothing more at all: then more is false.
func (s *session) serveOffer(ctx context.Context) (more bool, err error) {
	for {
		k, body, err := s.read(s.opts.FrameBytes)
		switch {
		case err != nil:
			return false, err
		case k == kindDone:
			return false, nil
		case k != kindWant:
			return false, unexpected(k, kindWant, kindDone)
		case len(body) == 0:
			return true, nil
		}
		if err := s.serve(ctx, body); err != nil {
			return false, err
		}
	}
}
