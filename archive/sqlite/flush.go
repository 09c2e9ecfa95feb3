package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/msgpath/msgpath/archive/segments"
)

// A flusher is the state of the flushes of a file, and of the synchronisations in
// front of each, one at a time.
type flusher struct {
	mu      sync.Mutex
	pending int64         // bytes inserted since the last of both began
	unmoved int64         // bytes inserted since the last flush began
	whole   bool          // a flush is at work, or was
	done    chan struct{} // closed at the end of what is at work; nil: nothing is
	err     error         // of either, not told yet; one that wraps errUnsynced stays

	// syncing is held from a synchronisation until its result is settled: the system
	// tells an error once, and what works after it may not be settled before it.
	syncing sync.Mutex
}

// errUnsynced ends inserts: what the disk did not take it may never take, while
// later attempts seem to succeed. The file has to be opened again, where the
// payloads since the last synchronisation are looked at.
var errUnsynced = errors.New("payloads were not synchronised, open the archive again")

// admit tells of a flush that failed, and waits for the one at work if limit
// bytes or more were inserted beside it.
func (f *flusher) admit(ctx context.Context, limit int64) error {
	f.mu.Lock()
	done, err := f.done, f.err
	full := f.pending >= limit
	if !errors.Is(err, errUnsynced) {
		f.err = nil
	}
	f.mu.Unlock()
	if err != nil || !full || done == nil {
		return err
	}
	select {
	case <-done:
		return f.admit(ctx, limit)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait returns after the flush at work, and its error.
func (f *flusher) wait() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for done := f.done; done != nil; done = f.done {
		f.mu.Unlock()
		<-done
		f.mu.Lock()
	}
	return f.err
}

// settle synchronises something, and returns the result of all that was so far: what
// worked after one that did not says nothing of what the latter left.
func (f *flusher) settle(sync func() error) error {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	err := sync()
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(f.err, errUnsynced) {
		return f.err
	}
	if err == nil {
		return nil
	}
	f.err = fmt.Errorf("%w: %w", errUnsynced, err)
	return f.err
}

// forget forgets an error of a flush, for one that does its work again.
func (f *flusher) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !errors.Is(f.err, errUnsynced) {
		f.err = nil
	}
}

// begin reports whether something shall begin after n more bytes, after part of them
// a synchronisation and after enough of them a flush (whole); then its end must be
// told.
func (f *flusher) begin(n, part, enough int64) (begun, whole bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending += n
	f.unmoved += n
	if f.done != nil || f.pending < part && f.unmoved < enough {
		return false, false
	}
	f.whole = f.unmoved >= enough
	if f.whole {
		f.unmoved = 0
	}
	f.pending, f.done = 0, make(chan struct{})
	return true, f.whole
}

// end takes the error of what was at work. A flush does again what the one before it
// failed to do, a synchronisation does not.
func (f *flusher) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case errors.Is(f.err, errUnsynced):
	case f.whole:
		f.err = err
	default:
		f.err = errors.Join(f.err, err)
	}
	close(f.done)
	f.done = nil
}

// wrote tells of n bytes of payload, the last of them in a segment, or in none (0),
// and starts a flush or a synchronisation on a goroutine of its own once enough was
// inserted. Close waits for it.
func (d *Database) wrote(n, segment int64) {
	if d.dir == nil {
		return
	}
	part := d.options.pending
	if segment > 0 && d.options.Sync == SyncLater {
		part = d.options.part
	}
	begun, whole := d.flusher.begin(n, part, d.options.pending)
	switch {
	case whole:
		go func() { d.flusher.end(d.flush(context.Background(), "PASSIVE")) }()
	case begun:
		go func() { d.flusher.end(d.syncHeld(context.Background(), segment)) }()
	}
}

