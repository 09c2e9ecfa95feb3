package bench

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

// heapEvery is the number of deliveries between two samples of the heap.
const heapEvery = 50

// measure makes one run: bring the target up, warm it, bring memory to its
// state, drive and measure, verify, take the target down and look once more.
func (s *session) measure(ctx context.Context, j job) (run verdict.Run, err error) {
	clean, err := claimArchive(s.archive(j))
	if err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, clean()) }()
	target := s.target(j)
	defer func() { err = errors.Join(err, target.Close()) }()
	if err := s.start(ctx, target, j); err != nil {
		return run, fmt.Errorf("start: %w", err)
	}
	n := s.count(j)
	if err := newDriver(target, n+s.warmup(j), s.window(j)).drive(ctx, n, n+s.warmup(j)); err != nil {
		return run, fmt.Errorf("warm-up: %w", err)
	}
	run = verdict.Run{Scenario: j.name(), Path: j.Name, Number: j.number, Messages: n, Published: uint64(n)}
	d := s.driver(target, j)
	account, err := s.drive(ctx, d, j, &run)
	if err != nil {
		return run, err
	}
	if err := finish(ctx, target, account, &run); err != nil || d.open == nil {
		return run, err
	}
	return run, s.options.Histograms.add(d, j)
}

// driver returns what drives the measured messages.
func (s *session) driver(target Target, j job) *driver {
	d := newDriver(target, s.count(j), s.window(j))
	if s.options.Rate > 0 {
		d.follow(s.options.Rate)
	}
	return d
}

func (s *session) start(ctx context.Context, target Target, j job) error {
	ctx, cancel := context.WithTimeout(ctx, stall)
	defer cancel()
	return target.Start(ctx, s.messages(j))
}

// drive is the measured part. It returns what the nodes did since they started.
func (s *session) drive(ctx context.Context, d *driver, j job, run *verdict.Run) ([]verdict.Node, error) {
	before, err := nodes(ctx, d.target)
	if err != nil {
		return nil, err
	}
	meter := NewMeter(run.Messages/heapEvery + 2)
	d.delivered = func(n int) {
		if n%heapEvery == 0 || n == run.Messages {
			meter.Sample(n)
		}
	}
	if err := checkpoint(ctx, d.target); err != nil {
		return nil, err
	}
	if s.options.Cold {
		Cold()
	} else {
		Warm(s.heap)
	}
	stop, err := s.options.beside()
	if err != nil {
		return nil, err
	}
	meter.Start()
	err = d.drive(ctx, 0, run.Messages)
	if err == nil {
		err = checkpoint(ctx, d.target)
	}
	meter.Stop(run)
	stop()
	if err != nil {
		return nil, err
	}
	after, err := nodes(ctx, d.target)
	if err != nil {
		return nil, err
	}
	run.Nodes = since(before, after)
	if len(run.Nodes) == 0 { // it keeps no account: what the driver saw
		run.Nodes = []verdict.Node{{Name: j.Name, Role: verdict.RoleAll, Delivered: uint64(run.Messages)}}
	}
	d.fill(run, j)
	return after, checkNodes(run.Nodes, run.Messages)
}

// nodes returns what a target's nodes did so far, nil if it keeps no account.
func nodes(ctx context.Context, t Target) ([]verdict.Node, error) {
	if a, ok := t.(Accountant); ok {
		return a.Nodes(ctx)
	}
	return nil, nil
}

// since returns what happened between two accounts of the same nodes.
func since(before, after []verdict.Node) []verdict.Node {
	delta := make([]verdict.Node, len(after))
	for i, n := range after {
		b := before[i]
		if n.Sites != nil {
			n.Sites = append([]counters.SiteCounts{}, counters.Since(b.Sites, n.Sites)...)
		}
		n.Delivered -= b.Delivered
		n.Rejected -= b.Rejected
		n.Duplicates -= b.Duplicates
		n.Dropped -= b.Dropped
		delta[i] = n
	}
	return delta
}

func (d *driver) fill(run *verdict.Run, j job) {
	per := d.arrivals
	if j.Scenario == Micro {
		per = d.whole
	}
	run.NanosPerP50, run.NanosPerP99 = per.P50(), per.P99()
	if d.latencies.Count() > 0 {
		p50, p99 := d.latencies.P50(), d.latencies.P99()
		run.LatencyP50, run.LatencyP99 = &p50, &p99
	}
	run.OpenLoop = d.openLoopOf()
}

// checkNodes refuses a run in which a queue or a validator took a message away,
// even one that came through another way.
func checkNodes(nodes []verdict.Node, messages int) error {
	for _, n := range nodes {
		switch {
		case n.Dropped > 0:
			return invalid("node %s dropped %d messages or copies", n.Name, n.Dropped)
		case n.Rejected > 0:
			return invalid("node %s rejected %d messages", n.Name, n.Rejected)
		case n.Delivered != uint64(messages):
			return invalid("node %s delivered %d of %d messages", n.Name, n.Delivered, messages)
		}
	}
	return nil
}

// finish verifies what arrived, takes the target down, which drains every queue,
// and refuses a run that was not over when it seemed to be: account is what the
// nodes had done by then.
func finish(ctx context.Context, target Target, account []verdict.Node, run *verdict.Run) error {
	if v, ok := target.(Verifier); ok {
		if err := v.Verify(ctx); err != nil {
			return err
		}
		run.Verified = true
	}
	if v, ok := target.(Viewer); ok {
		var err error
		if run.ViewsChecked, err = v.Views(); err != nil {
			return err
		}
	}
	if err := target.Close(); err != nil {
		return err
	}
	select {
	case a := <-target.Delivered():
		return invalid("message %d was delivered again after the run", a.Index)
	default:
	}
	end, err := nodes(ctx, target)
	if err != nil {
		return err
	}
	for i, n := range end {
		if !reflect.DeepEqual(n, account[i]) {
			return invalid("node %s went on after the run: %+v, at its end %+v", n.Name, n, account[i])
		}
	}
	return nil
}
