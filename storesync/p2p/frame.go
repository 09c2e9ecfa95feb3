package p2p

import (
	"encoding/binary"
	"fmt"

	"github.com/multiformats/go-varint"

	"github.com/msgpath/msgpath/message"
)

// kind is the first byte of a frame. See the grammar in the package's
// documentation.
type kind byte

const (
	kindHello     kind = iota + 1 // terms
	kindDecline                   // a text: why there is no session
	kindReconcile                 // a frame of Negentropy
	kindWant                      // ids to send
	kindMessage                   // a topic and an encoded message
	kindAbsent                    // why there is no message: an absence
	kindOffer                     // ids to be had
	kindDone                      // nothing, or one byte: something is left for another session
)

var kindNames = [...]string{
	kindHello: "hello", kindDecline: "decline", kindReconcile: "reconcile", kindWant: "want",
	kindMessage: "message", kindAbsent: "absent", kindOffer: "offer", kindDone: "done",
}

func (k kind) String() string {
	if k > 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", byte(k))
}

// absence says why a message that was asked for is not sent.
type absence byte

const (
	absentHere  absence = iota // the sender does not have it
	absentLarge                // the asker said that it takes none so large
	absentLater                // the sender sends no more in this session
	absences
)

const (
	version    = 1
	idSize     = len(message.Hash{})
	maxTopic   = 1024 // bytes of a pubsub topic
	maxHello   = 256  // bytes of a hello or decline frame
	maxReason  = 200  // bytes of the text in a decline
	kindSize   = 1
	maxVarint  = varint.MaxLenUvarint63
	messageTop = kindSize + 2 + maxTopic // bytes of a message frame besides the message, at most
)

// terms are what one side says of itself and of the session in its hello.
type terms struct {
	version  uint64
	hash     string // name of the algorithm
	from, to int64  // range: from <= timestamp < to, Unix time in nanoseconds
	frame    int    // most bytes of a frame that the sender reads, but for messages
	message  int    // most bytes of an encoded message that it takes
	batch    int    // most ids in a want or an offer that it reads
	rounds   int    // most frames of Negentropy that it reads
}

func (t terms) encode() []byte {
	b := binary.AppendUvarint(nil, t.version)
	b = binary.AppendUvarint(b, uint64(len(t.hash)))
	b = append(b, t.hash...)
	for _, n := range []int64{t.from, t.to, int64(t.frame), int64(t.message), int64(t.batch), int64(t.rounds)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func parseTerms(body []byte) (t terms, err error) {
	r := reader{body: body}
	t.version = uint64(r.number("version"))
	if r.err == nil && t.version != version {
		return t, nil // what follows is that version's
	}
	t.hash = string(r.bytes("name of the hash", r.number("length of the hash's name")))
	t.from, t.to = r.number("start of the range"), r.number("end of the range")
	for _, f := range []struct {
		name  string
		value *int
		least int64
	}{
		{"frame bytes", &t.frame, MinFrameBytes},
		{"message bytes", &t.message, 1},
		{"ids in a batch", &t.batch, 1},
		{"rounds", &t.rounds, 1},
	} {
		n := r.number(f.name)
		if r.err == nil && n < f.least {
			r.fail("%s: %d is below %d", f.name, n, f.least)
		}
		*f.value = int(n)
	}
	if r.err == nil && t.from > t.to {
		r.fail("range ends at %d before its start %d", t.to, t.from)
	}
	return t, r.end()
}

// appendIDs appends the body of a want or an offer.
func appendIDs(b []byte, ids []message.Hash) []byte {
	for i := range ids {
		b = append(b, ids[i][:]...)
	}
	return b
}

func parseIDs(body []byte, limit int) ([]message.Hash, error) {
	if n := len(body) / idSize; len(body)%idSize != 0 || n > limit {
		return nil, faultf("%d bytes of ids: want up to %d of %d bytes each", len(body), limit, idSize)
	}
	ids := make([]message.Hash, 0, len(body)/idSize)
	for ; len(body) > 0; body = body[idSize:] {
		ids = append(ids, message.Hash(body[:idSize]))
	}
	return ids, nil
}

// parseMessage returns the parts of a message frame's body. data is a part of it.
func parseMessage(body []byte) (topic string, data []byte, err error) {
	r := reader{body: body}
	n := r.number("length of the topic")
	if r.err == nil && n > maxTopic {
		r.fail("topic of %d bytes, limit %d", n, maxTopic)
	}
	topic = string(r.bytes("topic", n))
	return topic, r.body[r.off:], r.err
}

func parseAbsence(body []byte) (absence, error) {
	if len(body) != 1 || body[0] >= byte(absences) {
		return 0, faultf("absence %x: want one byte below %d", body, absences)
	}
	return absence(body[0]), nil
}

// reader takes a body apart. Its first error stays.
type reader struct {
	body []byte
	off  int
	err  error
}

func (r *reader) fail(format string, args ...any) {
	r.err = faultf("offset %d: %s", r.off, fmt.Sprintf(format, args...))
}

// number reads a number of up to 63 bits, in as few bytes as it takes.
func (r *reader) number(what string) int64 {
	if r.err != nil {
		return 0
	}
	n, size, err := varint.FromUvarint(r.body[r.off:])
	if err != nil {
		r.fail("%s: %v", what, err)
		return 0
	}
	r.off += size
	return int64(n)
}

func (r *reader) bytes(what string, n int64) []byte {
	if r.err != nil {
		return nil
	}
	if left := int64(len(r.body) - r.off); n > left {
		r.fail("%s: %d bytes wanted, %d left", what, n, left)
		return nil
	}
	b := r.body[r.off : r.off+int(n)]
	r.off += int(n)
	return b
}

func (r *reader) end() error {
	if r.err == nil && r.off < len(r.body) {
		r.fail("%d bytes too many", len(r.body)-r.off)
	}
	return r.err
}
