package archive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/msgpath/msgpath/counters"
)

// Run commits accepted messages until ctx is done or Close is called; then it
// commits what has been accepted and returns nil. Whatever is queued goes into
// one transaction, up to Options.Batch: it never waits for a batch to fill.
//
// A failed insert is answered, counted and logged, and Run goes on. A panic of
// the backend ends Run with an error. An Archive runs once: a second call, and
// a call after Close, is an error.
func (a *Archive) Run(ctx context.Context) (err error) {
	if err := a.start(); err != nil {
		return err
	}
	defer a.end()
	defer a.startRetention(ctx)()
	insertCtx := context.WithoutCancel(ctx) // what was accepted is committed
	for {
		select {
		case it := <-a.items:
			err = a.commit(insertCtx, it)
		case <-ctx.Done():
			return a.finish(insertCtx)
		case <-a.closing:
			return a.finish(insertCtx)
		}
		if err != nil {
			return a.fall(err)
		}
	}
}

// startRetention starts the retention, if there is one, on a goroutine, and returns
// how to end it.
func (a *Archive) startRetention(ctx context.Context) (stop func()) {
	if !a.options.Retention.binds() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { a.retain(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

func (a *Archive) start() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.started {
		return errors.New("archive: run: called twice")
	}
	if a.refusal != nil {
		return fmt.Errorf("archive: run: %w", a.refusal)
	}
	a.started, a.running = true, true
	return nil
}

// end is deferred, so that a panic in a caller's hook leaves no Store and no
// Close waiting.
func (a *Archive) end() {
	a.refuse(ErrClosed)
	a.mu.Lock()
	a.running = false
	a.mu.Unlock()
	close(a.done)
}

// finish commits what has been accepted and accepts nothing more.
func (a *Archive) finish(ctx context.Context) error {
	a.refuse(ErrClosed)
	for {
		select {
		case it := <-a.items:
			if err := a.commit(ctx, it); err != nil {
				return a.fall(err)
			}
		default:
			return nil
		}
	}
}

// fall ends the archive for the reason err and answers what is queued with it.
func (a *Archive) fall(err error) error {
	a.refuse(fmt.Errorf("%w: %w", ErrClosed, err))
	a.abandon(err)
	return fmt.Errorf("archive: run: %w", err)
}

// abandon answers what is queued with err.
func (a *Archive) abandon(err error) {
	for {
		select {
		case it := <-a.items:
			batch := [1]item{it}
			a.account(batch[:], nil, err)
			a.answer(batch[:], nil, err)
		default:
			return
		}
	}
}

// commit inserts first and what is queued behind it, and answers. It returns
// an error only if the backend panicked.
func (a *Archive) commit(ctx context.Context, first item) error {
	a.gather(first)
	defer a.forget()
	a.changing.Lock()
	defer a.changing.Unlock()
	fresh, took, err := a.insert(ctx)
	if len(a.rows) > 0 {
		a.observe(took, err)
	}
	a.account(a.batch, fresh, err)
	a.answer(a.batch, fresh, err)
	if errors.Is(err, errPanicked) {
		return err
	}
	return nil
}

// gather fills a.batch, and a.rows with the rows among it.
func (a *Archive) gather(first item) {
	a.take(first)
	for len(a.batch) < a.options.Batch {
		select {
		case it := <-a.items:
			a.take(it)
		default:
			return
		}
	}
}

func (a *Archive) take(it item) {
	a.batch = append(a.batch, it)
	if !it.ephemeral() {
		a.rows = append(a.rows, it.row)
	}
}

// forget empties the batch without keeping its messages alive.
func (a *Archive) forget() {
	clear(a.batch)
	clear(a.rows)
	a.batch, a.rows = a.batch[:0], a.rows[:0]
}

// insert calls the backend with a.rows, if there are any.
func (a *Archive) insert(ctx context.Context) (fresh []bool, took time.Duration, err error) {
	if len(a.rows) == 0 {
		return nil, 0, nil
	}
	if counters.Enabled {
		defer counters.Label(a.rows[0].counts, siteArchive).End()
	}
	start := time.Now()
	defer func() {
		took = time.Since(start)
		if v := recover(); v != nil {
			fresh, err = nil, a.panicked(v)
		}
	}()
	fresh, err = a.backend.Insert(ctx, a.rows)
	if err == nil && len(fresh) != len(a.rows) {
		err = fmt.Errorf("%w: %d for %d rows", errAnswers, len(fresh), len(a.rows))
	}
	return fresh, 0, err
}

// panicked logs a panic of the backend and returns it as an error. It is called while
// the panic is recovered.
func (a *Archive) panicked(v any) error {
	a.options.Logger.Error("archive backend panicked", "panic", v, "stack", string(debug.Stack()))
	return fmt.Errorf("%w: %v", errPanicked, v)
}

// observe records one call of the backend.
func (a *Archive) observe(took time.Duration, err error) {
	a.mu.Lock()
	a.stats.Batches++
	a.stats.InsertTime += took
	a.mu.Unlock()
	a.options.Observe(len(a.rows), took, err)
}

// answer tells what became of each message of batch and frees its slot. fresh
// speaks of the messages that are not ephemeral, in order.
func (a *Archive) answer(batch []item, fresh []bool, err error) {
	for _, it := range batch {
		switch {
		case it.ephemeral():
			a.options.Stored(it.env, nil)
		case err != nil:
			a.options.Stored(it.env, err)
		case fresh[0]:
			a.options.Stored(it.env, nil)
		default:
			a.options.Stored(it.env, ErrDuplicate)
		}
		if !it.ephemeral() && err == nil {
			fresh = fresh[1:]
		}
		<-a.slots
	}
}

// account counts what became of batch and whether inserts work, before anyone
// is told, and logs when that changes.
func (a *Archive) account(batch []item, fresh []bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	rows := a.stats.add(batch, fresh, err)
	if rows == 0 {
		return // nothing was asked of the backend
	}
	before := a.failure
	a.failure = err
	switch {
	case err != nil && before == nil:
		a.options.Logger.Error("archive insert failed", slog.Int("messages", rows), slog.Any("error", err))
	case err == nil && before != nil:
		a.options.Logger.Info("archive inserts work again")
	}
}
