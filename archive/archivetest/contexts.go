package archivetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
)

// exerciseCancelledInsert ends contexts before and in the middle of inserts. Each
// insert stores all of its rows or, with an error, none.
func exerciseCancelledInsert(t *testing.T, b archive.Backend) {
	const size, rounds = 40, 30
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.Insert(done, batch(0, size))
	requireIs(t, "insert", err, context.Canceled)
	requireKeys(t, b, nil)

	var want []message.Key
	for round := 1; round <= rounds; round++ {
		rows := batch(round, size)
		ctx := &endingContext{Context: t.Context(), left: round, done: make(chan struct{})}
		fresh, err := b.Insert(ctx, rows)
		if err != nil {
			requireIs(t, "insert", err, context.Canceled)
			continue
		}
		if len(fresh) != size {
			t.Fatalf("got %d answers for %d rows", len(fresh), size)
		}
		want = append(want, keysOf(rows)...)
	}
	requireKeys(t, b, want)
	mustInsert(t, b, batch(rounds+1, size)...) // the backend still works
}

func batch(number, size int) (rows []archive.Row) {
	for i := range size {
		rows = append(rows, Numbered(uint64(number*size+i), int64(number), 2048))
	}
	return rows
}

// An endingContext ends when it has been asked for its state left times.
type endingContext struct {
	context.Context
	mu   sync.Mutex
	left int
	done chan struct{}
}

func (c *endingContext) ask() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 {
		close(c.done)
	}
	return c.left <= 0
}

func (c *endingContext) Done() <-chan struct{} {
	c.ask()
	return c.done
}

func (c *endingContext) Err() error {
	if c.ask() {
		return context.Canceled
	}
	return nil
}

func exerciseCancelledReads(t *testing.T, b archive.Backend) {
	row := Numbered(1, 1, 8)
	mustInsert(t, b, row)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := archive.Get(ctx, b, row.Key.Hash)
	requireIs(t, "get", err, context.Canceled)
	requireIs(t, "keys", lastError(ctx, b), context.Canceled)
	requireSame(t, mustGet(t, b, row.Key.Hash), row)
}

// exerciseConcurrent reads beside inserts: what an insert has returned for is
// there, whole, and a batch is seen as a whole or not at all.
func exerciseConcurrent(t *testing.T, b archive.Backend) {
	const batches, size, readers = 40, 8, 3
	committed := make(chan []archive.Row, batches*readers)
	var wait sync.WaitGroup
	for range readers {
		wait.Go(func() {
			for rows := range committed {
				readBack(t, b, rows)
			}
		})
	}
	wait.Go(func() { countWhole(t, b, size, batches) })
	for i := range batches {
		rows := batch(i, size)
		fresh, err := b.Insert(t.Context(), rows)
		if err != nil || len(fresh) != size {
			t.Errorf("insert beside readers: %v, %v", fresh, err)
			break
		}
		for range readers {
			committed <- rows
		}
	}
	close(committed)
	wait.Wait()
}

func readBack(t *testing.T, b archive.Backend, rows []archive.Row) {
	for _, row := range rows {
		got, err := archive.Get(t.Context(), b, row.Key.Hash)
		if err != nil {
			t.Errorf("get beside inserts: %v", err)
			return
		}
		if h := message.Blake3.Sum(got.Topic, got.Message); h != row.Key.Hash || got.Key != row.Key {
			t.Errorf("got row %v that hashes to %s, want %v", got.Key, h, row.Key)
		}
	}
}

// countWhole lists the keys until no more come, and checks that every list that
// fits a page (batches*size keys do) holds whole batches.
func countWhole(t *testing.T, b archive.Backend, size, batches int) {
	for range batches {
		n := 0
		for _, err := range archive.Keys(t.Context(), b) {
			if err != nil {
				t.Errorf("keys beside inserts: %v", err)
				return
			}
			n++
		}
		if n%size != 0 {
			t.Errorf("saw %d keys, not a multiple of %d: part of a batch", n, size)
		}
	}
}

// exerciseCloseBesideUse closes while others insert and read: they get results
// or ErrClosed, nothing else.
func exerciseCloseBesideUse(t *testing.T, b archive.Backend) {
	row := Numbered(0, 0, 8)
	mustInsert(t, b, row)
	started := make(chan struct{}, 3)
	loop := func(use func(i int) error) func() {
		return func() {
			var err error
			for i := 0; err == nil; i++ {
				err = use(i)
				if i == 0 {
					started <- struct{}{}
				}
			}
			if !errors.Is(err, archive.ErrClosed) {
				t.Errorf("beside close: got error %v, want %v", err, archive.ErrClosed)
			}
		}
	}
	var wait sync.WaitGroup
	wait.Go(loop(func(i int) error {
		_, err := b.Insert(t.Context(), []archive.Row{Numbered(uint64(i+1), 0, 8)})
		return err
	}))
	wait.Go(loop(func(int) error { _, err := archive.Get(t.Context(), b, row.Key.Hash); return err }))
	wait.Go(loop(func(int) error { return lastError(t.Context(), b) }))
	for range cap(started) {
		<-started
	}
	if err := b.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	wait.Wait()
}
