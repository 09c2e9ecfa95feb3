package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

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
	if err != nil && ctx.Err() != nil {
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
	tx, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	b := batch{Database: d, tx: tx, insert: tx.StmtContext(ctx, d.insert)}
	fresh := make([]bool, len(rows))
	for i := range rows {
		if fresh[i], err = b.add(ctx, &rows[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", rows[i].Key.Hash, err)
		}
	}
	if err := b.commit(); err != nil {
		return nil, err
	}
	d.wrote(b.bytes)
	return fresh, nil
}

// A batch is the rows of one transaction, which holds the database's write lock
// and so may append to segments.
type batch struct {
	*Database
	tx     *sql.Tx
	insert *sql.Stmt
	end    segments.Place // where the next payload goes; Segment 0: not known yet
	grown  []int64        // segments that were appended to; kept for SyncEach
	bytes  int64          // of new payloads
}

// add inserts a row, and its payload where that goes unless it was there before.
func (b *batch) add(ctx context.Context, r *archive.Row) (fresh bool, err error) {
	payload := r.Message.GetPayload()
	if b.payloads == nil || int64(len(payload)) < b.options.inline {
		fresh, err = b.insertRow(ctx, r, payload, segments.Place{})
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
	place.Length, place.Checksum = int64(len(payload)), segments.Checksum(payload)
	if fresh, err = b.insertRow(ctx, r, nil, place); !fresh {
		return false, err
	}
	if err := b.payloads.Append(place, payload); err != nil {
		return false, err
	}
	b.end.Offset = place.End()
	if b.options.Sync == SyncEach && !slices.Contains(b.grown, place.Segment) {
		b.grown = append(b.grown, place.Segment)
	}
	return true, nil
}

// findEnd makes b.end the place for one more payload.
func (b *batch) findEnd(ctx context.Context) (err error) {
	if b.end.Segment == 0 {
		b.end, err = end(b.tx.StmtContext(ctx, b.Database.end).QueryRowContext(ctx))
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

// commit commits the rows, with SyncEach after their payloads are on the disk.
func (b *batch) commit() error {
	if len(b.grown) > 0 {
		if err := b.payloads.Sync(b.grown...); err != nil {
			return err
		}
	}
	return b.tx.Commit()
}

// insertRow inserts r with the payload, or the place where it lies if that has a
// segment.
func (b *batch) insertRow(ctx context.Context, r *archive.Row, payload []byte, p segments.Place) (fresh bool, err error) {
	m := r.Message
	if payload == nil {
		payload = []byte{} // the driver takes nil for NULL
	}
	var version, ephemeral, segment, offset, length, checksum any
	if m.Version != nil {
		version = int64(m.GetVersion())
	}
	if m.Ephemeral != nil {
		ephemeral = m.GetEphemeral()
	}
	if p.Segment > 0 {
		segment, offset, length, checksum = p.Segment, p.Offset, p.Length, int64(p.Checksum)
	}
	result, err := b.insert.ExecContext(ctx, r.Key.Timestamp, r.Key.Hash[:], r.Topic, m.GetContentTopic(),
		m.Timestamp != nil, version, ephemeral, m.Meta, m.RateLimitProof, payload, segment, offset, length, checksum)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}
