package bench

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

// receiver is a target whose application takes some time for each message, one
// after the other, behind a queue. publishing is called by Publish.
type receiver struct {
	queue      chan int
	out        chan Delivery
	takes      func(i int) time.Duration
	publishing func(i int) error
	ended      chan struct{}
}

func newReceiver(room int, takes func(i int) time.Duration) *receiver {
	r := &receiver{
		queue: make(chan int, room), out: make(chan Delivery, room), takes: takes,
		publishing: func(int) error { return nil }, ended: make(chan struct{}),
	}
	go func() {
		defer close(r.ended)
		for i := range r.queue {
			<-time.After(r.takes(i))
			r.out <- Delivery{Index: i, At: time.Now(), Committed: time.Now()}
		}
	}()
	return r
}

func (*receiver) Start(context.Context, []*pb.WakuMessage) error { return nil }
func (r *receiver) Delivered() <-chan Delivery                   { return r.out }
func (r *receiver) Close() error {
	close(r.queue)
	<-r.ended
	return nil
}

func (r *receiver) Publish(_ context.Context, i int) error {
	err := r.publishing(i)
	if err == nil {
		r.queue <- i
	}
	return err
}

// stalling takes 100 µs for each message and a second for one.
func stalling(i int) time.Duration {
	if i == 1000 {
		return time.Second
	}
	return 100 * time.Microsecond
}

const atRate = 1000 // messages a second

// drivenAt returns a driver that has driven messages through target at a rate, or
// in a closed loop.
func drivenAt(t *testing.T, target Target, rate float64, messages int) *driver {
	t.Helper()
	d := newDriver(target, messages, DefaultWindow)
	if rate > 0 {
		d.follow(rate)
		onBubbleClock(d.schedule)
	}
	if err := d.drive(t.Context(), 0, messages); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestStallShows: a receiver that stalls for 1 s at 1000 messages a second shows
// in the p99, and a closed loop of the same messages hides it (coordinated
// omission).
func TestStallShows(t *testing.T) {
	const messages = 4000
	synctest.Test(t, func(t *testing.T) {
		target := newReceiver(messages, stalling)
		defer target.Close()
		open := drivenAt(t, target, atRate, messages).openLoopOf()
		if q := open.Application.Intended; q.P99 < (500*time.Millisecond).Nanoseconds() || q.Max < time.Second.Nanoseconds() {
			t.Errorf("open loop: %+v: a stall of 1 s does not show", q)
		}
		if open.Commit == nil || open.Commit.Intended.P99 < open.Application.Intended.P99 {
			t.Errorf("to the commit: %+v", open.Commit)
		}
		if open.Missed != 0 {
			t.Errorf("%d messages were sent late, and publishing never blocks", open.Missed)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		target := newReceiver(messages, stalling)
		defer target.Close()
		closed := drivenAt(t, target, 0, messages)
		if p99 := closed.whole.P99(); p99 > (10 * time.Millisecond).Nanoseconds() {
			t.Errorf("closed loop: p99 %v: this test shows nothing", time.Duration(p99))
		}
		if closed.openLoopOf() != nil {
			t.Error("a closed loop says it is open")
		}
	})
}

// TestBlockedPublishShows: a publisher that is held up sends late, which the
// latency from the intended time tells and that from the send does not.
func TestBlockedPublishShows(t *testing.T) {
	const messages = 4000
	synctest.Test(t, func(t *testing.T) {
		target := newReceiver(messages, func(int) time.Duration { return 0 })
		defer target.Close()
		target.publishing = func(i int) error { <-time.After(stalling(i) - 100*time.Microsecond); return nil }
		open := drivenAt(t, target, atRate, messages).openLoopOf()
		half := (500 * time.Millisecond).Nanoseconds()
		if open.Application.Intended.P99 < half || open.Application.Sent.P99 >= half {
			t.Errorf("from the intended time %+v, from the send %+v", open.Application.Intended, open.Application.Sent)
		}
		// Of the messages due within the stall, the last is an interval late at most.
		if open.Missed < 990 || open.Missed > 999 {
			t.Errorf("%d messages missed their time, want those of one second but the last", open.Missed)
		}
	})
}

// A rate so low that nothing is in flight for long is no stall.
func TestOpenLoopWaitsForWhatIsNotDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := newReceiver(10, func(int) time.Duration { return 0 })
		defer target.Close()
		start := time.Now()
		open := drivenAt(t, target, 0.01, 3).openLoopOf() // one in 100 s, more than what a run waits for a delivery
		if took := time.Since(start); took != 200*time.Second || open.Application.Intended.Max != 0 {
			t.Errorf("took %v, %+v", took, open.Application.Intended)
		}
	})
}

func TestOpenLoopEnds(t *testing.T) {
	failure := errors.New("refused")
	for name, c := range map[string]struct {
		prepare func(*receiver, *driver, context.CancelFunc)
		want    error
	}{
		"publishing fails": {func(r *receiver, _ *driver, _ context.CancelFunc) {
			r.publishing = func(i int) error {
				if i == 5 {
					return failure
				}
				return nil
			}
		}, failure},
		"the context ends": {func(r *receiver, _ *driver, cancel context.CancelFunc) {
			r.publishing = func(i int) error {
				if i == 5 {
					cancel()
				}
				return nil
			}
		}, context.Canceled},
		"a message is lost": {func(r *receiver, _ *driver, _ context.CancelFunc) {
			r.takes = func(i int) time.Duration {
				if i == 5 {
					return time.Hour
				}
				return 0
			}
		}, errInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				target := newReceiver(20, func(int) time.Duration { return 0 })
				defer target.Close()
				d := newDriver(target, 20, 1)
				d.follow(atRate)
				onBubbleClock(d.schedule)
				c.prepare(target, d, cancel)
				if err := d.drive(ctx, 0, 20); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			}) // which fails if a goroutine is left
		})
	}
}

