package bench

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/node"
)

// Discard names an archive that keeps the key of each message and forgets the
// message. Whoever consumes messages asks the Envelope for the same as with any
// archive; what is left out is the database.
const Discard = "discard"

// checkArchive says what is wrong with the name of a benchmark's archive.
func checkArchive(name string) error {
	if name == Discard {
		return nil
	}
	if name == "" {
		return fmt.Errorf("no archive: want memory, sqlite::memory:, sqlite:FILE or %s", Discard)
	}
	if _, err := node.ArchiveFile(name); err != nil {
		return fmt.Errorf("%w, or %s", err, Discard)
	}
	return nil
}

// discard is the backend of [Discard].
type discard struct {
	mu     sync.Mutex
	closed bool
	keys   map[message.Hash]message.Key
}

func openDiscard(context.Context) (archive.Backend, error) {
	return &discard{keys: make(map[message.Hash]message.Key)}, nil
}

// err says why nothing can be done: the end of ctx or of the backend. The caller
// holds d.mu.
func (d *discard) err(ctx context.Context) error {
	if d.closed {
		return archive.ErrClosed
	}
	return ctx.Err()
}

func (d *discard) Insert(ctx context.Context, rows []archive.Row) ([]bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.err(ctx); err != nil {
		return nil, err
	}
	fresh := make([]bool, len(rows))
	for i := range rows {
		key := rows[i].Key
		if _, known := d.keys[key.Hash]; !known {
			fresh[i], d.keys[key.Hash] = true, key
		}
	}
	return fresh, nil
}

// Get has the message of no key.
func (d *discard) Get(ctx context.Context, _ message.Hash) (archive.Row, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return archive.Row{}, cmp.Or(d.err(ctx), archive.ErrNotFound)
}

func (d *discard) Keys(ctx context.Context) iter.Seq2[message.Key, error] {
	return func(yield func(message.Key, error) bool) {
		d.mu.Lock()
		err := d.err(ctx)
		keys := make([]message.Key, 0, len(d.keys))
		for _, k := range d.keys {
			keys = append(keys, k)
		}
		d.mu.Unlock()
		if err != nil {
			yield(message.Key{}, err)
			return
		}
		slices.SortFunc(keys, message.Key.Compare)
		for _, k := range keys {
			if !yield(k, nil) {
				return
			}
		}
	}
}

func (d *discard) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return nil
}
