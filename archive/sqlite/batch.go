package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/segments"
)

// Insert implements archive.Backend. It waits for the disk where inserts are far
// ahead of it, and fails for good once payloads could not be synchronised.
func (d *Database) Insert(ctx context.Context, rows []archive.Row) ([]bool, error) {
	if err := d.use(); err != nil {
		return nil, fmt.Errorf("sqlite: insert: %w", err)
	}
	defer d.mu.RUnlock()
	fresh, err := d.insertRows(ctx, rows)
	if err != nil && ctx.Err() != nil && !errors.Is(err, errUnsynced) {
		err = ctx.Err() // else it may be that of a statement closed for this reason
	}
	if err != nil {
		return nil, fmt.Errorf("sqlite: insert %d rows: %w", len(rows), err)
	}
	return fresh, nil
}

func (d *Database) insertRows(ctx context.Context, rows []archive.Row) (fresh []bool, err error) {
	if err := d.flusher.admit(ctx, 4*d.options.pending); err != nil {
		return nil, err
	}
	b := batch{Database: d, large: d.dir != nil && payloadBytes(rows) >= segments.DirectBytes}
	err = d.transact(ctx, func() error {
		fresh, err = b.insert(ctx, rows)
		return err
	})
	if err != nil {
		return nil, err
	}
	if d.dir == nil && b.end.Segment > 0 {
		d.next = b.end
	}
	b.leaveEpoch()
	d.wrote(b.bytes, b.end.Segment)
	return fresh, nil
}

// transact runs do in one transaction on the driver's connection. That ends here
// and not with ctx, so that nobody else gets the write lock while segments are
// written.
func (d *Database) transact(ctx context.Context, do func() error) error {
	conn, err := d.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // gives it back
	var panicked string
	err = conn.Raw(func(c any) (err error) {
		panicked, err = d.direct.transact(c, do)
		return err
	})
	if panicked != "" {
		panic(panicked)
	}
	return err
}

// A batch is the rows of one transaction, which holds the database's write lock
// and so may append to segments.
type batch struct {
	*Database
	large   bool           // begins a block
	end     segments.Place // where the next payload goes; Segment 0: not known yet
	runs    []run          // what is to be appended
	tallies []tally        // of the new rows
	bytes   int64          // of new payloads
	began   bool           // an epoch
}

// A run is payloads that follow each other in one segment.
type run struct {
	at       segments.Place
	payloads [][]byte
}

func payloadBytes(rows []archive.Row) (sum int64) {
	for i := range rows {
		sum += int64(len(rows[i].Message.GetPayload()))
	}
	return sum
}

// insert inserts rows, and writes their payloads.
func (b *batch) insert(ctx context.Context, rows []archive.Row) ([]bool, error) {
	if err := b.enterEpoch(); err != nil {
		return nil, err
	}
	fresh, err := b.addAll(ctx, rows)
	if err == nil {
		err = b.direct.addTo(b.tallies)
	}
	if err == nil {
		err = b.write(ctx)
	}
	return fresh, err
}

func (b *batch) addAll(ctx context.Context, rows []archive.Row) (fresh []bool, err error) {
	fresh = make([]bool, len(rows))
	for i := range rows {
		if err = ctx.Err(); err == nil {
			fresh[i], err = b.add(&rows[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rows[i].Key.Hash, err)
		}
	}
	return fresh, nil
}

// add inserts a row, and its payload where that goes unless it was there before.
func (b *batch) add(r *archive.Row) (fresh bool, err error) {
	payload := r.Message.GetPayload()
	var place segments.Place
	if int64(len(payload)) < b.options.inline {
		fresh, err = b.direct.add(r, payload, place)
	} else {
		place, fresh, err = b.addPlaced(r, payload)
	}
	if fresh {
		b.bytes += int64(len(payload))
		b.tallies = tallied(b.tallies, tally{place.Segment, 1, archive.SizeOf(r.Topic, r.Message), place.End()})
	}
	return fresh, err
}

func (b *batch) addPlaced(r *archive.Row, payload []byte) (place segments.Place, fresh bool, err error) {
	if err := b.findEnd(); err != nil {
		return place, false, err
	}
	place = b.end
	place.Length = int64(len(payload))
	if b.dir != nil {
		place.Checksum = segments.Checksum(payload)
	}
	if fresh, err = b.direct.add(r, nil, place); !fresh {
		return place, false, err
	}
	if b.dir == nil {
		payload = r.HeldPayload() // it is kept itself
	}
	last := len(b.runs) - 1
	if last < 0 || b.runs[last].at.Segment != place.Segment {
		b.runs, last = append(b.runs, run{at: place}), last+1
	}
	b.runs[last].payloads = append(b.runs[last].payloads, payload)
	b.end.Offset = place.End()
	return place, true, nil
}

// findEnd makes b.end the place for one more payload.
func (b *batch) findEnd() (err error) {
	if b.end.Segment == 0 && b.dir == nil {
		b.end = b.next
	}
	if b.end.Segment == 0 {
		b.end, err = b.direct.last()
		if b.large {
			b.end.Offset = (b.end.Offset + segments.Block - 1) / segments.Block * segments.Block
		}
	}
	if b.end.Offset >= b.options.segment {
		b.end = segments.Place{Segment: b.end.Segment + 1}
	}
	return err
}

// write writes the payloads, with SyncEach to the disk. Once it has begun, ctx does
// not end it.
func (b *batch) write(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, r := range b.runs {
		err := b.payloads.Append(r.at, r.payloads...)
		if err == nil && b.dir != nil && b.options.Sync == SyncEach {
			err = b.syncSegment(r.at.Segment)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
