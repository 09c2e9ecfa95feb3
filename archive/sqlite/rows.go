package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/segments"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

const (
	insertSQL = `INSERT INTO messages
	(timestamp, hash, topic, content_topic, stamped, version, ephemeral, meta, rate_limit_proof, payload,
	segment, "offset", length, checksum, epoch)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT max(number) FROM epochs)) ON CONFLICT DO NOTHING`

	// What a selection may ask for beside keys.
	dataColumns = `topic, content_topic, stamped, version, ephemeral, meta, rate_limit_proof, payload,
	segment, "offset", length, checksum`
	sizeColumn = `octet_length(topic) + octet_length(content_topic) + ifnull(length(meta), 0)
	+ ifnull(length(rate_limit_proof), 0) + ifnull(length, length(payload))` // archive.SizeOf
)

// statement returns the SQL of a selection, and its arguments.
func statement(s archive.Selection) (query string, args []any) {
	var where []string
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if s.After != nil {
		add("(timestamp, hash) > (?, ?)", s.After.Timestamp, s.After.Hash[:])
	}
	if s.Before != nil {
		add("(timestamp, hash) < (?, ?)", s.Before.Timestamp, s.Before.Hash[:])
	}
	if s.Topic != "" {
		add("topic = ?", s.Topic)
	}
	if n := len(s.ContentTopics); n > 0 {
		add("content_topic IN (?"+strings.Repeat(", ?", n-1)+")", values(s.ContentTopics)...)
	}
	from := " FROM messages"
	if n := len(s.Hashes); n > 0 {
		from += " INDEXED BY messages_hash"
		add("epoch IN (SELECT number FROM epochs)")
		add("substr(hash, 1, 8) IN (?"+strings.Repeat(", ?", n-1)+")", prefixes(s.Hashes)...)
		add("hash IN (?"+strings.Repeat(", ?", n-1)+")", values(s.Hashes)...)
	}
	query = "SELECT timestamp, hash"
	if s.Sizes {
		query += ", " + sizeColumn
	}
	if s.Data {
		query += ", " + dataColumns
	}
	query += from
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	order := " ORDER BY timestamp, hash LIMIT ?"
	if s.Descending {
		order = " ORDER BY timestamp DESC, hash DESC LIMIT ?"
	}
	return query + order, append(args, s.Limit)
}

// selections is how often Select selects all that it is asked for, where rows that it
// found were deleted before their payloads were read.
const selections = 3

// Select implements archive.Backend. It holds no connection while it reads
// segments. What is deleted meanwhile it selects without; where that happens again
// and again, it goes on behind what it found, so that the rows are those of more
// than one moment, and as many as if nothing had been deleted.
func (d *Database) Select(ctx context.Context, s archive.Selection) ([]archive.Row, error) {
	if err := d.use(); err != nil {
		return nil, fmt.Errorf("sqlite: select: %w", err)
	}
	defer d.mu.RUnlock()
	rows, err := d.selectRows(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("sqlite: select: %w", err)
	}
	return rows, nil
}

func (d *Database) selectRows(ctx context.Context, s archive.Selection) (all []archive.Row, err error) {
	for tries := 1; ; tries++ {
		rows, end, err := d.query(ctx, s)
		if err != nil {
			return nil, err
		}
		if end == nil && all == nil {
			return rows, nil
		}
		if end == nil {
			return append(all, rows...), nil
		}
		if tries < selections {
			continue
		}
		all = append(all, rows...)
		s.Limit -= len(rows)
		if s.Descending {
			s.Before = end
		} else {
			s.After = end
		}
	}
}

