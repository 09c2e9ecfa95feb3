package negentropy

import (
	"errors"
	"fmt"

	"github.com/msgpath/msgpath/message"
)

const (
	buckets   = 16          // that a range is split into
	listBelow = 2 * buckets // items, as a list of ids
	slack     = 200         // bytes of a frame, for what ends it
)

var infinity = bound{Item: Item{Timestamp: Infinity}}

// Diff is what an [Initiator] found in one step. An id is reported once in a
// session. One that the two sides have at different timestamps can be in both
// lists.
type Diff struct {
	Have []message.Hash // only this side has
	Need []message.Hash // only the peer has
}

// Initiator is the side that asks. See the package's documentation.
type Initiator struct {
	session
	started  bool
	reported map[message.Hash]listed
	needs    int
}

// listed says in which lists an id was reported.
type listed uint8

const (
	asHave listed = 1 << iota
	asNeed
)

// NewInitiator returns a session over the set.
func NewInitiator(set Set, limits Limits) (*Initiator, error) {
	s, err := newSession(set, limits)
	if err != nil {
		return nil, err
	}
	return &Initiator{session: s, reported: make(map[message.Hash]listed)}, nil
}

// Start returns the first frame.
func (i *Initiator) Start() ([]byte, error) {
	if i.started {
		return nil, errors.New("negentropy: start: session has started")
	}
	i.started = true
	w := newWriter()
	split(w, i.set, 0, i.set.Len(), infinity)
	return w.frame, nil
}

// Step reads the peer's answer and returns the next frame, or nil when all
// differences are found. It keeps no part of in.
func (i *Initiator) Step(in []byte) (out []byte, diff Diff, err error) {
	if !i.started {
		return nil, Diff{}, errors.New("negentropy: step: session has not started")
	}
	out, err = i.step(in, func(ids []byte, from, to int) error {
		return i.compare(&diff, ids, from, to)
	})
	if err != nil {
		return nil, Diff{}, err
	}
	if len(out) == 1 {
		i.over = errors.New("negentropy: step: session is over")
		return nil, diff, nil
	}
	return out, diff, nil
}

// compare adds to diff what only one side has, of the peer's ids in a range and
// the items from <= i < to.
func (i *Initiator) compare(diff *Diff, ids []byte, from, to int) error {
	shared := make(map[message.Hash]bool, len(ids)/idSize)
	for at := 0; at < len(ids); at += idSize {
		shared[message.Hash(ids[at:])] = false
	}
	for k := from; k < to; k++ {
		id := i.set.At(k).ID
		if _, ok := shared[id]; ok {
			shared[id] = true
		} else if i.report(id, asHave) {
			diff.Have = append(diff.Have, id)
		}
	}
	for at := 0; at < len(ids); at += idSize {
		id := message.Hash(ids[at:])
		if shared[id] || !i.report(id, asNeed) {
			continue
		}
		i.needs++
		if err := check("ids in need", i.needs, i.limits.Need); err != nil {
			return err
		}
		diff.Need = append(diff.Need, id)
	}
	return nil
}

// report notes that id is reported in a list, and returns false if it was: the
// peer may go through a range again whose answer did not fit into a frame.
func (i *Initiator) report(id message.Hash, in listed) bool {
	was := i.reported[id]
	i.reported[id] = was | in
	return was&in == 0
}

// Responder is the side that answers. It does not know when the session is over:
// its peer sends no further frame.
type Responder struct {
	session
}

// NewResponder returns a session over the set.
func NewResponder(set Set, limits Limits) (*Responder, error) {
	s, err := newSession(set, limits)
	if err != nil {
		return nil, err
	}
	return &Responder{session: s}, nil
}

// Step reads the peer's frame and returns the answer. It keeps no part of in.
func (r *Responder) Step(in []byte) (out []byte, err error) {
	return r.step(in, nil)
}

// session is what the two sides share.
type session struct {
	set    Set
	limits Limits
	rounds int
	over   error // what a further step returns
}

func newSession(set Set, limits Limits) (session, error) {
	if err := limits.Validate(); err != nil {
		return session{}, err
	}
	return session{set: set, limits: limits.withDefaults()}, nil
}

// compareFunc takes a peer's ids in a range, and which items this side has there.
type compareFunc func(ids []byte, from, to int) error

