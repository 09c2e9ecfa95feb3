package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
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

// A driver publishes messages to a target and times them: with at most window in
// flight, or, where it has a schedule, when each is due. It drives each message
// once.
type driver struct {
	target   Target
	window   int
	schedule *schedule // nil: a closed loop
	stall    time.Duration

	epoch   time.Time
	sent    []atomic.Int64 // by number, ns since epoch; 0: not yet
	begun   atomic.Int64   // messages sent, of which settled are no longer in flight
	settled int
	first   int    // the first number driven
	arrived []bool // by number
	failure chan error
	last    time.Time // last arrival, or the start
	timer   *time.Timer

	whole     *Latencies // from publish to the application
	arrivals  *Latencies // between arrivals
	latencies *Latencies // from publish to the commit; empty where there is no archive
	open      *openLoop  // nil: a closed loop
	delivered func(n int)
}

// newDriver returns a driver for a target that was started with room messages.
func newDriver(t Target, room, window int) *driver {
	d := &driver{
		target: t, window: window, stall: stall,
		epoch: time.Now().Add(-1), // no message is sent at 0
		sent:  make([]atomic.Int64, room), arrived: make([]bool, room),
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
	d.first, d.last = first, time.Now()
	done, run := 0, d.inClosedLoop
	if d.schedule != nil {
		run = d.inOpenLoop
	}
	err := run(ctx, first, end, &done)
	if err == nil || ctx.Err() != nil {
		return err
	}
	err = fmt.Errorf("after %d of %d deliveries: %w", done, end-first, err)
	if lost := d.losses(); len(lost) > 0 {
		err = fmt.Errorf("%w; %s", err, strings.Join(lost, "; "))
	}
	return err
}

func (d *driver) inClosedLoop(ctx context.Context, first, end int, done *int) error {
	for i := first; i < end || d.inFlight() > 0; {
		if i < end && d.inFlight() < d.window {
			if err := d.publish(ctx, i); err != nil {
				return err
			}
			i++
			continue
		}
		if err := d.settle(ctx, done); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for a delivery and takes it.
func (d *driver) settle(ctx context.Context, done *int) error {
	a, err := d.next(ctx)
	if err == nil {
		err = d.take(a)
	}
	if err != nil {
		return err
	}
	*done++
	d.delivered(*done)
	return nil
}

// inFlight returns how many messages were sent and have not arrived.
func (d *driver) inFlight() int { return int(d.begun.Load()) - d.settled }

func (d *driver) publish(ctx context.Context, i int) error {
	d.sent[i].Store(int64(time.Since(d.epoch)))
	d.begun.Add(1)
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
		case err := <-d.failure:
			return Delivery{}, err
		case <-d.timer.C:
			if d.inFlight() == 0 { // of an open loop, the next is not due
				waited = -pause
				continue
			}
			if len(d.losses()) > 0 || waited+pause >= d.stall {
				return Delivery{}, invalid("no delivery for %v, %d messages in flight, first missing: %d", waited+pause, d.inFlight(), d.missing())
			}
		}
	}
}

func (d *driver) take(a Delivery) error {
	switch {
	case a.Index < 0 || a.Index >= len(d.sent) || d.sent[a.Index].Load() == 0:
		return invalid("message %d was delivered and not published", a.Index)
	case d.arrived[a.Index]:
		return invalid("message %d was delivered twice", a.Index)
	}
	d.arrived[a.Index] = true
	d.settled++
	sent := d.sentAt(a.Index)
	d.whole.Record(a.At.Sub(sent))
	d.arrivals.Record(a.At.Sub(d.last))
	if !a.Committed.IsZero() {
		d.latencies.Record(a.Committed.Sub(sent))
	}
	if d.open != nil {
		d.open.record(a, d.schedule.due(a.Index-d.first))
	}
	d.last = a.At
	return nil
}

// sentAt returns when message i was sent.
func (d *driver) sentAt(i int) time.Time { return d.epoch.Add(time.Duration(d.sent[i].Load())) }

func (d *driver) losses() []string {
	if a, ok := d.target.(Accountant); ok {
		return a.Losses()
	}
	return nil
}

// missing returns the lowest number in flight.
func (d *driver) missing() int {
	for i := range d.sent {
		if d.sent[i].Load() != 0 && !d.arrived[i] {
			return i
		}
	}
	return -1
}
