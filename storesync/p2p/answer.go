package p2p

import (
	"context"
	"fmt"

	"github.com/msgpath/msgpath/storesync/negentropy"
)

// answer is the side that the stream was opened to: it follows.
func (s *session) answer(ctx context.Context) error {
	side, err := s.welcome()
	if err != nil {
		return err
	}
	var last kind
	for offered := 0; ; {
		k, body, err := s.read(s.opts.FrameBytes)
		switch {
		case err != nil:
			return err
		case k < last: // first all rounds, then wants, then offers
			return faultf("%v after %v", k, last)
		}
		last = k
		switch k {
		case kindReconcile:
			err = s.reply(side, body)
		case kindWant:
			err = s.serve(ctx, body)
		case kindOffer:
			offered += len(body) / idSize
			err = s.consider(ctx, body, offered)
		case kindDone:
			s.report.More = s.report.More || s.owing
			return s.farewell()
		default:
			err = unexpected(k, kindReconcile, kindWant, kindOffer, kindDone)
		}
		if err != nil {
			return err
		}
	}
}

// welcome reads the peer's hello and answers with this side's.
func (s *session) welcome() (*negentropy.Responder, error) {
	body, err := s.expect(kindHello, maxHello)
	if err != nil {
		return nil, err
	}
	theirs, err := parseTerms(body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("hello: %w", err)
	case theirs.version != version:
		return nil, declined{fmt.Sprintf("version %d is not %d", theirs.version, version)}
	case theirs.hash != s.opts.Format.Hash.String():
		return nil, declined{fmt.Sprintf("hash %q is not %q", theirs.hash, s.opts.Format.Hash)}
	}
	from, to := s.bounds(theirs.from, theirs.to)
	from = min(max(from, theirs.from), theirs.to)
	to = max(from, to)
	s.agree(theirs, from, to)
	set, err := s.store.Snapshot(from, to)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	side, err := negentropy.NewResponder(set, s.limits())
	if err != nil {
		return nil, err
	}
	return side, s.write(kindHello, s.opts.terms(from, to).encode())
}

func (s *session) reply(side *negentropy.Responder, frame []byte) error {
	answer, err := side.Step(frame)
	if err != nil {
		return reconciling(err)
	}
	s.report.Rounds++
	return s.write(kindReconcile, answer)
}

// consider fetches what is wanted of an offer, and ends it.
func (s *session) consider(ctx context.Context, body []byte, offered int) error {
	ids, err := parseIDs(body, s.opts.Batch)
	if err != nil {
		return err
	}
	s.enough = s.enough || offered > s.opts.Claims
	if err := s.fetch(ctx, ids); err != nil {
		return err
	}
	if s.enough {
		return s.write(kindDone)
	}
	return s.write(kindWant)
}

// farewell ends the session, and says whether some of what was offered is to be
// offered again.
func (s *session) farewell() error {
	var left []byte
	if s.owing {
		left = []byte{1}
	}
	if err := s.write(kindDone, left); err != nil {
		return err
	}
	return s.flush()
}
