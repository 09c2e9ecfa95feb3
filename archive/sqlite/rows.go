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
	segment, "offset", length, checksum)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

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
	if n := len(s.Hashes); n > 0 {
		add("hash IN (?"+strings.Repeat(", ?", n-1)+")", values(s.Hashes)...)
	}
	query = "SELECT timestamp, hash"
	if s.Sizes {
		query += ", " + sizeColumn
	}
	if s.Data {
		query += ", " + dataColumns
	}
	query += " FROM messages"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	order := " ORDER BY timestamp, hash LIMIT ?"
	if s.Descending {
		order = " ORDER BY timestamp DESC, hash DESC LIMIT ?"
	}
	return query + order, append(args, s.Limit)
}

// Select implements archive.Backend.
func (d *Database) Select(ctx context.Context, s archive.Selection) ([]archive.Row, error) {
	if err := d.use(); err != nil {
		return nil, fmt.Errorf("sqlite: select: %w", err)
	}
	defer d.mu.RUnlock()
	found, err := d.query(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("sqlite: select: %w", err)
	}
	return found, nil
}

func (d *Database) query(ctx context.Context, s archive.Selection) (found []archive.Row, err error) {
	query, args := statement(s)
	rows, err := d.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		row, err := d.scan(rows, s)
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

func (d *Database) scan(rows *sql.Rows, s archive.Selection) (row archive.Row, err error) {
	var hash sql.RawBytes
	columns := []any{&row.Key.Timestamp, &hash}
	if s.Sizes {
		columns = append(columns, &row.Size)
	}
	if !s.Data {
		err = rows.Scan(columns...)
	} else {
		var place segments.Place
		place, err = scanData(rows, &row, columns)
		if err == nil && place.Segment > 0 {
			row.Message.Payload, err = d.payloads.Read(place)
		}
	}
	if err == nil && (len(hash) != len(row.Key.Hash) || copy(row.Key.Hash[:], hash) == 0) {
		err = fmt.Errorf("hash of %d bytes", len(hash))
	}
	return row, err
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

// Delete implements archive.Backend.
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
	tx, conn, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _, _ = tx.Rollback(), conn.Close() }() // the first does nothing after a commit
	for _, k := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM messages WHERE hash = ? AND timestamp = ?`, k.Hash[:], k.Timestamp); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Size implements archive.Backend.
func (d *Database) Size(ctx context.Context) (size archive.Size, err error) {
	if err := d.use(); err != nil {
		return size, fmt.Errorf("sqlite: size: %w", err)
	}
	defer d.mu.RUnlock()
	err = d.reader.QueryRowContext(ctx, `SELECT count(*), ifnull(sum(`+sizeColumn+`), 0) FROM messages`).Scan(&size.Messages, &size.Bytes)
	if err != nil {
		return size, fmt.Errorf("sqlite: size: %w", err)
	}
	return size, nil
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
