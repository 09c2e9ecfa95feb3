package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"

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
	conn, err := d.writer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // gives it back
	b := batch{Database: d, large: d.dir != nil && payloadBytes(rows) >= segments.DirectBytes}
	var fresh []bool
	err = conn.Raw(func(c any) (err error) {
		fresh, err = b.insert(ctx, c, rows)
		return err
	})
	if b.panicked != "" { // inside Raw it would cost the connection
		panic(b.panicked)
	}
	if err != nil {
		return nil, err
	}
	if d.dir == nil && b.end.Segment > 0 {
		d.next = b.end
	}
	d.wrote(b.bytes)
	return fresh, nil
}

// A batch is the rows of one transaction, which holds the database's write lock
// and so may append to segments.
type batch struct {
	*Database
	large    bool           // begins a block
	end      segments.Place // where the next payload goes; Segment 0: not known yet
	runs     []run          // what is to be appended
	bytes    int64          // of new payloads
	panicked string         // with what, and where; "": it did not
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

// insert inserts rows in one transaction on the driver's connection. That ends here
// and not with ctx, so that nobody else gets the write lock while segments are
// written.
func (b *batch) insert(ctx context.Context, conn any, rows []archive.Row) ([]bool, error) {
	tx, err := b.direct.begin(conn)
	if err != nil {
		return nil, err
	}
	defer func() {
		if v := recover(); v != nil {
			_ = tx.Rollback()
			b.panicked = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	fresh, err := b.addAll(ctx, rows)
	if err == nil {
		err = b.write(ctx)
	}
	if err != nil {
		_ = tx.Rollback() // SQLite may have done it
		return nil, err
	}
	return fresh, tx.Commit()
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
	if int64(len(payload)) < b.options.inline {
		fresh, err = b.direct.add(r, payload, segments.Place{})
	} else {
		fresh, err = b.addPlaced(r, payload)
	}
	if fresh {
		b.bytes += int64(len(payload))
	}
	return fresh, err
}

func (b *batch) addPlaced(r *archive.Row, payload []byte) (fresh bool, err error) {
	if err := b.findEnd(); err != nil {
		return false, err
	}
	place := b.end
	place.Length = int64(len(payload))
	if b.dir != nil {
		place.Checksum = segments.Checksum(payload)
	}
	if fresh, err = b.direct.add(r, nil, place); !fresh {
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

// end scans a row of endSQL.
func end(row *sql.Row) (segments.Place, error) {
	p := segments.Place{Segment: 1}
	if err := row.Scan(&p.Segment, &p.Offset); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return segments.Place{}, err
	}
	return p, nil
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
