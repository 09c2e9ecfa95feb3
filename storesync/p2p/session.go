package p2p

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

var (
	siteReceive = counters.NewSite("p2p.receive")
	siteSend    = counters.NewSite("p2p.send")
)

// session is one side of a session, used by one goroutine.
type session struct {
	*Syncer
	*wire
	peer   peer.ID
	report Report

	// Agreed in the hellos.
	from, to int64
	largest  int // bytes of an encoded message that the peer takes
	frame    int // bytes of a frame that is no message
	batch    int // ids in a want or an offer
	rounds   int // frames of Negentropy from one side

	asked, answered, servedBytes int

	enough bool // the peer sends no more, or this side asks for no more
	owing  bool // something that only the peer has is left for another session
}

// agree takes the peer's terms and the range that both sides settled on.
func (s *session) agree(theirs terms, from, to int64) {
	s.from, s.to = from, to
	s.largest = theirs.message
	s.frame = min(s.opts.FrameBytes, theirs.frame)
	s.batch = min(s.opts.Batch, theirs.batch, (s.frame-kindSize)/idSize)
	s.rounds = min(s.opts.Rounds, theirs.rounds)
}

// limits are those of Negentropy. The ids in need have room for one more frame
// than an initiator goes on for.
func (s *session) limits() negentropy.Limits {
	return negentropy.Limits{
		FrameBytes: s.frame - kindSize, PeerFrameBytes: s.opts.FrameBytes - kindSize,
		PeerRanges: s.opts.Ranges, PeerIDs: s.opts.FrameBytes / idSize,
		Need: s.opts.Claims + s.opts.FrameBytes/idSize, Rounds: s.opts.Rounds,
	}
}

// reconciling returns an error of Negentropy as the peer's fault, which it is
// when the frame was read.
func reconciling(err error) error {
	for _, theirs := range []error{negentropy.ErrMalformed, negentropy.ErrLimit, negentropy.ErrVersion} {
		if errors.Is(err, theirs) {
			return faultf("%w", err)
		}
	}
	return err
}

// fetch asks for those of the ids that are wanted, in batches, until the peer or
// this side has had enough.
func (s *session) fetch(ctx context.Context, ids []message.Hash) error {
	for len(ids) > 0 && !s.enough {
		batch, rest, err := s.claim(ctx, ids)
		if err == nil && len(batch) > 0 {
			err = s.fetchBatch(ctx, batch)
		}
		s.ledger.release(&s.report, batch)
		if err != nil {
			return err
		}
		ids = rest
	}
	s.owing = s.owing || len(ids) > 0
	return nil
}

// claim returns the next batch of ids to ask for, and those after it.
func (s *session) claim(ctx context.Context, ids []message.Hash) (batch, rest []message.Hash, err error) {
	room, cancel := context.WithTimeout(ctx, s.opts.StepTime/2) // the peer waits meanwhile
	defer cancel()
	for i, id := range ids {
		switch {
		case s.asked >= s.opts.Ask:
			s.enough = true
			return batch, ids[i:], nil
		case len(batch) == s.batch:
			return batch, ids[i:], nil
		}
		if has, err := s.store.Has(ctx, id); err != nil {
			return batch, nil, fmt.Errorf("look for %s: %w", id, err)
		} else if has {
			continue
		}
		v, ok := s.ledger.claim(room, copyOf{s.peer, id}, &s.report, len(batch) == 0)
		switch {
		case ok:
			batch = append(batch, id)
			s.asked++
		case v == wanted: // no room
			s.enough = len(batch) == 0
			return batch, ids[i:], ctx.Err()
		case v == onWay, v == failing:
			s.owing = true
		}
	}
	return batch, nil, nil
}

