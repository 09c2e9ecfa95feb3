package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

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

	getSQL = `SELECT timestamp, topic, content_topic, stamped, version, ephemeral, meta, rate_limit_proof, payload,
	segment, "offset", length, checksum FROM messages WHERE hash = ?`

	pageSQL = `SELECT timestamp, hash FROM messages WHERE (timestamp, hash) > (?, ?)
	ORDER BY timestamp, hash LIMIT ?`
)

// Get implements archive.Backend.
func (d *Database) Get(ctx context.Context, h message.Hash) (archive.Row, error) {
	if err := d.use(); err != nil {
		return archive.Row{}, fmt.Errorf("sqlite: get %s: %w", h, err)
	}
	defer d.mu.RUnlock()
	row, place, err := scan(d.get.QueryRowContext(ctx, h[:]), h)
	if err == nil && place.Segment > 0 {
		row.Message.Payload, err = d.payloads.Read(place)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = archive.ErrNotFound
	}
	if err != nil {
		return archive.Row{}, fmt.Errorf("sqlite: get %s: %w", h, err)
	}
	return row, nil
}

// scan returns a row, and where its payload lies unless that is in the row.
func scan(from *sql.Row, h message.Hash) (archive.Row, segments.Place, error) {
	m := new(pb.WakuMessage)
	row := archive.Row{Key: message.Key{Hash: h}, Message: m}
	var stamped bool
	var version sql.Null[uint32]
	var ephemeral sql.NullBool
	var meta, proof optionalBytes
	var segment, offset, length sql.Null[int64]
	var checksum sql.Null[uint32]
	if err := from.Scan(&row.Key.Timestamp, &row.Topic, &m.ContentTopic, &stamped, &version, &ephemeral,
		&meta, &proof, &m.Payload, &segment, &offset, &length, &checksum); err != nil {
		return archive.Row{}, segments.Place{}, err
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
	return row, segments.Place{Segment: segment.V, Offset: offset.V, Length: length.V, Checksum: checksum.V}, nil
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

// pageLength is the number of keys read at once, 20 KiB of them.
const pageLength = 512

// Keys implements archive.Backend. It reads a page of keys at a time and holds
// no connection while the loop's body runs.
func (d *Database) Keys(ctx context.Context) iter.Seq2[message.Key, error] {
	return func(yield func(message.Key, error) bool) {
		last := message.Key{Timestamp: -1 << 63}
		hash := []byte{} // sorts before every hash
		for {
			keys, err := d.keys(ctx, last.Timestamp, hash)
			if err != nil {
				yield(message.Key{}, fmt.Errorf("sqlite: list keys: %w", err))
				return
			}
			for _, last = range keys {
				if !yield(last, nil) {
					return
				}
			}
			if len(keys) < pageLength {
				return
			}
			hash = bytes.Clone(last.Hash[:])
		}
	}
}

// keys returns up to pageLength keys above (timestamp, hash).
func (d *Database) keys(ctx context.Context, timestamp int64, hash []byte) ([]message.Key, error) {
	if err := d.use(); err != nil {
		return nil, err
	}
	defer d.mu.RUnlock()
	rows, err := d.page.QueryContext(ctx, timestamp, hash, pageLength)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	keys := make([]message.Key, 0, pageLength)
	for rows.Next() {
		var k message.Key
		var h sql.RawBytes
		if err := rows.Scan(&k.Timestamp, &h); err != nil {
			return nil, err
		}
		if copy(k.Hash[:], h) != len(h) || len(h) != len(k.Hash) {
			return nil, fmt.Errorf("hash of %d bytes", len(h))
		}
		keys = append(keys, k)
	}
	return keys, rows.Err()
}
