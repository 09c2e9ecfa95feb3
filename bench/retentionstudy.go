package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/verdict/study"
)

const (
	storeEvery   = time.Millisecond // an archive is given a message
	storesAlone  = 2000             // at most, with no retention at work
	longestPrune = 2 * time.Minute
	keptRows     = 10_000 // of 1 kB
)

// retention returns the table of what the retention does to messages that are stored
// meanwhile.
func (a *archiveStudy) retention(ctx context.Context) (study.Table, error) {
	t := study.Table{
		Title: fmt.Sprintf("From Store to Stored, a message of 1 kB each %v, while the retention deletes %d of %d rows", storeEvery, a.options.Pruned, a.options.Pruned+keptRows),
		Columns: []study.Column{
			{Name: "archive"}, {Name: "retention"}, {Name: "messages"}, {Name: "median, ms", Digits: 2}, {Name: "p99, ms", Digits: 2}, {Name: "longest, ms", Digits: 2}, {Name: "deleted a second"},
		},
	}
	if a.options.Pruned == 0 {
		return t, nil
	}
	for _, c := range a.contenders {
		a.progress.Step(c.name + ", retention")
		err := a.in(ctx, c.archive, func(i inserter) error {
			if err := a.fill(ctx, i, 0, a.options.Pruned+keptRows); err != nil {
				return err
			}
			if own, in := i.(schemaInserter); in {
				i = own.inserter
			}
			b, ok := i.(backendInserter)
			if !ok {
				return fmt.Errorf("%T is no archive", i)
			}
			for _, count := range []int64{0, keptRows} {
				row, err := a.storeBeside(ctx, c.name, b.Backend, count)
				if err != nil {
					return err
				}
				t.Rows = append(t.Rows, row)
			}
			return nil
		})
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// A lent backend stays open when the archive over it is closed.
type lent struct{ archive.Backend }

func (lent) Close() error { return nil }

// storeBeside stores messages at a steady rate, beside a retention of count messages
// until that has deleted as many as there were to delete; 0: with none.
func (a *archiveStudy) storeBeside(ctx context.Context, name string, b archive.Backend, count int64) (study.Row, error) {
	w := newWaits()
	o := archive.Options{
		Retention: archive.Retention{Count: count, Interval: time.Hour}, Stored: w.stored, Logger: slog.New(slog.DiscardHandler),
	}
	kept, err := archive.New(lent{b}, o)
	if err != nil {
		return nil, err
	}
	ran := make(chan error, 1)
	start := time.Now()
	go func() { ran <- kept.Run(ctx) }()
	label, pruned := "none", 0.0
	enough := func(stored int) bool { return stored >= min(storesAlone, a.options.Pruned) }
	if count > 0 {
		label = "at work"
		enough = func(int) bool { return kept.Stats().Pruned >= uint64(a.options.Pruned) }
	}
	err = a.storeUntil(ctx, kept, w, count > 0, enough)
	if count > 0 {
		pruned = float64(kept.Stats().Pruned) / time.Since(start).Seconds()
	}
	if failed := kept.Stats().PruneFailures; failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d looks of the retention failed", failed))
	}
	if err := errors.Join(err, kept.Close(), <-ran, w.err); err != nil {
		return nil, err
	}
	row := study.Row{name, label, w.latencies.Count(), ms(w.latencies.P50()), ms(w.latencies.P99()), ms(w.longest.Nanoseconds()), nil}
	if count > 0 {
		row[len(row)-1] = int(pruned)
	}
	return row, nil
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

// storeUntil stores a message at each tick until enough of them were.
func (a *archiveStudy) storeUntil(ctx context.Context, kept *archive.Archive, w *waits, again bool, enough func(stored int) bool) error {
	const chunk = 100
	first := a.options.Pruned + keptRows // numbers that no row has
	if again {
		first += storesAlone
	}
	tick := time.NewTicker(storeEvery)
	defer tick.Stop()
	deadline := time.Now().Add(longestPrune)
	for stored := 0; stored == 0 || !enough(stored); { // else a quick retention would have nobody beside it
		if time.Now().After(deadline) {
			return fmt.Errorf("the retention did not end within %v", longestPrune)
		}
		messages := NewWorkload(a.options.Seed, oneSize(archivePayload), PubsubTopic, chunk, a.base, first+stored).Messages
		for _, m := range messages {
			env, err := message.Seal(counters.Set{}, message.Format{}, PubsubTopic, m, counters.Site{})
			if err == nil {
				_, err = env.Hash(counters.Site{}) // before the time begins
			}
			if err != nil {
				return err
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
			w.begin(env)
			if err := kept.Store(ctx, env); err != nil {
				return err
			}
			stored++
		}
	}
	return nil
}

// waits measures from Store to Stored.
type waits struct {
	latencies *Latencies
	longest   time.Duration
	err       error

	mu    sync.Mutex
	since map[*message.Envelope]time.Time
}

func newWaits() *waits {
	return &waits{latencies: NewLatencies(), since: make(map[*message.Envelope]time.Time)}
}

func (w *waits) begin(env *message.Envelope) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since[env] = time.Now()
}

// stored is the archive's Options.Stored, which one goroutine calls.
func (w *waits) stored(env *message.Envelope, err error) {
	w.mu.Lock()
	took := time.Since(w.since[env])
	delete(w.since, env)
	w.mu.Unlock()
	w.latencies.Record(took)
	w.longest = max(w.longest, took)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("bench: archive: store: %w", err)
	}
}
