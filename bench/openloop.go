package bench

import (
	"context"
	"time"

	"github.com/msgpath/msgpath/verdict"
)

// openLoop is what a driver records of messages with intended send times.
type openLoop struct {
	missed uint64     // sent more than an interval late; of the publishing goroutine until it has ended
	whole  *Latencies // from the intended time to the application
	commit *Latencies // from the intended time to the commit; empty where there is no archive
}

// follow makes d send each message when it is due, rate of them a second.
func (d *driver) follow(rate float64) {
	d.schedule = newSchedule(rate)
	d.open = &openLoop{whole: NewLatencies(), commit: NewLatencies()}
}

// inOpenLoop publishes in a goroutine of its own, so that nothing that happens to
// deliveries holds it up, and takes deliveries meanwhile.
func (d *driver) inOpenLoop(ctx context.Context, first, end int, done *int) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	d.failure = make(chan error, 1)
	d.schedule.start = d.schedule.now()
	go func() {
		defer close(ended)
		if err := d.publishOnTime(ctx, first, end); err != nil {
			d.failure <- err
		}
	}()
	var err error
	for err == nil && *done < end-first {
		err = d.settle(ctx, done)
	}
	if err != nil {
		cancel()
	}
	<-ended
	cancel()
	select {
	case failure := <-d.failure:
		if err == nil {
			err = failure
		}
	default:
	}
	return err
}

// publishOnTime publishes each message when it is due, and at once what is late.
func (d *driver) publishOnTime(ctx context.Context, first, end int) error {
	for i := first; i < end; i++ {
		if err := d.schedule.wait(ctx, i-first); err != nil {
			return err
		}
		if err := d.publish(ctx, i); err != nil {
			return err
		}
		if d.schedule.missed(i-first, d.sentAt(i)) {
			d.open.missed++
		}
	}
	return nil
}

func (o *openLoop) record(a Delivery, due time.Time) {
	o.whole.Record(a.At.Sub(due))
	if !a.Committed.IsZero() {
		o.commit.Record(a.Committed.Sub(due))
	}
}

// openLoopOf returns what d says of an open loop, nil of a closed one.
func (d *driver) openLoopOf() *verdict.OpenLoop {
	if d.open == nil {
		return nil
	}
	o := &verdict.OpenLoop{
		Missed:      d.open.missed,
		Application: verdict.Latencies{Intended: d.open.whole.Quantiles(), Sent: d.whole.Quantiles()},
	}
	if d.latencies.Count() > 0 {
		o.Commit = &verdict.Latencies{Intended: d.open.commit.Quantiles(), Sent: d.latencies.Quantiles()}
	}
	return o
}
