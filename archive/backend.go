package archive

import (
	"context"
	"errors"
	"iter"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// What a caller branches on.
var (
	ErrNotFound  = errors.New("not found")           // no row has the hash
	ErrDuplicate = errors.New("already stored")      // the key was there before
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
	Topic   string // pubsub topic
	Message *pb.WakuMessage
}

// Backend keeps rows. It is safe for concurrent use, except that one Insert
// runs at a time. After Close every method but Close returns an error that
// wraps [ErrClosed]. Package archivetest proves a Backend.
type Backend interface {
	// Insert stores rows in one transaction and returns for each whether it was
	// new: fresh has the length of rows. A hash that is present already, also
	// earlier in rows, is not fresh and leaves the stored row as it is. On an
	// error, a done context among them, no row is stored. Insert does not change
	// rows, and keeps none of its slice; it may keep their messages and payloads.
	Insert(ctx context.Context, rows []Row) (fresh []bool, err error)

	// Get returns the row with hash h, or an error that wraps ErrNotFound.
	Get(ctx context.Context, h message.Hash) (Row, error)

	// Keys yields in ascending order each key that was there when the iteration
	// began; keys inserted meanwhile may be among them. It holds no lock and no
	// connection while the loop's body runs. It ends after the first error.
	Keys(ctx context.Context) iter.Seq2[message.Key, error]

	// Close frees everything. A second Close returns nil.
	Close() error
}
