package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/msgpath/msgpath/archive/segments"
)

// placedSQL finds the rows with payloads in segments, the latest first: rows are
// in the order of their places, since each gets a higher number than all that are
// there (VACUUM keeps their order) and a later place.
const placedSQL = `SELECT rowid, segment, "offset", length, checksum, ` + sizeColumn + `
	FROM messages WHERE segment IS NOT NULL ORDER BY rowid DESC`

// Lost returns how many rows were deleted when the file was opened, because a
// loss of power had taken their payloads. They were inserted after the last time
// that the file was synchronised.
func (d *Database) Lost() int { return d.lost }

// recover brings rows and payloads together after a crash: rows whose payload
// did not reach the disk are deleted, payloads whose row did not are cut off,
// segments that hold nothing are removed, and the last is made again if it is gone.
// It holds the write lock, so that no other process appends meanwhile.
func (d *Database) recover(ctx context.Context) error {
	tx, conn, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _, _ = tx.Rollback(), conn.Close() }() // the first does nothing after a commit
	last, err := end(tx.QueryRowContext(ctx, endSQL))
	if err == nil {
		d.lost, err = d.deleteDamaged(ctx, tx, last)
	}
	if err == nil {
		err = errors.Join(cut(d.dir, last), remake(d.dir, last))
	}
	if err == nil {
		_, err = integers(ctx, tx, dropSQL)
	}
	if err != nil {
		return err
	}
	held, err := integers(ctx, tx, heldSQL, 1, last.Segment)
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return err
	}
	return d.findOrphans(last.Segment, held)
}

// deleteDamaged deletes the rows in front of last whose payload is not on the disk,
// and returns how many.
func (d *Database) deleteDamaged(ctx context.Context, tx *sql.Tx, last segments.Place) (int, error) {
	from, err := synced(ctx, tx)
	if err == nil {
		err = d.checkPayloads(ctx, tx, from)
	}
	if err != nil || from == last {
		return 0, err
	}
	rows, err := damaged(ctx, tx, d.dir, from)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if _, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE rowid = ?`, row.id); err != nil {
			return 0, err
		}
		if _, err := tx.ExecContext(ctx, tallySQL, row.segment, -1, -row.size, 0); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// findOrphans removes what was dropped before and not removed: segments in front of
// the last that are not held. Nobody appends to such a one any more.
func (d *Database) findOrphans(last int64, held []int64) error {
	found, err := d.dir.Segments()
	if err != nil {
		return err
	}
	for _, n := range found {
		if n < last && !slices.Contains(held, n) {
			d.dropped = append(d.dropped, n)
		}
	}
	_ = d.removeDropped() // told by the next Delete, which tries again
	return nil
}

// checkPayloads refuses a file without its payloads: no loss of power takes the
// folder, nor a segment that was synchronised, but who moves the file may forget
// them.
func (d *Database) checkPayloads(ctx context.Context, in querier, from segments.Place) error {
	held, err := integers(ctx, in, `SELECT number FROM segments WHERE number > 0 AND messages > 0 ORDER BY number`)
	if err != nil || len(held) == 0 {
		return err
	}
	err = d.dir.Check(0)
	if err == nil && from.Offset > 0 && slices.Contains(held, from.Segment) {
		err = d.dir.Check(from.Segment)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the payloads are not there, was the file moved without them? %w", err)
	}
	return err
}

// A lost row is one whose payload is damaged.
type lostRow struct{ id, segment, size int64 }

// damaged returns the rows from a place on whose payload is not on the disk.
func damaged(ctx context.Context, in querier, payloads *segments.Dir, from segments.Place) (lost []lostRow, err error) {
	rows, err := in.QueryContext(ctx, placedSQL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for last := int64(0); rows.Next(); {
		var row lostRow
		var p segments.Place
		if err := rows.Scan(&row.id, &p.Segment, &p.Offset, &p.Length, &p.Checksum, &row.size); err != nil {
			return nil, err
		}
		if p.Segment < from.Segment || p.Segment == from.Segment && p.Offset < from.Offset {
			break
		}
		if p.Segment != last {
			if err := payloads.Uncache(p.Segment); err != nil {
				return nil, err
			}
			last = p.Segment
		}
		switch _, err := payloads.Read(p); {
		case errors.Is(err, segments.ErrDamaged):
			row.segment = p.Segment
			lost = append(lost, row)
		case err != nil:
			return nil, err
		}
	}
	return lost, rows.Err()
}

// cut cuts off what the last segment, and the one that may have been begun after
// it, hold of batches that were not committed.
func cut(payloads *segments.Dir, last segments.Place) error {
	if err := payloads.Cut(last.Segment, last.Offset); err != nil {
		return fmt.Errorf("cut off a torn tail: %w", err)
	}
	return payloads.Cut(last.Segment+1, 0)
}

// remake makes the last segment again where a loss of power took its name, so that
// those that synchronise it find it, and makes the name last: it shall be there
// wherever synced is in it. Its rows were deleted, and the next payload goes behind
// them.
func remake(payloads *segments.Dir, last segments.Place) error {
	if last.Offset == 0 {
		return nil // none was begun
	}
	err := payloads.Check(last.Segment)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err = payloads.Append(last); err == nil {
		err = payloads.Sync(last.Segment)
	}
	if err != nil {
		return fmt.Errorf("make a segment again: %w", err)
	}
	return nil
}
