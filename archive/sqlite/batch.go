package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/segments"
)

// endSQL finds where the last payload ends. Rows alone say so: what a segment
// holds behind it belongs to no row.
const endSQL = `SELECT segment, "offset" + length FROM messages WHERE segment IS NOT NULL
	ORDER BY segment DESC, "offset" DESC LIMIT 1`

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

func (d *Database) insertRows(ctx context.Context, rows []archive.Row) ([]bool, error) {
	if err := d.flusher.admit(ctx, 4*d.options.pending); err != nil {
		return nil, err
	}
	tx, conn, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = tx.Rollback(), conn.Close() }() // the first does nothing after a commit
	b := batch{Database: d, tx: tx, large: d.dir != nil && payloadBytes(rows) >= segments.DirectBytes}
	var fresh []bool
	err = conn.Raw(func(c any) error {
		if err := d.direct.use(ctx, c); err != nil {
			return err
		}
		fresh, err = b.addAll(ctx, rows)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := b.commit(ctx); err != nil {
		return nil, err
	}
	d.wrote(b.bytes)
	return fresh, nil
}

// A batch is the rows of one transaction, which holds the database's write lock
// and so may append to segments.
type batch struct {
	*Database
	tx    *sql.Tx
	large bool           // begins a block
	end   segments.Place // where the next payload goes; Segment 0: not known yet
	runs  []run          // what is to be appended
	bytes int64          // of new payloads
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

func (b *batch) addAll(ctx context.Context, rows []archive.Row) ([]bool, error) {
	fresh := make([]bool, len(rows))
	for i := range rows {
		var err error
		if fresh[i], err = b.add(ctx, &rows[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", rows[i].Key.Hash, err)
		}
	}
	return fresh, nil
}

// add inserts a row, and its payload where that goes unless it was there before.
func (b *batch) add(ctx context.Context, r *archive.Row) (fresh bool, err error) {
	payload := r.Message.GetPayload()
	if int64(len(payload)) < b.options.inline {
		fresh, err = b.direct.add(ctx, r, payload, segments.Place{})
	} else {
		fresh, err = b.addPlaced(ctx, r, payload)
	}
	if fresh {
		b.bytes += int64(len(payload))
	}
	return fresh, err
}

func (b *batch) addPlaced(ctx context.Context, r *archive.Row, payload []byte) (fresh bool, err error) {
	if err := b.findEnd(ctx); err != nil {
		return false, err
	}
	place := b.end
	place.Length = int64(len(payload))
	if b.dir != nil {
		place.Checksum = segments.Checksum(payload)
	}
	if fresh, err = b.direct.add(ctx, r, nil, place); !fresh {
		return false, err
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
	return true, nil
}

// findEnd makes b.end the place for one more payload.
func (b *batch) findEnd(ctx context.Context) (err error) {
	if b.end.Segment == 0 && b.dir == nil {
		b.end = b.next
	}
	if b.end.Segment == 0 {
		b.end, err = b.direct.last(ctx)
		if b.large {
			b.end.Offset = (b.end.Offset + segments.Block - 1) / segments.Block * segments.Block
		}
	}
	if b.end.Offset >= b.options.segment {
		b.end = segments.Place{Segment: b.end.Segment + 1}
	}
	return err
}

// end scans a row of endSQL.
func end(row *sql.Row) (segments.Place, error) {
	p := segments.Place{Segment: 1}
	if err := row.Scan(&p.Segment, &p.Offset); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return segments.Place{}, err
	}
	return p, nil
}

// commit writes the payloads and commits the rows, with SyncEach after the
// payloads are on the disk. Once it has begun to write, ctx does not end it.
func (b *batch) commit(ctx context.Context) error {
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
	err := b.tx.Commit()
	if err == nil && b.end.Segment > 0 {
		b.next = b.end
	}
	return err
}
