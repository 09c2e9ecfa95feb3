package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stall is how long a run may go without a delivery before it is given up.
const stall = 30 * time.Second

// errInvalid is wrapped by what makes a run invalid: a message was lost,
// duplicated or altered, or the path dropped or rejected one.
var errInvalid = errors.New("invalid run")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errInvalid, fmt.Errorf(format, args...))
}

// A driver keeps at most window messages of a target in flight and times them.
type driver struct {
	target Target
	window int
	stall  time.Duration

	published map[int]time.Time // in flight, by index
	seen      map[int]bool
	last      time.Time // last arrival, or the start

	arrivals  *Latencies // between arrivals
	latencies *Latencies // from publish to delivery
	delivered func(n int)
}

func newDriver(t Target, window int) *driver {
	return &driver{
		target: t, window: window, stall: stall,
		arrivals: NewLatencies(), latencies: NewLatencies(),
		published: make(map[int]time.Time), seen: make(map[int]bool),
		delivered: func(int) {},
	}
}

// drive publishes items and returns when each has been delivered.
func (d *driver) drive(ctx context.Context, items []Item) error {
	done := 0
	wait := func() error {
		if err := d.await(ctx); err != nil {
			return fmt.Errorf("after %d of %d deliveries: %w", done, len(items), err)
		}
		done++
		d.delivered(done)
		return nil
	}
	d.last = time.Now()
	for _, it := range items {
		for len(d.published) >= d.window {
			if err := wait(); err != nil {
				return err
			}
		}
		if err := d.publish(ctx, it); err != nil {
			return err
		}
	}
	for len(d.published) > 0 {
		if err := wait(); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) publish(ctx context.Context, it Item) error {
	d.published[it.Index] = time.Now()
	if err := d.target.Publish(ctx, it); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return invalid("message %d was not accepted: %w", it.Index, err)
	}
	return nil
}

// await takes one delivery.
func (d *driver) await(ctx context.Context) error {
	var a Delivery
	select {
	case a = <-d.target.Delivered():
	default:
		timer := time.NewTimer(d.stall)
		defer timer.Stop()
		select {
		case a = <-d.target.Delivered():
		case <-timer.C:
			return invalid("no delivery for %v, %d messages in flight, first missing: %d", d.stall, len(d.published), d.oldest())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	published, ok := d.published[a.Index]
	switch {
	case d.seen[a.Index]:
		return invalid("message %d was delivered twice", a.Index)
	case !ok:
		return invalid("message %d was delivered and not published", a.Index)
	}
	delete(d.published, a.Index)
	d.seen[a.Index] = true
	d.latencies.Record(a.At.Sub(published))
	d.arrivals.Record(a.At.Sub(d.last))
	d.last = a.At
	return nil
}

func (d *driver) oldest() int {
	first := -1
	for i := range d.published {
		if first < 0 || i < first {
			first = i
		}
	}
	return first
}
