package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/segments"
)

// A direct executes what each insert needs on the driver's own connection, past
// database/sql, which allocates 1 kB for a row. Whoever has the connection uses it.
// No context ends a statement: database/sql gives a connection up that was
// interrupted, and the statements of one that is closed cannot be freed any more.
type direct struct {
	conn        any // whose the statements are; nil: nobody's yet
	insert, end driver.Stmt
	args        [14]driver.NamedValue // of insert
}

// begin begins a transaction on conn, which sql.Conn.Raw hands out, and prepares
// the statements unless they are.
func (d *direct) begin(conn any) (driver.Tx, error) {
	c, ok := conn.(interface {
		driver.ConnPrepareContext
		driver.ConnBeginTx
	})
	if !ok {
		return nil, fmt.Errorf("%T is not the driver's connection", conn)
	}
	if d.conn != conn {
		if err := d.prepare(c); err != nil {
			return nil, err
		}
		d.conn = conn
	}
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (d *direct) prepare(c driver.ConnPrepareContext) error {
	*d = direct{} // what a closed connection had stays allocated
	for i := range d.args {
		d.args[i].Ordinal = i + 1
	}
	for _, s := range []struct {
		stmt  *driver.Stmt
		query string
	}{{&d.insert, insertSQL}, {&d.end, endSQL}} {
		stmt, err := c.PrepareContext(context.Background(), s.query)
		if err != nil {
			return errors.Join(err, d.close())
		}
		*s.stmt = stmt
	}
	return nil
}

// release closes the statements, which must come before the connection's close:
// SQLite keeps one that has some.
func (d *direct) release(from *sql.DB) error {
	if d.conn == nil {
		return nil
	}
	conn, err := from.Conn(context.Background())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // gives it back
	return conn.Raw(func(c any) error {
		if c != d.conn {
			return nil // theirs is closed
		}
		return d.close()
	})
}

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
func (d *direct) add(r *archive.Row, payload []byte, p segments.Place) (fresh bool, err error) {
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
	result, err := s.ExecContext(context.Background(), d.args[:])
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// last returns the place behind the last payload.
func (d *direct) last() (p segments.Place, err error) {
	s, ok := d.end.(driver.StmtQueryContext)
	if !ok {
		return p, fmt.Errorf("%T has no QueryContext", d.end)
	}
	rows, err := s.QueryContext(context.Background(), nil)
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
