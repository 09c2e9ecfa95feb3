package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// What a caller branches on.
var (
	ErrNotFound  = errors.New("not found")           // no row has the hash
	ErrDuplicate = errors.New("already stored")      // the key was there before
	ErrTimestamp = errors.New("timestamp refused")   // outside the window, or past retention
	ErrClosed    = errors.New("closed")              // no longer accepting
	errPanicked  = errors.New("backend panicked")    // ends Run
	errIdle      = errors.New("not running")         // before Run
	errAnswers   = errors.New("wrong answer length") // a broken Backend
)

// Row is one stored message. Key.Timestamp is the message's own timestamp, 0
// where it has none. Message is shared and read-only.
type Row struct {
	counts counters.Set // first: see package counters
	wire   int          // bytes of the buffer that Message may alias; 0: none

	Key     message.Key
	Topic   string // pubsub topic; "" in a row selected without data
	Message *pb.WakuMessage
	Size    int64 // bytes, see SizeOf, of a row selected with its size; else 0
}

// SizeOf returns how many bytes of an archive's size a message on a pubsub topic
// takes: those of its payload, its content topic, its meta, its proof and the topic.
func SizeOf(topic string, m *pb.WakuMessage) int64 {
	return int64(len(topic) + len(m.GetPayload()) + len(m.GetContentTopic()) + len(m.GetMeta()) + len(m.GetRateLimitProof()))
}

// Size is how much is stored.
type Size struct {
	Messages int64
	Bytes    int64 // the sum of SizeOf, not what a database takes on the disk
}

// A Selection says which rows to select: those that match every field that is set.
type Selection struct {
	After, Before *message.Key // only keys above and below these

	Hashes        []message.Hash // only these
	Topic         string         // only this pubsub topic
	ContentTopics []string       // only these

	Descending bool // the last rows first
	Data       bool // with message and topic, which else stay empty
	Sizes      bool // with sizes
	Limit      int  // most rows to return, at least 1
}

// Backend keeps rows. It is safe for concurrent use, except that one Insert or
// Delete runs at a time. After Close every method but Close returns an error that
// wraps [ErrClosed]. Package archivetest proves a Backend.
type Backend interface {
	// Insert stores rows in one transaction and returns for each whether it was
	// new: fresh has the length of rows. A hash that is present already, also
	// earlier in rows, is not fresh and leaves the stored row as it is. On an
	// error, a done context among them, no row is stored. Insert does not change
	// rows, and keeps none of its slice; it may keep their messages and payloads.
	Insert(ctx context.Context, rows []Row) (fresh []bool, err error)

	// Select returns up to Limit rows in ascending or descending order of their
	// keys, as they are at one moment.
	Select(ctx context.Context, s Selection) ([]Row, error)

	// Delete deletes the rows with these keys, in one transaction. A key that is not
	// there is no error. On an error every row is still there.
	Delete(ctx context.Context, keys []message.Key) error

	// Size returns how much is stored, without reading all of it.
	Size(ctx context.Context) (Size, error)

	// Close frees everything. A second Close returns nil.
	Close() error
}

// Get returns the row of b with hash h. The error wraps ErrNotFound where there is
// none.
func Get(ctx context.Context, b Backend, h message.Hash) (Row, error) {
	rows, err := b.Select(ctx, Selection{Hashes: []message.Hash{h}, Data: true, Limit: 1})
	if err == nil && len(rows) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Row{}, fmt.Errorf("archive: get %s: %w", h, err)
	}
	return rows[0], nil
}

// keysLength is the number of keys that Keys selects at once.
const keysLength = 512

// Keys yields in ascending order each key of b that was there when the iteration
// began; keys inserted or deleted meanwhile may be among them. It holds no lock and
// no connection while the loop's body runs. It ends after the first error.
func Keys(ctx context.Context, b Backend) iter.Seq2[message.Key, error] {
	return func(yield func(message.Key, error) bool) {
		s := Selection{Limit: keysLength}
		for {
			rows, err := b.Select(ctx, s)
			if err != nil {
				yield(message.Key{}, fmt.Errorf("archive: list keys: %w", err))
				return
			}
			for _, r := range rows {
				if !yield(r.Key, nil) {
					return
				}
			}
			if len(rows) < keysLength {
				return
			}
			s.After = &rows[len(rows)-1].Key
		}
	}
}
