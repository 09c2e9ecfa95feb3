package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	stall    = 30 * time.Second // how long a run may go without a delivery before it is given up
	patience = time.Second      // how often it is asked meanwhile whether anything was lost
)

// errInvalid is wrapped by what makes a run invalid: a message was lost,
// duplicated or altered, or the path dropped or rejected one.
var errInvalid = errors.New("invalid run")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errInvalid, fmt.Errorf(format, args...))
}

// A driver keeps at most window messages of a target in flight and times them.
// It drives each message once.
type driver struct {
	target Target
	window int
	stall  time.Duration

	published []time.Time // by number; zero: not yet
	arrived   []bool      // by number
	inFlight  int
	last      time.Time // last arrival, or the start
	timer     *time.Timer

	whole     *Latencies // from publish to the application
	arrivals  *Latencies // between arrivals
	latencies *Latencies // from publish to the commit; empty where there is no archive
	delivered func(n int)
}

// newDriver returns a driver for a target that was started with room messages.
func newDriver(t Target, room, window int) *driver {
	d := &driver{
		target: t, window: window, stall: stall,
		published: make([]time.Time, room), arrived: make([]bool, room),
		timer: time.NewTimer(stall),
		whole: NewLatencies(), arrivals: NewLatencies(), latencies: NewLatencies(),
		delivered: func(int) {},
	}
	d.timer.Stop()
	return d
}

// drive publishes the messages from number first to end-1 and returns when each
// has been delivered. An error of a run that is not valid says what the target
// lost.
func (d *driver) drive(ctx context.Context, first, end int) error {
	d.last = time.Now()
	done := 0
	err := d.run(ctx, first, end, &done)
	if err == nil || ctx.Err() != nil {
		return err
	}
	err = fmt.Errorf("after %d of %d deliveries: %w", done, end-first, err)
	if lost := d.losses(); len(lost) > 0 {
		err = fmt.Errorf("%w; %s", err, strings.Join(lost, "; "))
	}
	return err
}

func (d *driver) run(ctx context.Context, first, end int, done *int) error {
	for i := first; i < end || d.inFlight > 0; {
		if i < end && d.inFlight < d.window {
			if err := d.publish(ctx, i); err != nil {
				return err
			}
			i++
			continue
		}
		a, err := d.next(ctx)
		if err == nil {
			err = d.take(a)
		}
		if err != nil {
			return err
		}
		*done++
		d.delivered(*done)
	}
	return nil
}

func (d *driver) publish(ctx context.Context, i int) error {
	d.published[i] = time.Now()
	d.inFlight++
	if err := d.target.Publish(ctx, i); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return invalid("message %d was not accepted: %w", i, err)
	}
	return nil
}

// next waits for a delivery, and gives up as soon as something is known to be
// lost.
func (d *driver) next(ctx context.Context) (Delivery, error) {
	select {
	case a := <-d.target.Delivered():
		return a, nil
	default:
	}
	pause := min(patience, d.stall)
	for waited := time.Duration(0); ; waited += pause {
		d.timer.Reset(pause)
		select {
		case a := <-d.target.Delivered():
			d.timer.Stop()
			return a, nil
		case <-ctx.Done():
			return Delivery{}, ctx.Err()
		case <-d.timer.C:
			if len(d.losses()) > 0 || waited+pause >= d.stall {
				return Delivery{}, invalid("no delivery for %v, %d messages in flight, first missing: %d", waited+pause, d.inFlight, d.missing())
			}
		}
	}
}

func (d *driver) take(a Delivery) error {
	switch {
	case a.Index < 0 || a.Index >= len(d.published) || d.published[a.Index].IsZero():
		return invalid("message %d was delivered and not published", a.Index)
	case d.arrived[a.Index]:
		return invalid("message %d was delivered twice", a.Index)
	}
	d.arrived[a.Index] = true
	d.inFlight--
	d.whole.Record(a.At.Sub(d.published[a.Index]))
	d.arrivals.Record(a.At.Sub(d.last))
	if !a.Committed.IsZero() {
		d.latencies.Record(a.Committed.Sub(d.published[a.Index]))
	}
	d.last = a.At
	return nil
}

func (d *driver) losses() []string {
	if a, ok := d.target.(Accountant); ok {
		return a.Losses()
	}
	return nil
}

// missing returns the lowest number in flight.
func (d *driver) missing() int {
	for i, at := range d.published {
		if !at.IsZero() && !d.arrived[i] {
			return i
		}
	}
	return -1
}