// fetchBatch asks for ids and takes the answers, which come in the same order.
func (s *session) fetchBatch(ctx context.Context, ids []message.Hash) error {
	if err := s.write(kindWant, appendIDs(nil, ids)); err != nil {
		return err
	}
	for _, id := range ids {
		k, body, err := s.read(messageTop + s.opts.Format.Limits.MaxSize)
		if err != nil {
			return err
		}
		switch k {
		case kindMessage:
			err = s.receive(ctx, id, body)
		case kindAbsent:
			err = s.absent(id, body)
		default:
			err = unexpected(k, kindMessage, kindAbsent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// receive takes a message that was asked for.
func (s *session) receive(ctx context.Context, id message.Hash, body []byte) error {
	topic, data, err := parseMessage(body)
	if err != nil {
		return err
	}
	env, err := s.examine(topic, data, id)
	if errors.Is(err, errOther) {
		s.tallies.unwanted.Add(1)
	}
	if err != nil && !errors.Is(err, ErrRefused) {
		return err
	}
	s.report.Received++
	s.tallies.received.Add(1)
	s.ledger.accepting(id)
	if err == nil {
		err = s.store.Accept(ctx, env)
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrRefused) {
		s.report.Refused++
	} else {
		s.report.Failed++
	}
	s.unstored(s.ledger.answer(id), id, err)
	return nil
}

// examine decodes and hashes a message as it arrives, which must be the one that
// was asked for. What this node's limits do not let pass, and what no store keeps,
// is refused.
func (s *session) examine(topic string, data []byte, id message.Hash) (*message.Envelope, error) {
	if counters.Enabled {
		defer counters.Label(s.opts.Counts, siteReceive).End()
	}
	env := message.Wrap(s.opts.Counts, s.opts.Format, topic, data)
	key, err := env.Key(siteReceive)
	switch {
	case errors.Is(err, message.ErrMetaTooLong), errors.Is(err, message.ErrNoContentTopic), errors.Is(err, message.ErrInvalidTopic):
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	case err != nil:
		return nil, faultf("message %s: %w", id, err)
	case key.Hash != id:
		return nil, fmt.Errorf("%w: %s instead of %s", errOther, key.Hash, id)
	case key.Timestamp < s.from || key.Timestamp >= s.to:
		return nil, fmt.Errorf("%w: %s of timestamp %d, which is not from %d and below %d", errOther, id, key.Timestamp, s.from, s.to)
	}
	if m, err := env.Message(siteReceive); err == nil && m.GetEphemeral() {
		return nil, fmt.Errorf("%w: it is ephemeral", ErrRefused)
	}
	return env, nil
}

// absent notes that the peer does not send a message.
func (s *session) absent(id message.Hash, body []byte) error {
	why, err := parseAbsence(body)
	if err != nil {
		return err
	}
	s.report.Absent++
	s.tallies.absent.Add(1)
	switch why {
	case absentHere:
		s.ledger.refuse(copyOf{s.peer, id}, false)
		s.owing = true
	case absentLarge:
		s.ledger.refuse(copyOf{s.peer, id}, true)
	case absentLater:
		s.enough, s.owing = true, true
	}
	return nil
}

// serve answers a want.
func (s *session) serve(ctx context.Context, body []byte) error {
	ids, err := parseIDs(body, s.opts.Batch)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.send(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// send answers for one id. What is not here counts as what is: to look for it takes
// as long.
func (s *session) send(ctx context.Context, id message.Hash) error {
	if s.answered >= s.opts.ServeMessages || s.servedBytes >= s.opts.ServeBytes {
		s.report.More = true
		return s.write(kindAbsent, []byte{byte(absentLater)})
	}
	s.answered++
	topic, m, err := s.store.Load(ctx, id)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.opts.Logger.Warn("message could not be loaded for a peer", "hash", id, "error", err)
		return s.write(kindAbsent, []byte{byte(absentHere)})
	case m == nil:
		return s.write(kindAbsent, []byte{byte(absentHere)})
	case len(topic) > maxTopic, proto.Size(m) > s.largest:
		return s.write(kindAbsent, []byte{byte(absentLarge)})
	}
	return s.sendMessage(topic, m)
}

// sendMessage encodes a message again: a store keeps what it says, not its bytes.
func (s *session) sendMessage(topic string, m *pb.WakuMessage) error {
	if counters.Enabled {
		defer counters.Label(s.opts.Counts, siteSend).End()
	}
	env, err := message.Seal(s.opts.Counts, s.opts.Format, topic, m, siteSend)
	if err != nil { // the limits were wider when it was stored
		s.opts.Logger.Warn("stored message could not be encoded for a peer", "error", err)
		return s.write(kindAbsent, []byte{byte(absentHere)})
	}
	s.report.Served++
	s.tallies.served.Add(1)
	s.servedBytes += len(env.Bytes())
	head := append(binary.AppendUvarint(nil, uint64(len(topic))), topic...)
	return s.write(kindMessage, head, env.Bytes())
}
