package negentropy

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/msgpath/msgpath/message"
)

// The first byte of a frame is its version, from 0x60 to 0x6f.
const (
	version      = 0x61
	firstVersion = 0x60
	lastVersion  = 0x6f
)

const (
	idSize    = len(message.Hash{})
	maxVarint = 10 // bytes
)

// mode says what a range holds.
type mode uint64

const (
	modeSkip        mode = iota // nothing
	modeFingerprint             // a fingerprint of the sender's items
	modeIDList                  // the ids of the sender's items
)

// bound is where a range ends, before all items that are not below it.
type bound struct {
	Item     // the id's bytes from n on are 0
	n    int // length of the id's prefix on the wire
}

// minimalBound returns the shortest bound that is above a and not above b, two
// items in ascending order.
func minimalBound(a, b Item) bound {
	if a.Timestamp != b.Timestamp {
		return bound{Item: Item{Timestamp: b.Timestamp}}
	}
	n := 0
	for n < idSize-1 && a.ID[n] == b.ID[n] {
		n++
	}
	end := bound{Item: Item{Timestamp: b.Timestamp}, n: n + 1}
	copy(end.ID[:end.n], b.ID[:])
	return end
}

// span is one range of a frame: from the end of the one before it to its end.
type span struct {
	end         bound
	mode        mode
	fingerprint Fingerprint // of modeFingerprint
	ids         []byte      // of modeIDList: whole ids, a part of the frame
}

// reader takes a frame apart. It allocates nothing but errors.
type reader struct {
	frame  []byte
	off    int
	last   bound // of the range before
	limits Limits
	ranges int
	ids    int
}

// malformed returns an error about what is at an offset.
func malformed(off int, format string, args ...any) error {
	return fmt.Errorf("%w: offset %d: %s", ErrMalformed, off, fmt.Sprintf(format, args...))
}

// version reads the first byte, and checks the frame's size.
func (r *reader) version() (byte, error) {
	if err := check("bytes", len(r.frame), r.limits.PeerFrameBytes); err != nil {
		return 0, err
	}
	b, err := r.bytes("version", 1)
	if err != nil {
		return 0, err
	}
	if b[0] < firstVersion || b[0] > lastVersion {
		return 0, malformed(0, "version byte is %#x", b[0])
	}
	return b[0], nil
}

// more reports whether there is another range.
func (r *reader) more() bool { return r.off < len(r.frame) }

// next reads a range.
func (r *reader) next() (span, error) {
	r.ranges++
	if err := check("ranges", r.ranges, r.limits.PeerRanges); err != nil {
		return span{}, err
	}
	end, err := r.bound()
	if err != nil {
		return span{}, err
	}
	s, at := span{end: end}, r.off
	m, err := r.varint("mode")
	if err != nil {
		return span{}, err
	}
	s.mode = mode(m)
	switch s.mode {
	case modeSkip:
	case modeFingerprint:
		b, err := r.bytes("fingerprint", uint64(len(s.fingerprint)))
		if err != nil {
			return span{}, err
		}
		s.fingerprint = Fingerprint(b)
	case modeIDList:
		if s.ids, err = r.idList(); err != nil {
			return span{}, err
		}
	default:
		return span{}, malformed(at, "mode is %d", m)
	}
	return s, nil
}

// bound reads the end of a range.
func (r *reader) bound() (bound, error) {
	at := r.off
	delta, err := r.varint("timestamp")
	if err != nil {
		return bound{}, err
	}
	b := bound{Item: Item{Timestamp: Infinity}}
	if delta > 0 && delta-1 <= Infinity-r.last.Timestamp { // past the end is infinity, as in the reference
		b.Timestamp = r.last.Timestamp + delta - 1
	}
	lengthAt := r.off
	n, err := r.varint("length of an id's prefix")
	if err != nil {
		return bound{}, err
	}
	if n > uint64(idSize) {
		return bound{}, malformed(lengthAt, "an id's prefix is %d bytes long", n)
	}
	prefix, err := r.bytes("an id's prefix", n)
	if err != nil {
		return bound{}, err
	}
	b.n = copy(b.ID[:], prefix)
	if b.Compare(r.last.Item) < 0 {
		return bound{}, malformed(at, "bound is below the one before")
	}
	r.last = b
	return b, nil
}

// idList reads a count and as many ids.
func (r *reader) idList() ([]byte, error) {
	at := r.off
	n, err := r.varint("number of ids")
	if err != nil {
		return nil, err
	}
	if n > uint64(len(r.frame)-r.off)/uint64(idSize) {
		return nil, malformed(at, "%d ids in %d bytes", n, len(r.frame)-r.off)
	}
	r.ids += int(n)
	if err := check("ids", r.ids, r.limits.PeerIDs); err != nil {
		return nil, err
	}
	return r.bytes("ids", n*uint64(idSize))
}

// bytes reads n bytes, which stay a part of the frame.
func (r *reader) bytes(what string, n uint64) ([]byte, error) {
	if n > uint64(len(r.frame)-r.off) {
		return nil, malformed(r.off, "%s: %d bytes wanted, %d left", what, n, len(r.frame)-r.off)
	}
	b := r.frame[r.off : r.off+int(n)]
	r.off += int(n)
	return b, nil
}

// varint reads a number, most significant digit first.
func (r *reader) varint(what string) (uint64, error) {
	var n uint64
	for i, c := range r.frame[r.off:] {
		if i == 0 && c == 0x80 {
			return 0, malformed(r.off, "%s begins with a zero", what)
		}
		if n > math.MaxUint64>>7 {
			return 0, malformed(r.off, "%s exceeds 64 bits", what)
		}
		n = n<<7 | uint64(c&0x7f)
		if c < 0x80 {
			r.off += i + 1
			return n, nil
		}
	}
	return 0, malformed(r.off, "%s ends early", what)
}

// writer puts a frame together.
type writer struct {
	frame []byte
	last  uint64 // timestamp of the bound before
}

func newWriter() *writer { return &writer{frame: []byte{version}} }

// begin writes a range's end and mode.
func (w *writer) begin(end bound, m mode) {
	delta := uint64(0)
	if end.Timestamp != Infinity {
		delta = end.Timestamp - w.last + 1
	}
	w.last = end.Timestamp
	w.frame = appendVarint(w.frame, delta)
	w.frame = appendVarint(w.frame, uint64(end.n))
	w.frame = append(w.frame, end.ID[:end.n]...)
	w.frame = appendVarint(w.frame, uint64(m))
}

func (w *writer) skip(end bound) { w.begin(end, modeSkip) }

func (w *writer) fingerprint(end bound, f Fingerprint) {
	w.begin(end, modeFingerprint)
	w.frame = append(w.frame, f[:]...)
}

// idList writes the ids of the set's items from <= i < to.
func (w *writer) idList(end bound, set Set, from, to int) {
	w.begin(end, modeIDList)
	w.frame = appendVarint(w.frame, uint64(to-from))
	for i := from; i < to; i++ {
		id := set.At(i).ID
		w.frame = append(w.frame, id[:]...)
	}
}

// appendVarint appends n in as few digits of 7 bits as possible, most significant
// first; all but the last have the high bit.
func appendVarint(b []byte, n uint64) []byte {
	for i := (bits.Len64(n|1) - 1) / 7; i > 0; i-- {
		b = append(b, byte(n>>(7*i))|0x80)
	}
	return append(b, byte(n)&0x7f)
}
