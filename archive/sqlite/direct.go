package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/segments"
)

// A direct executes what each insert needs on the driver's own connection, past
// database/sql, which allocates 1 kB for a row. One goroutine uses it at a time,
// while it holds the connection.
type direct struct {
	conn        any // whose the statements are; nil: nobody's yet
	insert, end driver.Stmt
	args        [14]driver.NamedValue // of insert
}

// use prepares the statements on conn, which sql.Conn.Raw hands out, unless they
// are.
func (d *direct) use(ctx context.Context, conn any) error {
	if d.conn == conn {
		return nil
	}
	if err := d.close(); err != nil { // database/sql gave the old connection up
		return err
	}
	c, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return fmt.Errorf("%T prepares no statements", conn)
	}
	for _, s := range []struct {
		stmt  *driver.Stmt
		query string
	}{{&d.insert, insertSQL}, {&d.end, endSQL}} {
		stmt, err := c.PrepareContext(ctx, s.query)
		if err != nil { // then stmt is nothing, but not nil
			return errors.Join(err, d.close())
		}
		*s.stmt = stmt
	}
	for i := range d.args {
		d.args[i].Ordinal = i + 1
	}
	d.conn = conn
	return nil
}

// close must come before the connection's: SQLite keeps one that has statements.
func (d *direct) close() (err error) {
	for _, s := range []*driver.Stmt{&d.insert, &d.end} {
		if *s != nil {
			err = errors.Join(err, (*s).Close())
			*s = nil
		}
	}
	d.conn = nil
	return err
}

// add inserts r with the payload, or the place where it lies if that has a
// segment.
func (d *direct) add(ctx context.Context, r *archive.Row, payload []byte, p segments.Place) (fresh bool, err error) {
	m := r.Message
	if payload == nil {
		payload = []byte{} // the driver takes nil for NULL
	}
	var version, ephemeral, segment, offset, length, checksum driver.Value
	if m.Version != nil {
		version = int64(m.GetVersion())
	}
	if m.Ephemeral != nil {
		ephemeral = m.GetEphemeral()
	}
	if p.Segment > 0 {
		segment, offset, length, checksum = p.Segment, p.Offset, p.Length, int64(p.Checksum)
	}
	for i, v := range [len(d.args)]driver.Value{
		r.Key.Timestamp, r.Key.Hash[:], r.Topic, m.GetContentTopic(), m.Timestamp != nil,
		version, ephemeral, m.Meta, m.RateLimitProof, payload, segment, offset, length, checksum,
	} {
		d.args[i].Value = v
	}
	defer func() { // keeps no message alive
		for i := range d.args {
			d.args[i].Value = nil
		}
	}()
	s, ok := d.insert.(driver.StmtExecContext)
	if !ok {
		return false, fmt.Errorf("%T has no ExecContext", d.insert)
	}
	result, err := s.ExecContext(ctx, d.args[:])
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// last returns the place behind the last payload.
func (d *direct) last(ctx context.Context) (p segments.Place, err error) {
	s, ok := d.end.(driver.StmtQueryContext)
	if !ok {
		return p, fmt.Errorf("%T has no QueryContext", d.end)
	}
	rows, err := s.QueryContext(ctx, nil)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var row [2]driver.Value
	if err := rows.Next(row[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return segments.Place{Segment: 1}, nil
		}
		return p, err
	}
	segment, ok1 := row[0].(int64)
	offset, ok2 := row[1].(int64)
	if !ok1 || !ok2 {
		return p, fmt.Errorf("the end of the payloads is %T, %T", row[0], row[1])
	}
	return segments.Place{Segment: segment, Offset: offset}, nil
}
