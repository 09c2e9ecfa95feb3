package bench

import (
	"context"
	"fmt"
	"maps"
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

// Select knows keys alone: it finds nothing with data and looks at no topic.
func (d *discard) Select(ctx context.Context, s archive.Selection) (found []archive.Row, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.err(ctx); err != nil || s.Data {
		return nil, err
	}
	for _, k := range slices.SortedFunc(maps.Values(d.keys), message.Key.Compare) {
		if (s.After == nil || k.Compare(*s.After) > 0) && (s.Before == nil || k.Compare(*s.Before) < 0) {
			found = append(found, archive.Row{Key: k})
		}
	}
	if s.Descending {
		slices.Reverse(found)
	}
	return found[:min(s.Limit, len(found))], nil
}

func (d *discard) Delete(ctx context.Context, keys []message.Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.err(ctx); err != nil {
		return err
	}
	for _, k := range keys {
		delete(d.keys, k.Hash)
	}
	return nil
}

func (d *discard) Size(ctx context.Context) (archive.Size, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return archive.Size{Messages: int64(len(d.keys))}, d.err(ctx)
}

func (d *discard) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return nil
}
