package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/segments"
)

const (
	// endSQL finds where the next payload goes: behind what any row ever had there.
	endSQL = `SELECT number, "end" FROM segments WHERE number > 0 ORDER BY number DESC LIMIT 1`
	// tallySQL adds a tally to its segment.
	tallySQL = `INSERT INTO segments VALUES (?1, ?2, ?3, ?4) ON CONFLICT (number) DO UPDATE
	SET messages = messages + ?2, bytes = bytes + ?3, "end" = max("end", ?4)`
	// dropSQL forgets segments that hold nothing, but the last.
	dropSQL = `DELETE FROM segments WHERE messages = 0 AND number > 0
	AND number < (SELECT max(number) FROM segments) RETURNING number`
	sizeSQL = `SELECT ifnull(sum(messages), 0), ifnull(sum(bytes), 0) FROM segments`
)

// A tally is what a transaction changes of a segment, or of what lies in rows,
// segment 0.
type tally struct {
	segment, messages, bytes int64
	end                      int64 // of the last payload; 0: none was added
}

// tallied adds t to that of its segment in all.
func tallied(all []tally, t tally) []tally {
	for i := range all {
		if sum := &all[i]; sum.segment == t.segment {
			sum.messages, sum.bytes, sum.end = sum.messages+t.messages, sum.bytes+t.bytes, max(sum.end, t.end)
			return all
		}
	}
	return append(all, t)
}

// end scans a row of endSQL.
func end(row *sql.Row) (segments.Place, error) {
	p := segments.Place{Segment: 1}
	if err := row.Scan(&p.Segment, &p.Offset); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return segments.Place{}, err
	}
	return p, nil
}

// integers returns the rows of a query for one integer.
func integers(ctx context.Context, from querier, query string, args ...any) (all []int64, err error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, rows.Err()
}

// Size implements archive.Backend. It reads as many rows as there are segments.
func (d *Database) Size(ctx context.Context) (size archive.Size, err error) {
	if err := d.use(); err != nil {
		return size, fmt.Errorf("sqlite: size: %w", err)
	}
	defer d.mu.RUnlock()
	if err := d.reader.QueryRowContext(ctx, sizeSQL).Scan(&size.Messages, &size.Bytes); err != nil {
		return archive.Size{}, fmt.Errorf("sqlite: size: %w", err)
	}
	return size, nil
}
