package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/msgpath/msgpath/message"
)

// write calls work with the connection that writes, which is closed after it unless
// what work began is committed.
func (d *Database) write(ctx context.Context, work func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*d.options.Timeout)
	defer cancel()
	conn, err := d.writer.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return work(ctx, conn)
}

// commit commits what conn began, also after ctx has ended. A commit that failed may
// be done where its answer is lost: that of a server that was told to stop, too.
func (o Options) commit(ctx context.Context, conn *pgxpool.Conn) (lost bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*o.Timeout)
	defer cancel()
	tag, err := conn.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		return false, fmt.Errorf("server answered COMMIT with %q", tag)
	}
	return err != nil, err
}

// Delete implements archive.Backend. It does not wait for a server that is away,
// unless that was sent the commit and has not answered: then it deletes what is left,
// as patiently as Insert inserts. ctx does not end that, but Options.Patience does.
func (d *Database) Delete(ctx context.Context, keys []message.Key) error {
	if err := d.use(); err != nil {
		return fmt.Errorf("postgres: delete: %w", err)
	}
	defer d.mu.RUnlock()
	lost, err := d.delete(ctx, keys)
	if lost {
		err = d.persist(context.WithoutCancel(ctx), func(ctx context.Context) (bool, error) { return d.delete(ctx, keys) })
		if err != nil {
			err = fmt.Errorf("rows may be deleted: %w", err)
		}
	}
	if err != nil {
		return fmt.Errorf("postgres: delete %d rows: %w", len(keys), err)
	}
	return nil
}

// delete deletes what is there, and reports whether it may have done so although it
// failed.
func (d *Database) delete(ctx context.Context, keys []message.Key) (lost bool, err error) {
	timestamps, hashes := make([]int64, len(keys)), make([][]byte, len(keys))
	for i := range keys {
		timestamps[i], hashes[i] = keys[i].Timestamp, keys[i].Hash[:]
	}
	err = d.write(ctx, func(limited context.Context, conn *pgxpool.Conn) error {
		var batch pgx.Batch
		batch.Queue(beginSQL)
		batch.Queue(deleteSQL, timestamps, hashes)
		if err := conn.SendBatch(limited, &batch).Close(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		lost, err = d.options.commit(limited, conn)
		return err
	})
	return lost, err
}
