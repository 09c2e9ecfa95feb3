package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/msgpath/msgpath/archive/segments"
	"github.com/msgpath/msgpath/message"
)

// removeSQL deletes a row. A payload in it is in segment 0.
const removeSQL = `DELETE FROM messages WHERE timestamp = ? AND hash = ?
	RETURNING ifnull(segment, 0), ifnull("offset", 0), ` + sizeColumn

// Delete implements archive.Backend. A segment that holds no payload of a row any
// more is removed, once a later one was begun. Where that fails it is the error of
// the next Delete, which tries it first and deletes nothing then.
func (d *Database) Delete(ctx context.Context, keys []message.Key) error {
	if err := d.use(); err != nil {
		return fmt.Errorf("sqlite: delete: %w", err)
	}
	defer d.mu.RUnlock()
	if err := d.delete(ctx, keys); err != nil {
		return fmt.Errorf("sqlite: delete %d rows: %w", len(keys), err)
	}
	return nil
}

func (d *Database) delete(ctx context.Context, keys []message.Key) error {
	if err := d.removeDropped(); err != nil {
		return err
	}
	r := removal{Database: d}
	if err := d.transact(ctx, func() error { return r.delete(ctx, keys) }); err != nil {
		return err
	}
	if d.dir == nil {
		d.memory.Forget(r.places...)
		return nil
	}
	d.dropped = r.dropped
	_ = d.removeDropped() // what was committed is no error; it is tried again
	return nil
}

// A removal is the rows deleted by one transaction.
type removal struct {
	*Database
	places  []segments.Place // of their payloads, without lengths; kept in memory only
	tallies []tally
	dropped []int64
}

func (r *removal) delete(ctx context.Context, keys []message.Key) error {
	for _, k := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.direct.delete(k, r.note); err != nil {
			return fmt.Errorf("%s: %w", k.Hash, err)
		}
	}
	if err := r.direct.addTo(r.tallies); err != nil {
		return err
	}
	var err error
	r.dropped, err = r.direct.dropEmpty()
	return err
}

func (r *removal) note(p segments.Place, size int64) {
	r.tallies = tallied(r.tallies, tally{segment: p.Segment, messages: -1, bytes: -size})
	if r.dir == nil && p.Segment > 0 {
		r.places = append(r.places, p)
	}
}

// removeDropped removes the files of segments that were dropped. It has the log on
// the disk first: a loss of power must not bring back rows without their payloads.
// (SQLite keeps no lock on the log, which the system would take when it is closed.)
func (d *Database) removeDropped() error {
	if len(d.dropped) == 0 {
		return nil
	}
	err := d.flusher.settle(func() error {
		err := segments.SyncFile(d.log)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // all of it was moved
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := d.dir.Remove(d.dropped...); err != nil {
		return err
	}
	d.dropped = nil
	return nil
}