// Checkpoint synchronises what was inserted and moves the write ahead log into
// the file, as Close does. It does nothing for a database in memory.
func (d *Database) Checkpoint(ctx context.Context) error {
	if err := d.use(); err != nil {
		return fmt.Errorf("sqlite: checkpoint: %w", err)
	}
	defer d.mu.RUnlock()
	if err := d.flushLast(ctx); err != nil {
		return fmt.Errorf("sqlite: checkpoint: %w", err)
	}
	return nil
}

// flushLast flushes everything, after the flush at work and in place of one that
// failed before.
func (d *Database) flushLast(ctx context.Context) error {
	if d.dir == nil {
		return nil
	}
	if err := d.flusher.wait(); errors.Is(err, errUnsynced) {
		return err
	}
	d.flusher.forget()
	return d.flush(ctx, "TRUNCATE")
}

// flush synchronises the payloads and then moves the log into the file in one of
// SQLite's modes. Inserts go on meanwhile.
func (d *Database) flush(ctx context.Context, mode string) error {
	if err := d.syncPayloads(ctx); err != nil {
		return err
	}
	if err := d.moveLog(ctx, mode); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// moveLog moves the log into the file. PASSIVE leaves what others still read, and
// all of it to another that moves it. TRUNCATE waits for both and fails after
// busyTimeout; SQLite itself waits for readers only.
func (d *Database) moveLog(ctx context.Context, mode string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, busyTimeout+time.Second, errLogBusy)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		var busy bool
		var pages, moved int64 // pages is -1 while another moves the log
		err := d.keeper.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &moved)
		switch {
		case err != nil || !busy || mode == "PASSIVE":
			return err
		case pages >= 0:
			return fmt.Errorf("the log is in use, %d of its %d pages were moved", moved, pages)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var errLogBusy = errors.New("another connection moves the log, and does not end")

// syncPayloads brings the payloads of all rows that are there now to the disk,
// and notes that.
func (d *Database) syncPayloads(ctx context.Context) error {
	from, err := synced(ctx, d.reader)
	if err != nil {
		return err
	}
	to, err := end(d.reader.QueryRowContext(ctx, endSQL))
	if err != nil || from == to {
		return err
	}
	numbers, err := integers(ctx, d.reader, heldSQL, from.Segment, to.Segment)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if err := d.syncHeld(ctx, n); err != nil {
			return err
		}
	}
	conn, err := d.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()                    // gives it back
	return setSynced(context.WithoutCancel(ctx), conn, to) // see direct
}

// heldSQL finds the segments of a range that hold something, and the last.
const heldSQL = "SELECT number FROM segments WHERE number BETWEEN ? AND ?"

// syncHeld brings a segment to the disk unless it was dropped meanwhile.
func (d *Database) syncHeld(ctx context.Context, n int64) error {
	var lookErr error
	err := d.flusher.settle(func() error {
		err := d.dir.Sync(n)
		if errors.Is(err, fs.ErrNotExist) {
			var held []int64
			if held, lookErr = integers(ctx, d.reader, heldSQL, n, n); lookErr != nil || len(held) == 0 {
				return nil // it is gone, or nobody knows
			}
		}
		return err
	})
	return errors.Join(lookErr, err)
}

// syncSegment brings a segment to the disk; once that failed, inserts have ended.
func (d *Database) syncSegment(n int64) error {
	return d.flusher.settle(func() error { return d.dir.Sync(n) })
}

// A querier is a *sql.DB, a *sql.Conn or a *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// synced returns the place in front of which payloads are known to be on the
// disk.
func synced(ctx context.Context, from querier) (p segments.Place, err error) {
	err = from.QueryRowContext(ctx, `SELECT segment, "offset" FROM synced`).Scan(&p.Segment, &p.Offset)
	return p, err
}

// setSynced moves that place forward; another process may have been faster.
func setSynced(ctx context.Context, in querier, p segments.Place) error {
	_, err := in.ExecContext(ctx, `UPDATE synced SET segment = ?1, "offset" = ?2
		WHERE (segment, "offset") < (?1, ?2)`, p.Segment, p.Offset)
	return err
}
