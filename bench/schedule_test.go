package bench

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// onBubbleClock makes a schedule sleep by the runtime's timers alone: those of the
// bubble.
func onBubbleClock(s *schedule) {
	s.sleep = func(ctx context.Context, at time.Time) error {
		sleepCoarsely(ctx, time.Until(at))
		return ctx.Err()
	}
}

// TestSchedule follows a schedule with a clock that sending, sleeping and stalls
// move: no message is sent before it is due, one that is late is sent at once, and
// those that are more than an interval late are missed.
func TestSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.01, 1e6).Draw(t, "rate")
		begun := time.Unix(0, rapid.Int64Range(0, math.MaxInt64/4).Draw(t, "start"))
		clock := begun
		s := &schedule{
			rate: rate, start: begun, now: func() time.Time { return clock },
			sleep: func(_ context.Context, at time.Time) error {
				if !at.After(clock) {
					t.Fatalf("slept until %v at %v", at, clock)
				}
				clock = at.Add(time.Duration(rapid.Int64Range(0, 1e6).Draw(t, "oversleep")))
				return nil
			},
		}
		for i := range rapid.IntRange(1, 200).Draw(t, "messages") {
			before, due := clock, s.due(i)
			if want := float64(i) / rate * 1e9; math.Abs(float64(due.Sub(begun))-want) > 1+want*1e-12 {
				t.Fatalf("message %d is due %v after the start, want %v ns", i, due.Sub(begun), want)
			}
			if err := s.wait(context.Background(), i); err != nil {
				t.Fatal(err)
			}
			if clock.Before(due) {
				t.Fatalf("message %d is sent %v early", i, due.Sub(clock))
			}
			if !before.Before(due) && clock != before {
				t.Fatalf("message %d is late and waits %v more", i, clock.Sub(before))
			}
			late := clock.Sub(due)
			if got, want := s.missed(i, clock), float64(late) > math.Floor(1e9/rate); got != want {
				t.Fatalf("message %d, %v late at %v/s: missed %v, want %v", i, late, rate, got, want)
			}
			clock = clock.Add(time.Duration(rapid.Int64Range(0, 1e7).Draw(t, "publishing")))
		}
	})
}

func TestScheduleEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, s := range map[string]*schedule{
		"late":  {rate: 1, start: time.Now().Add(-time.Hour), now: time.Now, sleep: sleepUntil},
		"early": {rate: 1, start: time.Now().Add(time.Hour), now: time.Now, sleep: sleepUntil},
	} {
		if err := s.wait(ctx, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever sleeps, it sleeps no less than it was told.
func TestSleepUntil(t *testing.T) {
	for _, d := range []time.Duration{-time.Second, 0, time.Microsecond, finely - 1, finely + time.Millisecond} {
		at := time.Now().Add(d)
		if err := sleepUntil(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if early := time.Until(at); early > 0 {
			t.Errorf("sleep of %v ended %v early", d, early)
		}
	}
}

// Without the kernel's sleep, the runtime's does all of it.
func TestSleepCoarsely(t *testing.T) {
	fine := sleepFinely
	sleepFinely = nil
	defer func() { sleepFinely = fine }()
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(time.Hour)
		if err := sleepUntil(t.Context(), at); err != nil || time.Now() != at {
			t.Errorf("woke at %v, want %v: %v", time.Now(), at, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := sleepUntil(ctx, at.Add(time.Hour)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the end of the context", err)
		}
	})
}