// step answers a frame. An initiator has a compare and takes lists of ids; a
// responder has none and answers them with its own.
func (s *session) step(in []byte, compare compareFunc) ([]byte, error) {
	if s.over != nil {
		return nil, s.over
	}
	out, err := s.answer(in, compare)
	if err != nil {
		s.over = fmt.Errorf("negentropy: read frame: %w", err)
		return nil, s.over
	}
	return out, nil
}

func (s *session) answer(in []byte, compare compareFunc) ([]byte, error) {
	s.rounds++
	if err := check("rounds", s.rounds, s.limits.Rounds); err != nil {
		return nil, err
	}
	r := reader{frame: in, limits: s.limits}
	v, err := r.version()
	if err != nil {
		return nil, err
	}
	a := answer{session: s, writer: newWriter(), compare: compare}
	if v != version {
		if compare != nil {
			return nil, fmt.Errorf("%w: peer speaks %d, this side %d", ErrVersion, v-firstVersion, version-firstVersion)
		}
		return a.frame, nil
	}
	for !a.full && r.more() {
		in, err := r.next()
		if err != nil {
			return nil, err
		}
		if err := a.add(in); err != nil {
			return nil, err
		}
	}
	return a.frame, nil
}

// answer is the answer to one frame, as far as it is made.
type answer struct {
	*session
	*writer
	compare compareFunc
	end     bound // of the last range read
	upper   int   // number of items below end
	skipped bool  // a range before end is still to be written as skipped
	written int   // number of items below the last bound written
	full    bool
}

// add answers one range.
func (a *answer) add(in span) (err error) {
	lower := a.upper
	a.upper = max(lower, a.set.Find(in.end.Item))
	switch {
	case in.mode == modeSkip:
		a.skipped = true
	case in.mode == modeFingerprint:
		a.addFingerprint(in, lower)
	case a.compare != nil:
		a.skipped = true
		err = a.compare(in.ids, lower, a.upper)
	default:
		a.addIDs(in, lower)
	}
	a.end = in.end
	return err
}

// addFingerprint splits a range that differs.
func (a *answer) addFingerprint(in span, lower int) {
	if in.fingerprint == a.set.Fingerprint(lower, a.upper) {
		a.skipped = true
		return
	}
	mark := len(a.frame)
	a.writeSkip()
	split(a.writer, a.set, lower, a.upper, in.end)
	if !a.exceeded(len(a.frame)) {
		a.written = a.upper
		return
	}
	a.frame = a.frame[:mark]
	from := a.upper
	if in.fingerprint == (Sum{}).Fingerprint(0) {
		from = a.written // the difference from the reference
	}
	a.finish(from)
}

// addIDs lists this side's ids in a range, as many as fit.
func (a *answer) addIDs(in span, lower int) {
	end, to := in.end, lower
	for size := len(a.frame); to < a.upper; to++ {
		if a.exceeded(size) {
			end = bound{Item: a.set.At(to), n: idSize}
			break
		}
		size += idSize
	}
	a.writeSkip()
	a.idList(end, a.set, lower, to)
	a.upper, a.written = to, to
	if a.exceeded(len(a.frame)) {
		a.finish(to)
	}
}

// writeSkip writes the ranges that were skipped up to the last one read, if any,
// as one.
func (a *answer) writeSkip() {
	if a.skipped {
		a.skip(a.end)
		a.skipped = false
	}
}

// exceeded reports whether a frame of n bytes leaves too little to end it.
func (a *answer) exceeded(n int) bool {
	return a.limits.FrameBytes > 0 && n > a.limits.FrameBytes-slack
}

// finish ends a full frame with a fingerprint of the items from an index on.
func (a *answer) finish(from int) {
	a.fingerprint(infinity, a.set.Fingerprint(from, a.set.Len()))
	a.full = true
}

// split writes the items from <= i < to, all that there are before end and after
// the last bound written: as a list, or as fingerprints.
func split(w *writer, set Set, from, to int, end bound) {
	n := to - from
	if n < listBelow {
		w.idList(end, set, from, to)
		return
	}
	for b := range buckets {
		next := from + n/buckets
		if b < n%buckets {
			next++
		}
		last := end
		if next < to {
			last = minimalBound(set.At(next-1), set.At(next))
		}
		w.fingerprint(last, set.Fingerprint(from, next))
		from = next
	}
}
