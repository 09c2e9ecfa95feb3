package archive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/msgpath/msgpath/message"
)

// Defaults of [Retention].
const (
	DefaultPruneInterval = time.Minute
	DefaultPruneBatch    = 256
)

// Retention says what an Archive deletes again. The oldest messages, by timestamp
// and then hash, go first; each bound holds for itself, and one that is 0 does not
// bind. A message without a timestamp counts as one of 1970. What is deleted is
// exactly what does not fit: no bound leaves a margin. A size below that of one
// message keeps none.
type Retention struct {
	Age   time.Duration // messages whose timestamp is older go
	Count int64         // the newest so many stay
	Bytes int64         // so many bytes stay, as SizeOf counts them

	Interval time.Duration // between two looks; 0: DefaultPruneInterval
	Batch    int           // most messages a transaction, beside which an insert waits; 0: DefaultPruneBatch
}

// Validate reports everything wrong with r.
func (r Retention) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int64
	}{{"Age", int64(r.Age)}, {"Count", r.Count}, {"Bytes", r.Bytes}, {"Interval", int64(r.Interval)}, {"Batch", int64(r.Batch)}} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("archive: retention: %s is negative", f.name))
		}
	}
	return errors.Join(errs...)
}

func (r Retention) withDefaults() Retention {
	if r.Interval == 0 {
		r.Interval = DefaultPruneInterval
	}
	if r.Batch == 0 {
		r.Batch = DefaultPruneBatch
	}
	return r
}

// binds reports whether anything is ever deleted.
func (r Retention) binds() bool { return r.Age > 0 || r.Count > 0 || r.Bytes > 0 }

// oldest returns the lowest timestamp that Age lets stay, in Unix nanoseconds.
func (r Retention) oldest(now time.Time) int64 {
	if r.Age == 0 {
		return math.MinInt64
	}
	return now.Add(-r.Age).UnixNano()
}

// retain prunes at once and then at each interval, until ctx ends. A failure is
// counted and logged, and tried again at the next.
func (a *Archive) retain(ctx context.Context) {
	tick := time.NewTicker(a.options.Retention.Interval)
	defer tick.Stop()
	for {
		if err := a.Prune(ctx); err != nil && ctx.Err() == nil {
			a.mu.Lock()
			a.stats.PruneFailures++
			a.mu.Unlock()
			a.options.Logger.Error("archive retention failed", slog.Any("error", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Prune deletes what Options.Retention does not keep, in batches, and returns when
// nothing is left to delete. Run calls it; inserts go on meanwhile, each waiting for
// one batch at most.
func (a *Archive) Prune(ctx context.Context) error {
	for {
		start := time.Now()
		n, err := a.pruneBatch(ctx)
		if err != nil {
			return fmt.Errorf("archive: prune: %w", err)
		}
		if n == 0 {
			return nil // and the floor is known
		}
		pause := time.NewTimer(time.Since(start)) // half of the time is others'
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("archive: prune: %w", ctx.Err())
		}
	}
}

// pruneBatch deletes one batch of what is not kept, tells of it, and returns its
// length.
func (a *Archive) pruneBatch(ctx context.Context) (int, error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	keys, err := a.deleteUnkept(ctx)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	a.mu.Lock()
	a.stats.Pruned += uint64(len(keys))
	a.mu.Unlock()
	a.options.Pruned(keys)
	return len(keys), nil
}

// deleteUnkept deletes one batch of what is not kept, or finds the floor where
// there is nothing to delete. A panic of the backend is an error.
func (a *Archive) deleteUnkept(ctx context.Context) (keys []message.Key, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = a.panicked(v)
		}
	}()
	keys, err = a.unkept(ctx)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, a.findFloor(ctx)
	}
	return keys, a.backend.Delete(ctx, keys)
}

// unkept returns up to a batch of the oldest keys that are not kept. The size is
// asked for last: what another archive over the same database deletes meanwhile is
// then not deleted twice as much.
func (a *Archive) unkept(ctx context.Context) ([]message.Key, error) {
	r := a.options.Retention
	rows, err := a.backend.Select(ctx, Selection{Sizes: true, Limit: r.Batch})
	if err != nil {
		return nil, err
	}
	over, err := a.over(ctx)
	if err != nil {
		return nil, err
	}
	oldest := r.oldest(a.options.Now())
	var keys []message.Key
	for _, row := range rows {
		if row.Key.Timestamp >= oldest && over.Messages <= 0 && over.Bytes <= 0 {
			break
		}
		keys = append(keys, row.Key)
		over.Messages--
		over.Bytes -= row.Size
	}
	return keys, nil
}

// over returns by how much the archive is larger than Count and Bytes allow.
func (a *Archive) over(ctx context.Context) (Size, error) {
	r := a.options.Retention
	if r.Count == 0 && r.Bytes == 0 {
		return Size{}, nil
	}
	size, err := a.backend.Size(ctx)
	if err != nil {
		return Size{}, err
	}
	var over Size
	if r.Count > 0 {
		over.Messages = size.Messages - r.Count
	}
	if r.Bytes > 0 {
		over.Bytes = size.Bytes - r.Bytes
	}
	return over, nil
}

// room is what must be left under Retention.Bytes for a message of any size.
const room = message.DefaultMaxSize

// findFloor notes the oldest key that is kept, if Count or Bytes leave no room for an
// older one. Nothing is to be deleted.
func (a *Archive) findFloor(ctx context.Context) error {
	r := a.options.Retention
	over, err := a.over(ctx)
	if err != nil {
		return err
	}
	var floor *message.Key
	if r.Count > 0 && over.Messages >= 0 || r.Bytes > 0 && over.Bytes > -room {
		oldest, err := a.backend.Select(ctx, Selection{Limit: 1})
		if err != nil {
			return err
		}
		if len(oldest) > 0 {
			floor = &oldest[0].Key
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.floor = floor
	return nil
}

// Oldest returns the timestamp, in Unix nanoseconds, below which Restore takes
// nothing: what is older would be the next to be deleted. It is known once the
// retention has looked for the first time; until then, and without a retention, it
// is the lowest there is.
func (a *Archive) Oldest() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	oldest := a.options.Retention.oldest(a.options.Now())
	if a.floor != nil {
		oldest = max(oldest, a.floor.Timestamp)
	}
	return oldest
}
