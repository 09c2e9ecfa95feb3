package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/segments"
	"github.com/msgpath/msgpath/message"
)

// A direct executes what each insert and delete needs on the driver's own
// connection, past database/sql, which allocates 1 kB for a row. Whoever has the
// connection uses it. No context ends a statement: database/sql gives a connection
// up that was interrupted, and the statements of one that is closed cannot be freed
// any more.
type direct struct {
	conn                             any // whose the statements are; nil: nobody's yet
	insert, end, tally, remove, drop driver.Stmt
	beginEpoch, dropEpochs           driver.Stmt
	args                             [14]driver.NamedValue // of the statement at work
}

// A prepared is a statement of a direct.
type prepared struct {
	stmt  *driver.Stmt
	query string
}

func (d *direct) statements() []prepared {
	return []prepared{
		{&d.insert, insertSQL},
		{&d.end, endSQL},
		{&d.tally, tallySQL},
		{&d.remove, removeSQL},
		{&d.drop, dropSQL},
		{&d.beginEpoch, beginEpochSQL},
		{&d.dropEpochs, dropEpochsSQL},
	}
}

// transact runs do in one transaction on conn, which sql.Conn.Raw hands out: do
// uses d. A panic of do is rolled back and told, since it would cost the connection
// inside Raw.
func (d *direct) transact(conn any, do func() error) (panicked string, err error) {
	tx, err := d.begin(conn)
	if err != nil {
		return "", err
	}
	defer func() {
		if v := recover(); v != nil {
			_ = tx.Rollback()
			panicked = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	if err := do(); err != nil {
		_ = tx.Rollback() // SQLite may have done it
		return "", err
	}
	return "", tx.Commit()
}

// begin begins a transaction on conn, and prepares the statements unless they are.
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
	for _, s := range d.statements() {
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
	for _, s := range d.statements() {
		if *s.stmt != nil {
			err = errors.Join(err, (*s.stmt).Close())
			*s.stmt = nil
		}
	}
	d.conn = nil
	return err
}

// bind makes values the arguments of a statement, until free is called, which
// keeps no message alive.
func (d *direct) bind(values ...driver.Value) []driver.NamedValue {
	for i, v := range values {
		d.args[i].Value = v
	}
	return d.args[:len(values)]
}

func (d *direct) free() {
	for i := range d.args {
		d.args[i].Value = nil
	}
}

// exec executes a statement and returns how many rows it changed.
func (d *direct) exec(stmt driver.Stmt, values ...driver.Value) (int64, error) {
	s, ok := stmt.(driver.StmtExecContext)
	if !ok {
		return 0, fmt.Errorf("%T has no ExecContext", stmt)
	}
	defer d.free()
	result, err := s.ExecContext(context.Background(), d.bind(values...))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query executes a statement whose rows are integers, and calls visit with each.
func (d *direct) query(stmt driver.Stmt, visit func(row []int64), values ...driver.Value) (err error) {
	s, ok := stmt.(driver.StmtQueryContext)
	if !ok {
		return fmt.Errorf("%T has no QueryContext", stmt)
	}
	defer d.free()
	rows, err := s.QueryContext(context.Background(), d.bind(values...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var columns [3]driver.Value
	var row [len(columns)]int64
	n := len(rows.Columns())
	for {
		if err := rows.Next(columns[:n]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for i, v := range columns[:n] {
			if row[i], ok = v.(int64); !ok {
				return fmt.Errorf("column %d is %T", i, v)
			}
		}
		visit(row[:n])
	}
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
	n, err := d.exec(d.insert,
		r.Key.Timestamp, r.Key.Hash[:], r.Topic, m.GetContentTopic(), m.Timestamp != nil,
		version, ephemeral, m.Meta, m.RateLimitProof, payload, segment, offset, length, checksum)
	return n == 1, err
}

// last returns the place behind the last payload.
func (d *direct) last() (segments.Place, error) {
	p := segments.Place{Segment: 1}
	err := d.query(d.end, func(row []int64) { p.Segment, p.Offset = row[0], row[1] })
	return p, err
}

// addTo notes what a transaction added to segments.
func (d *direct) addTo(all []tally) error {
	for _, t := range all {
		if _, err := d.exec(d.tally, t.segment, t.messages, t.bytes, t.end); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes the row with a key, if it is there, and calls visit with the
// place of its payload and its size.
func (d *direct) delete(k message.Key, visit func(p segments.Place, size int64)) error {
	return d.query(d.remove, func(row []int64) {
		visit(segments.Place{Segment: row[0], Offset: row[1]}, row[2])
	}, k.Timestamp, k.Hash[:])
}

// dropEmpty forgets the epochs and segments that hold nothing any more, and returns
// the numbers of the segments.
func (d *direct) dropEmpty() (numbers []int64, err error) {
	if _, err := d.exec(d.dropEpochs); err != nil {
		return nil, err
	}
	err = d.query(d.drop, func(row []int64) { numbers = append(numbers, row[0]) })
	return numbers, err
}
