package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/internal/postgrestest"
)

const columnNames = "timestamp, hash, stamped, ephemeral, version, size, topic, content_topic, meta, rate_limit_proof, payload"

// The ways of inserting that docs/decisions/0017-postgres.md compares. The last two
// keep no size.
var insertVariants = []struct {
	name    string
	prepare string // SQL, run once
	insert  func(context.Context, *pgxpool.Conn, *insertion) error
}{
	{"unnest", "", insertUnnest},
	{"unnest,compressed", "ALTER TABLE messages ALTER COLUMN payload SET STORAGE EXTENDED", insertUnnest},
	{"unnest,one exchange", "", insertAtOnce},
	{"rows", "", insertRows},
	{"copy", "CREATE TEMP TABLE incoming (LIKE messages) ON COMMIT DELETE ROWS", insertCopy},
}

// BenchmarkInsertVariants inserts random payloads, one operation a message, into a
// server that synchronises. Run it with -benchtime=2000x -count=5 or so.
func BenchmarkInsertVariants(b *testing.B) {
	server, err := postgrestest.Options{Sync: true}.Launch(b.Context())
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = server.Close() })
	for _, size := range []int{1000, 65000} {
		for _, batch := range []int{1, 32} {
			for _, v := range insertVariants {
				b.Run(fmt.Sprintf("%s/size=%d/batch=%d", v.name, size, batch), func(b *testing.B) {
					url, err := server.Create(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					d, err := Open(b.Context(), url)
					if err != nil {
						b.Fatal(err)
					}
					defer d.Close()
					conn, err := d.writer.Acquire(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					defer conn.Release()
					if _, err := conn.Exec(b.Context(), v.prepare); err != nil {
						b.Fatal(err)
					}
					rows := randomRows(b.N, size)
					b.SetBytes(int64(size))
					b.ResetTimer()
					for len(rows) > 0 {
						n := min(batch, len(rows))
						if err := v.insert(b.Context(), conn, newInsertion(rows[:n])); err != nil {
							b.Fatal(err)
						}
						rows = rows[n:]
					}
				})
			}
		}
	}
}

// randomRows returns n rows of which several share a payload and none a key.
func randomRows(n, size int) []archive.Row {
	rows := make([]archive.Row, n)
	for i := range rows {
		if i < 64 {
			rows[i] = archivetest.Numbered(uint64(i), int64(i), size)
			_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(rows[i].Message.Payload)
			continue
		}
		rows[i] = rows[i%64]
		rows[i].Key.Timestamp = int64(i)
		var seed [32]byte
		binary.BigEndian.PutUint64(seed[:], uint64(i))
		_, _ = rand.NewChaCha8(seed).Read(rows[i].Key.Hash[:])
	}
	return rows
}

func insertUnnest(ctx context.Context, conn *pgxpool.Conn, in *insertion) error {
	c, err := in.insert(ctx, conn)
	if err != nil {
		return err
	}
	return in.commit(ctx, conn, c, Options{}.withDefaults())
}

// insertAtOnce does not learn the transaction's id before it is committed.
func insertAtOnce(ctx context.Context, conn *pgxpool.Conn, in *insertion) error {
	_, err := conn.Exec(ctx, insertSQL, in.columns()...)
	return err
}

// insertRows sends a statement for each row, all in one exchange.
func insertRows(ctx context.Context, conn *pgxpool.Conn, in *insertion) error {
	var batch pgx.Batch
	batch.Queue(beginSQL)
	columns := in.columns()
	for i := range in.first {
		batch.Queue("INSERT INTO messages ("+columnNames+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT DO NOTHING RETURNING hash`, row(columns, i)...)
	}
	if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, "COMMIT")
	return err
}

// row returns the values of one row of columns.
func row(columns []any, i int) (values []any) {
	for _, c := range columns {
		switch c := c.(type) {
		case []int64:
			values = append(values, c[i])
		case []bool:
			values = append(values, c[i])
		case []*bool:
			values = append(values, c[i])
		case []*uint32:
			values = append(values, c[i])
		case [][]byte:
			values = append(values, c[i])
		}
	}
	return values
}

func insertCopy(ctx context.Context, conn *pgxpool.Conn, in *insertion) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	columns := in.columns()
	names := []string{"timestamp", "hash", "stamped", "ephemeral", "version", "size", "topic", "content_topic", "meta", "rate_limit_proof", "payload"}
	source := pgx.CopyFromSlice(len(in.first), func(i int) ([]any, error) { return row(columns, i), nil })
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"incoming"}, names, source); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "INSERT INTO messages ("+columnNames+") SELECT "+columnNames+" FROM incoming ON CONFLICT DO NOTHING RETURNING hash"); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
