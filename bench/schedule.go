package bench

import (
	"context"
	"time"
)

// A schedule says when the messages of an open loop are to be sent: message i at
// start + i/rate, however late those before it were. A time is computed from i
// alone, so that no error adds up.
//
// One goroutine waits; due and interval may be called by any.
type schedule struct {
	rate  float64 // messages per second, above 0
	start time.Time

	now   func() time.Time
	sleep func(context.Context, time.Time) error // until a time, or the end of the context
}

// newSchedule returns one that has not started, on the machine's clock.
func newSchedule(rate float64) *schedule {
	return &schedule{rate: rate, now: time.Now, sleep: sleepUntil}
}

// due returns when message i, counted from 0, is to be sent.
func (s *schedule) due(i int) time.Time {
	return s.start.Add(time.Duration(float64(i) / s.rate * float64(time.Second)))
}

// interval returns the time from one message to the next.
func (s *schedule) interval() time.Duration {
	return time.Duration(float64(time.Second) / s.rate)
}

// wait returns when message i may be sent, at once if it is late.
func (s *schedule) wait(ctx context.Context, i int) error {
	if due := s.due(i); s.now().Before(due) {
		return s.sleep(ctx, due)
	}
	return ctx.Err()
}

// missed reports whether message i, sent at a time, was sent more than one
// interval after it was due: the next one was due by then.
func (s *schedule) missed(i int, at time.Time) bool { return at.Sub(s.due(i)) > s.interval() }

// finely is the last part of a sleep, which is left to the kernel where that is
// possible. The runtime's own timers are as coarse as the millisecond of epoll_wait
// on an idle machine (golang.org/issue/44343), a whole interval at 1000 messages a
// second. Spinning would be more precise and would take the processor that is
// measured.
const finely = 5 * time.Millisecond

// sleepFinely sleeps at most as long as it is told; nil: the runtime's timers are
// all there is.
var sleepFinely func(time.Duration)

// sleepUntil returns at a time or a little later, never before it, or when ctx is
// done, which it may notice 5 ms late.
func sleepUntil(ctx context.Context, at time.Time) error {
	for {
		left := time.Until(at)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case left <= 0:
			return nil
		case sleepFinely == nil:
			sleepCoarsely(ctx, left)
		case left > finely:
			sleepCoarsely(ctx, left-finely/2)
		default:
			sleepFinely(left)
		}
	}
}

// sleepCoarsely sleeps by the runtime's timers, or until ctx is done.
func sleepCoarsely(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
