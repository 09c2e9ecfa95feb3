package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/msgpath/msgpath/archive/segments"
)

const unsyncedSQL = `SELECT rowid, segment, "offset", length, checksum FROM messages
	WHERE segment IS NOT NULL AND (segment, "offset") >= (?, ?) ORDER BY segment, "offset"`

// Lost returns how many rows were deleted when the file was opened, because a
// loss of power had taken their payloads. They were inserted after the last time
// that the file was synchronised.
func (d *Database) Lost() int { return d.lost }

// recover brings rows and payloads together after a crash: rows whose payload
// did not reach the disk are deleted, payloads whose row did not are cut off. It
// holds the write lock, so that no other process appends meanwhile.
func (d *Database) recover(ctx context.Context) error {
	tx, conn, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _, _ = tx.Rollback(), conn.Close() }() // the first does nothing after a commit
	from, err := synced(ctx, tx)
	if err == nil {
		err = d.checkPayloads(ctx, tx, from)
	}
	if err != nil {
		return err
	}
	ids, err := damaged(ctx, tx, d.dir, from)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE rowid = ?`, id); err != nil {
			return err
		}
	}
	last, err := end(tx.QueryRowContext(ctx, endSQL))
	if err == nil {
		err = cut(d.dir, last)
	}
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	d.lost = len(ids)
	return nil
}

// checkPayloads refuses a file without its payloads: no loss of power takes the
// folder, nor a segment that was synchronised, but who moves the file may forget
// them.
func (d *Database) checkPayloads(ctx context.Context, in querier, from segments.Place) error {
	var any bool
	if err := in.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM messages WHERE segment IS NOT NULL)`).Scan(&any); err != nil || !any {
		return err
	}
	err := d.dir.Check(0)
	if err == nil && from.Offset > 0 {
		err = d.dir.Check(from.Segment)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the payloads are not there, was the file moved without them? %w", err)
	}
	return err
}

// damaged returns the rows from a place on whose payload is not on the disk.
func damaged(ctx context.Context, in querier, payloads *segments.Dir, from segments.Place) (ids []int64, err error) {
	rows, err := in.QueryContext(ctx, unsyncedSQL, from.Segment, from.Offset)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for last := int64(0); rows.Next(); {
		var id int64
		var p segments.Place
		if err := rows.Scan(&id, &p.Segment, &p.Offset, &p.Length, &p.Checksum); err != nil {
			return nil, err
		}
		if p.Segment != last {
			if err := payloads.Uncache(p.Segment); err != nil {
				return nil, err
			}
			last = p.Segment
		}
		switch _, err := payloads.Read(p); {
		case errors.Is(err, segments.ErrDamaged):
			ids = append(ids, id)
		case err != nil:
			return nil, err
		}
	}
	return ids, rows.Err()
}

// cut cuts off what the last segment, and the one that may have been begun after
// it, hold of batches that were not committed.
func cut(payloads *segments.Dir, last segments.Place) error {
	if err := payloads.Cut(last.Segment, last.Offset); err != nil {
		return fmt.Errorf("cut off a torn tail: %w", err)
	}
	return payloads.Cut(last.Segment+1, 0)
}