// TestStallShowsOnNodes is the same on the real thing: two nodes over loopback, of
// which the receiver's application stalls once.
func TestStallShowsOnNodes(t *testing.T) {
	if raceEnabled {
		t.Skip("NOT CHECKED: with the race detector, times are not those of the program")
	}
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	open, histograms := stalledNodes(t, atRate)
	closed, none := stalledNodes(t, 0)
	half := (500 * time.Millisecond).Nanoseconds()
	if open.OpenLoop.Application.Intended.P99 < half {
		t.Errorf("open loop: %+v: a stall of 1 s does not show", open.OpenLoop)
	}
	if *closed.LatencyP99 >= half {
		t.Errorf("closed loop: p99 %v: the stall shows in it, so that this test shows nothing", time.Duration(*closed.LatencyP99))
	}
	t.Logf("open loop %+v, closed loop p99 %v", open.OpenLoop, time.Duration(*closed.LatencyP99))
	checkHistograms(t, histograms)
	if names := histogramNames(t, none); len(names) > 0 {
		t.Errorf("a closed loop has histograms %v", names)
	}
}

// stalledNodes returns a run in which the receiver's application stalls once. A
// busy machine that stops for long itself overflows a queue: it has several
// attempts.
func stalledNodes(t *testing.T, rate float64) (verdict.Run, *Histograms) {
	t.Helper()
	const attempts = 5
	var result verdict.Result
	for range attempts {
		var delivered atomic.Int64
		o := DefaultOptions()
		o.Scenarios, o.Paths, o.Runs, o.Messages, o.Rate = []string{Macro}, []string{"zerocopy"}, 1, 4000, rate
		o.Profile, o.Archive, o.Histograms = mustProfile(t, "1kB@100"), "memory", new(Histograms)
		o.Extra = func(node string, _ counters.Set, _ []byte) {
			if node == "B" && delivered.Add(1) == 1000 {
				<-time.After(time.Second)
			}
		}
		var err error
		if result, err = Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if err := result.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(result.Runs) == 1 {
			return result.Runs[0], o.Histograms
		}
	}
	t.Fatalf("invalid: %v", result.Invalid)
	return verdict.Run{}, nil
}

// checkHistograms looks at the histograms of one run.
func checkHistograms(t *testing.T, h *Histograms) {
	t.Helper()
	var names []string
	for _, run := range []string{"", "-run1"} {
		for _, to := range []string{"", "-commit"} {
			names = append(names, "macro-zerocopy-intended"+to+run+".hgrm", "macro-zerocopy-sent"+to+run+".hgrm")
		}
	}
	if got := histogramNames(t, h); !slices.Equal(got, names) {
		t.Errorf("files %v, want %v", got, names)
	}
	files, _ := h.Files()
	if text := string(files[0].Text); !strings.Contains(text, "Total count    =         4000]") || !strings.Contains(text, "1/(1-Percentile)") {
		t.Errorf("%s: %s", files[0].Name, text)
	}
}

func histogramNames(t *testing.T, h *Histograms) (names []string) {
	t.Helper()
	files, err := h.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

func mustProfile(t *testing.T, s string) Profile {
	t.Helper()
	p, err := ParseProfile(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Runs of one path are told together, those of another by themselves.
func TestHistogramsMergeRuns(t *testing.T) {
	var h Histograms
	for run, path := range []string{"a", "b/c", "a"} {
		d := newDriver(newShuttle(faithful), 1, 1)
		d.follow(1)
		d.whole.Record(time.Duration(run+1) * time.Millisecond)
		d.open.whole.Record(time.Duration(run+1) * time.Second)
		if err := h.add(d, job{Arm{Name: path, Scenario: Macro}, run + 1, 0}); err != nil {
			t.Fatal(err)
		}
	}
	all := h.Distributions()
	if len(all) != 4 || all[0].Path != "a" || all[0].Runs != 2 || all[0].Quantiles.Messages != 2 || all[2].Runs != 1 {
		t.Errorf("distributions %+v", all)
	}
	if last := all[0].Points[len(all[0].Points)-1]; last.Percentile != 100 || last.Nanos < 3e9 || last.Nanos > 3.01e9 {
		t.Errorf("ends at %+v, want the longest of both runs", last)
	}
	if names := histogramNames(t, &h); !slices.Contains(names, "macro-b%2Fc-sent-run2.hgrm") {
		t.Errorf("files %v", names)
	}
}

func TestValidateRate(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"rate -1: want messages a second":   func(o *Options) { o.Rate = -1 },
		"rate NaN: want":                    func(o *Options) { o.Rate = nan() },
		"rate +Inf: want":                   func(o *Options) { o.Rate = 1 / zero },
		"micro has one message in flight":   func(o *Options) { o.Rate, o.Scenarios = 10, []string{Micro, Macro} },
		"1000 messages take more than 24h0": func(o *Options) { o.Rate = 0.01 },
	} {
		o := DefaultOptions()
		o.Scenarios = []string{Macro}
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	o := DefaultOptions()
	o.Scenarios, o.Rate = []string{Macro}, 1000
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	if text := strings.Join(limitations(o), " "); strings.Contains(text, "closed loop") || !strings.Contains(text, "intended") {
		t.Errorf("limitations of an open loop: %s", text)
	}
}

var zero float64

func nan() float64 { return zero / zero }
