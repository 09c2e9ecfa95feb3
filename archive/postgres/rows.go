package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

const (
	// What a selection may ask for beside keys and sizes.
	dataColumns = "stamped, ephemeral, version, topic, content_topic, meta, rate_limit_proof, payload"

	sizeSQL = "SELECT sum(messages)::bigint, sum(bytes)::bigint FROM messages_size"

	// Locks the rows in the order of their hashes, so that two nodes that delete the
	// same ones do not wait for each other.
	deleteSQL = `WITH changed AS (DELETE FROM messages WHERE hash IN (
	SELECT m.hash FROM messages m JOIN unnest($1::bigint[], $2::bytea[]) AS k (timestamp, hash) USING (timestamp, hash)
	ORDER BY m.hash FOR UPDATE OF m) RETURNING -1 AS n, -size AS size), ` + countSQL + ` SELECT`
)

// statement returns the SQL of a selection, and its arguments.
func statement(s archive.Selection) (query string, args []any) {
	var where []string
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	if s.After != nil {
		where = append(where, "(timestamp, hash) > ("+arg(s.After.Timestamp)+", "+arg(s.After.Hash[:])+")")
	}
	if s.Before != nil {
		where = append(where, "(timestamp, hash) < ("+arg(s.Before.Timestamp)+", "+arg(s.Before.Hash[:])+")")
	}
	if s.Topic != "" {
		where = append(where, "topic = "+arg([]byte(s.Topic)))
	}
	if len(s.ContentTopics) > 0 {
		where = append(where, "content_topic = ANY("+arg(values(s.ContentTopics))+")")
	}
	if len(s.Hashes) > 0 {
		where = append(where, "hash = ANY("+arg(values(s.Hashes))+")")
	}
	query = "SELECT timestamp, hash"
	if s.Sizes {
		query += ", size"
	}
	if s.Data {
		query += ", " + dataColumns
	}
	query += " FROM messages"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	order := " ORDER BY timestamp, hash LIMIT "
	if s.Descending {
		order = " ORDER BY timestamp DESC, hash DESC LIMIT "
	}
	query += order + arg(s.Limit)
	return query, args
}

// values returns topics or hashes as the driver takes them.
func values[T string | message.Hash](from []T) (all [][]byte) {
	for _, v := range from {
		switch v := any(v).(type) {
		case message.Hash:
			all = append(all, v[:])
		case string:
			all = append(all, []byte(v))
		}
	}
	return all
}

// Select implements archive.Backend.
func (d *Database) Select(ctx context.Context, s archive.Selection) (found []archive.Row, err error) {
	if err := d.use(); err != nil {
		return nil, fmt.Errorf("postgres: select: %w", err)
	}
	defer d.mu.RUnlock()
	err = d.read(ctx, func(ctx context.Context) error {
		found, err = d.query(ctx, s)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: select: %w", err)
	}
	return found, nil
}

// read calls once, and once more if the server had ended the connection since it
// was last used, as a restart does to all of them.
func (d *Database) read(ctx context.Context, once func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*d.options.Timeout)
	defer cancel()
	err := once(ctx)
	if err != nil && ctx.Err() == nil && passes(err) {
		d.reader.Reset()
		err = once(ctx)
	}
	return err
}

func (d *Database) query(ctx context.Context, s archive.Selection) (found []archive.Row, err error) {
	query, args := statement(s)
	rows, err := d.reader.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := scan(rows, s)
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

func scan(rows pgx.Rows, s archive.Selection) (row archive.Row, err error) {
	var hash, topic, contentTopic pgtype.DriverBytes
	var stamped bool
	var m pb.WakuMessage
	columns := []any{&row.Key.Timestamp, &hash}
	if s.Sizes {
		columns = append(columns, &row.Size)
	}
	if s.Data {
		row.Message = &m
		columns = append(columns, &stamped, &m.Ephemeral, &m.Version, &topic, &contentTopic,
			&m.Meta, &m.RateLimitProof, &m.Payload)
	}
	if err := rows.Scan(columns...); err != nil {
		return row, err
	}
	if row.Key.Hash, err = asHash(hash); err != nil {
		return row, err
	}
	row.Topic, m.ContentTopic = string(topic), string(contentTopic)
	if stamped {
		m.Timestamp = proto.Int64(row.Key.Timestamp)
	}
	return row, nil
}

func asHash(b []byte) (h message.Hash, err error) {
	if len(b) != len(h) {
		return h, fmt.Errorf("hash of %d bytes", len(b))
	}
	return message.Hash(b), nil
}

// Size implements archive.Backend.
func (d *Database) Size(ctx context.Context) (size archive.Size, err error) {
	if err := d.use(); err != nil {
		return size, fmt.Errorf("postgres: size: %w", err)
	}
	defer d.mu.RUnlock()
	err = d.read(ctx, func(ctx context.Context) error {
		row := d.reader.QueryRow(ctx, sizeSQL)
		return row.Scan(&size.Messages, &size.Bytes)
	})
	if err != nil {
		return size, fmt.Errorf("postgres: size: %w", err)
	}
	return size, nil
}
