package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
)

const (
	beginSQL = `BEGIN ISOLATION LEVEL READ COMMITTED`

	insertSQL = `WITH changed AS (INSERT INTO messages
	(timestamp, hash, stamped, ephemeral, version, size, topic, content_topic, meta, rate_limit_proof, payload)
	SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::boolean[], $4::boolean[], $5::bigint[], $6::bigint[],
	$7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[])
	ON CONFLICT DO NOTHING RETURNING hash, 1 AS n, size), ` + countSQL + `
	SELECT hash, pg_current_xact_id()::text FROM changed`

	// Comes after all rows, and to one row of 16: two nodes wait for each other's
	// commit if they share it, and never in a circle.
	countSQL = `counted AS (UPDATE messages_size AS s SET messages = s.messages + change.n, bytes = s.bytes + change.size
	FROM (SELECT sum(n) AS n, sum(size) AS size FROM changed) AS change
	WHERE change.n <> 0 AND s.shard = pg_backend_pid() % 16)`
)

// errUndecided says that the transaction of a lost connection is still at work.
var errUndecided = errors.New("an earlier commit is still under way")

// Insert implements archive.Backend. While the server is away it waits, see
// [Options]. A context that ends after the commit was sent does not end it.
func (d *Database) Insert(ctx context.Context, rows []archive.Row) ([]bool, error) {
	if err := d.use(); err != nil {
		return nil, fmt.Errorf("postgres: insert: %w", err)
	}
	defer d.mu.RUnlock()
	in := newInsertion(rows)
	err := ctx.Err()
	if err == nil && len(rows) > 0 {
		err = d.persist(ctx, func(ctx context.Context) (bool, error) {
			err := d.attempt(ctx, in)
			return in.sent != nil, err
		})
	}
	if err == nil {
		return in.fresh, nil
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if in.sent != nil || slices.Contains(in.fresh, true) { // a commit was lost, or found
		err = fmt.Errorf("rows may be stored: %w", err)
	}
	return nil, fmt.Errorf("postgres: insert %d rows: %w", len(rows), err)
}

// An insertion is what becomes of the rows of one batch.
type insertion struct {
	rows  []archive.Row
	at    map[message.Hash]int // the first row with a hash
	first []int                // these, in the order of the hashes
	fresh []bool
	sent  *commit // sent, and not answered; nil: none
}

// A commit is a transaction and the rows that are new if it is committed.
type commit struct {
	transaction string // its id
	fresh       []int
}

// newInsertion drops what a batch holds twice. The order keeps two nodes that
// insert the same messages from waiting for each other.
func newInsertion(rows []archive.Row) *insertion {
	in := &insertion{rows: rows, fresh: make([]bool, len(rows)), at: make(map[message.Hash]int, len(rows))}
	for i := range rows {
		if _, known := in.at[rows[i].Key.Hash]; !known {
			in.at[rows[i].Key.Hash] = i
			in.first = append(in.first, i)
		}
	}
	slices.SortFunc(in.first, in.byHash)
	return in
}

func (in *insertion) byHash(i, j int) int {
	return bytes.Compare(in.rows[i].Key.Hash[:], in.rows[j].Key.Hash[:])
}

// attempt inserts on one connection, once it knows what became of a commit that a
// lost one was to answer.
func (d *Database) attempt(ctx context.Context, in *insertion) error {
	return d.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		if err := in.settle(ctx, conn); err != nil {
			return err
		}
		c, err := in.insert(ctx, conn)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		return in.commit(ctx, conn, c, d.options)
	})
}

// insert begins a transaction and inserts the rows, in one exchange.
func (in *insertion) insert(ctx context.Context, conn *pgxpool.Conn) (c commit, err error) {
	var batch pgx.Batch
	batch.Queue(beginSQL)
	batch.Queue(insertSQL, in.columns()...)
	results := conn.SendBatch(ctx, &batch)
	defer func() {
		if e := results.Close(); err == nil { // else it is the same
			err = e
		}
	}()
	if _, err := results.Exec(); err != nil {
		return c, err
	}
	rows, err := results.Query()
	if err != nil {
		return c, err
	}
	defer rows.Close()
	for rows.Next() {
		var found pgtype.DriverBytes
		if err := rows.Scan(&found, &c.transaction); err != nil {
			return c, err
		}
		hash, err := asHash(found)
		if err != nil {
			return c, err
		}
		i, ok := in.at[hash]
		if !ok {
			return c, fmt.Errorf("server inserted %s, which was not asked for", hash)
		}
		c.fresh = append(c.fresh, i)
	}
	return c, rows.Err()
}

// commit commits c. From here on nothing but its answer tells what is stored.
func (in *insertion) commit(ctx context.Context, conn *pgxpool.Conn, c commit, o Options) error {
	lost, err := o.commit(ctx, conn)
	if err == nil {
		in.stored(c)
	}
	if lost && len(c.fresh) > 0 {
		in.sent = &c
	}
	return err
}

// stored remembers that c is committed.
func (in *insertion) stored(c commit) {
	for _, i := range c.fresh {
		in.fresh[i] = true
	}
	in.sent = nil
}

// settle asks what became of the commit that was sent, if there is one. The rows are
// inserted again in any case, which does nothing where they are: after a crash
// the server may give a transaction's id away once more, if nothing of it had
// reached the disk.
func (in *insertion) settle(ctx context.Context, conn *pgxpool.Conn) error {
	if in.sent == nil {
		return nil
	}
	var status *string
	err := conn.QueryRow(ctx, "SELECT pg_xact_status($1::text::xid8)", in.sent.transaction).Scan(&status)
	var server *pgconn.PgError
	switch {
	case errors.As(err, &server) && server.Code == "22023": // an id of the future: lost in a crash
		in.sent = nil
		return nil
	case err != nil:
		return err
	case status != nil && *status == "in progress":
		return errUndecided
	case status != nil && *status == "committed":
		in.stored(*in.sent)
	}
	in.sent = nil
	return nil
}

// columns returns the arguments of insertSQL.
func (in *insertion) columns() []any {
	n := len(in.first)
	var (
		timestamps, sizes        = make([]int64, n), make([]int64, n)
		stamped                  = make([]bool, n)
		ephemeral                = make([]*bool, n)
		version                  = make([]*uint32, n)
		hashes, topics, contents = make([][]byte, n), make([][]byte, n), make([][]byte, n)
		metas, proofs, payloads  = make([][]byte, n), make([][]byte, n), make([][]byte, n)
	)
	for at, i := range in.first {
		r := &in.rows[i]
		m := r.Message
		timestamps[at], hashes[at], sizes[at] = r.Key.Timestamp, r.Key.Hash[:], archive.SizeOf(r.Topic, m)
		stamped[at], ephemeral[at], version[at] = m.Timestamp != nil, m.Ephemeral, m.Version
		topics[at], contents[at] = []byte(r.Topic), []byte(m.GetContentTopic())
		metas[at], proofs[at], payloads[at] = m.Meta, m.RateLimitProof, m.Payload
		if m.Payload == nil { // which would be NULL
			payloads[at] = []byte{}
		}
	}
	return []any{timestamps, hashes, stamped, ephemeral, version, sizes, topics, contents, metas, proofs, payloads}
}