// query returns rows. Where it left some out that were deleted meanwhile, end is the
// key of the last that it found; else nil.
func (d *Database) query(ctx context.Context, s archive.Selection) (whole []archive.Row, end *message.Key, err error) {
	rows, places, err := d.rows(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	whole = rows[:0]
	for i := range rows {
		if s.Data && places[i].Segment > 0 {
			there, err := d.readPayload(ctx, &rows[i], places[i])
			if err != nil {
				return nil, nil, err
			}
			if !there {
				end = &rows[len(rows)-1].Key // which whole is too short to write over
				continue
			}
		}
		whole = append(whole, rows[i])
	}
	return whole, end, nil
}

// rows returns rows without the payloads that are at a place, and the places.
func (d *Database) rows(ctx context.Context, s archive.Selection) (found []archive.Row, places []segments.Place, err error) {
	query, args := statement(s)
	rows, err := d.selects.query(ctx, d.reader, query, args)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		row, place, err := scan(rows, s)
		if err != nil {
			return nil, nil, err
		}
		found, places = append(found, row), append(places, place)
	}
	return found, places, rows.Err()
}

// readPayload reads the payload of a row at a place, unless the row is not there any
// more: a segment is removed with its last row.
func (d *Database) readPayload(ctx context.Context, row *archive.Row, at segments.Place) (there bool, err error) {
	row.Message.Payload, err = d.payloads.Read(at)
	if err == nil || !errors.Is(err, segments.ErrDamaged) {
		return err == nil, err
	}
	const query = `SELECT 1 FROM messages WHERE timestamp = ? AND hash = ? AND segment = ? AND "offset" = ?`
	held, lookErr := integers(ctx, d.reader, query, row.Key.Timestamp, row.Key.Hash[:], at.Segment, at.Offset)
	if lookErr != nil {
		return false, lookErr
	}
	if len(held) > 0 {
		return false, fmt.Errorf("%s: %w", row.Key.Hash, err)
	}
	return false, nil
}

// scan returns a row, and where its payload lies unless that is in the row.
func scan(rows *sql.Rows, s archive.Selection) (row archive.Row, place segments.Place, err error) {
	var hash sql.RawBytes
	columns := []any{&row.Key.Timestamp, &hash}
	if s.Sizes {
		columns = append(columns, &row.Size)
	}
	if s.Data {
		place, err = scanData(rows, &row, columns)
	} else {
		err = rows.Scan(columns...)
	}
	if err == nil && (len(hash) != len(row.Key.Hash) || copy(row.Key.Hash[:], hash) == 0) {
		err = fmt.Errorf("hash of %d bytes", len(hash))
	}
	return row, place, err
}

// scanData scans columns and the data of a row, and returns where its payload lies
// unless that is in the row.
func scanData(from *sql.Rows, row *archive.Row, columns []any) (segments.Place, error) {
	m := new(pb.WakuMessage)
	row.Message = m
	var stamped bool
	var version sql.Null[uint32]
	var ephemeral sql.NullBool
	var meta, proof optionalBytes
	var segment, offset, length sql.Null[int64]
	var checksum sql.Null[uint32]
	if err := from.Scan(append(columns, &row.Topic, &m.ContentTopic, &stamped, &version, &ephemeral,
		&meta, &proof, &m.Payload, &segment, &offset, &length, &checksum)...); err != nil {
		return segments.Place{}, err
	}
	m.Meta, m.RateLimitProof = meta, proof
	if stamped {
		m.Timestamp = proto.Int64(row.Key.Timestamp)
	}
	if version.Valid {
		m.Version = &version.V
	}
	if ephemeral.Valid {
		m.Ephemeral = &ephemeral.Bool
	}
	return segments.Place{Segment: segment.V, Offset: offset.V, Length: length.V, Checksum: checksum.V}, nil
}

// prefixes returns what the index by hash holds of hashes.
func prefixes(from []message.Hash) (all []any) {
	for _, h := range from {
		all = append(all, h[:8])
	}
	return all
}

// values returns what the driver takes for topics or hashes.
func values[T string | message.Hash](from []T) (all []any) {
	for _, v := range from {
		switch v := any(v).(type) {
		case message.Hash:
			all = append(all, v[:])
		default:
			all = append(all, v)
		}
	}
	return all
}

// optionalBytes is nil for NULL and not nil for an empty value, which a plain
// []byte does not tell apart.
type optionalBytes []byte

// Scan implements sql.Scanner.
func (b *optionalBytes) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*b = nil
	case []byte:
		*b = append(make([]byte, 0, len(v)), v...)
	default:
		return fmt.Errorf("scan bytes: got %T", value)
	}
	return nil
}
