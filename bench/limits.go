package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/limits"
)

// LimitsOptions say how to measure how near the message path comes to what the
// transport, the disk and the hash allow. See [DefaultLimits].
type LimitsOptions struct {
	Options      // of the session; Runs is the number of pairs, Messages those of macro; Archive is not used
	Micro    int // messages of a run of micro
	File     string
	Alone    int // runs of a receiver that is alone in its process, of as many messages as macro
	Profiled int // runs of which the profile is taken where a limit does not pass

	// Receiver returns the program that [Alone] starts, with an archive. Nil: it is
	// not measured.
	Receiver func(ctx context.Context, archive string) *exec.Cmd

	// Overhead returns CPU time of a counting build over that of a production build,
	// for pairs of runs of micro. Nil: it is not measured.
	Overhead func(ctx context.Context, pairs int) ([]float64, error)
}

// DefaultLimits returns the options of make bench-limits. file is where the archive
// on disk is made for each run.
func DefaultLimits(file string) LimitsOptions {
	o := LimitsOptions{Options: DefaultOptions(), Micro: 1000, File: file, Alone: 6, Profiled: 3}
	o.Runs, o.Messages = 30, 4000
	return o
}

// Names of arms.
const (
	armRaw       = "raw"
	armCheap     = "raw, cheap id"
	armNothing   = "zerocopy, no archive"
	armMemory    = "zerocopy, memory"
	armDisk      = "zerocopy, disk"
	armBase      = "baseline, no archive"
	armBaseInRAM = "baseline, memory"
	armBaseDisk  = "baseline, disk"
	armHash      = "the hash alone"
)

// arms returns what is measured by turns.
func (o LimitsOptions) arms() []Arm {
	disk := "sqlite:" + o.File
	arm := func(scenario, name string, reach relay.Reach, archive string) Arm {
		a := PathArm(scenario, reach)
		a.Name, a.Archive = name, archive
		if scenario == Micro {
			a.Messages = o.Micro
		}
		return a
	}
	raw := func(name string, r RawOptions) Arm {
		return Arm{Name: name, Scenario: Macro, Archive: Discard, Target: func(NodeOptions) Target { return NewRaw(r) }}
	}
	return []Arm{
		raw(armRaw, RawOptions{}),
		arm(Macro, armNothing, relay.ReachNode, Discard),
		raw(armCheap, RawOptions{ID: CheapID}),
		arm(Macro, armMemory, relay.ReachNode, DefaultArchive),
		arm(Macro, armDisk, relay.ReachNode, disk),
		arm(Macro, armBase, relay.ReachStage, Discard),
		arm(Micro, armBase, relay.ReachStage, Discard),
		arm(Micro, armNothing, relay.ReachNode, Discard),
		{Name: armHash, Scenario: Micro, Messages: o.Micro, Archive: Discard, Target: newHashAlone},
		arm(Micro, armBaseInRAM, relay.ReachStage, DefaultArchive),
		arm(Micro, armMemory, relay.ReachNode, DefaultArchive),
		arm(Micro, armBaseDisk, relay.ReachStage, disk),
		arm(Micro, armDisk, relay.ReachNode, disk),
	}
}

// speed is a limit on how fast one arm is beside its control, in msg/s and in CPU
// time.
type speed struct {
	name                   string
	scenario, arm, control string
	target                 float64
	bound                  string // an arm that no path can be faster than; "": none
}

var speeds = []speed{
	{"macro zerocopy, no archive / raw", Macro, armNothing, armRaw, 0.95, ""},
	{"macro zerocopy, no archive / raw, cheap id", Macro, armNothing, armCheap, 0.80, ""},
	{"macro zerocopy, in memory / raw", Macro, armMemory, armRaw, 0.80, ""},
	{"macro zerocopy, on disk / raw", Macro, armDisk, armRaw, 0.50, ""},
	{"micro zerocopy / baseline, no archive", Micro, armNothing, armBase, 11, armHash},
	{"micro zerocopy / baseline, in memory", Micro, armMemory, armBaseInRAM, 8, ""},
	{"micro zerocopy / baseline, on disk", Micro, armDisk, armBaseDisk, 4, ""},
}

// Limits measures everything that has a target and judges it. The error is for
// options that are wrong and for the end of ctx; what could not be measured is in
// the document with its reason.
func Limits(ctx context.Context, o LimitsOptions) (limits.Document, error) {
	if err := o.validate(); err != nil {
		return limits.Document{}, err
	}
	result, err := RunArms(ctx, o.Options, o.arms())
	if err != nil {
		return limits.Document{}, err
	}
	d := limits.Of(result)
	for _, s := range speeds {
		d.Limits = append(d.Limits, s.limits(result)...)
	}
	d.Limits = append(d.Limits, liveHeap(result), passes(result))
	for _, m := range o.measured() {
		values, err := m.values(ctx)
		if ctx.Err() != nil {
			return limits.Document{}, ctx.Err()
		}
		l := m.judge(m.name, m.figure, "", m.target, values)
		if err != nil {
			l = l.Without(err.Error())
		}
		d.Limits = append(d.Limits, l)
	}
	if d.Profiles, err = o.profiles(ctx, d.Limits); err != nil && ctx.Err() == nil {
		d.Limitations, err = append(d.Limitations, fmt.Sprintf("Not everything that missed its target was profiled: %v.", err)), nil
	}
	return d, err
}

func (o LimitsOptions) validate() error {
	o.Archive = Discard // each arm has its own
	var errs []error
	if o.Micro < 1 || o.Alone < 1 || o.Profiled < 1 {
		errs = append(errs, fmt.Errorf("bench: limits: %d messages in micro, %d receivers alone, %d profiled runs: want at least 1", o.Micro, o.Alone, o.Profiled))
	}
	return errors.Join(append(errs, o.validateRun(), validateArms(o.arms()))...)
}

func (s speed) limits(r verdict.Result) []limits.Limit {
	arm := s.scenario + " " + s.arm
	cpu := limits.Ratios(r, s.scenario, s.control, s.arm, limits.CPU) // the other way round: more is better
	rate := limits.Ratios(r, s.scenario, s.arm, s.control, limits.Rate)
	cost := limits.Least(s.name, "1 / CPU time", arm, s.target, cpu)
	if ratios := limits.Ratios(r, s.scenario, s.control, s.bound, limits.CPU); len(ratios) > 0 {
		cost.Note = fmt.Sprintf("%s takes 1/%.1f of the CPU time of baseline", s.bound, verdict.Median(ratios))
	}
	return []limits.Limit{limits.Least(s.name, "msg/s", arm, s.target, rate), cost}
}

func liveHeap(r verdict.Result) limits.Limit {
	return limits.Most("macro live heap, zerocopy / baseline", "bytes", "", 1,
		limits.Ratios(r, Macro, armNothing, armBase, limits.LiveHeap))
}

// passes returns how often a node passes over a payload for the gossip id and the
// message hash together. What an id covers besides the payload is in it, so that one
// pass is a little more than 1.
func passes(r verdict.Result) limits.Limit {
	l := limits.Exactly("gossip id and message hash", "passes over payload", 1.01, nil)
	if !counters.Enabled {
		return l.Without("this build does not count")
	}
	var values []float64
	payload := float64(r.Settings.PayloadBytes)
	for _, run := range r.Runs {
		if verdict.Series(run.Scenario) != Macro || run.Path != armNothing {
			continue
		}
		for _, n := range run.Nodes {
			c := counters.Total(n.Sites)
			values = append(values, float64(c.HashedBytes+c.IDHashedBytes)/payload)
		}
	}
	if len(values) == 0 {
		return l.Without("no valid run")
	}
	slices.Sort(values)
	return limits.Exactly(l.Name, l.Figure, *l.AtMost, slices.Compact(values))
}

// workload returns so many messages.
func (o LimitsOptions) workload(messages int) Workload {
	return NewWorkload(o.Seed, o.Profile, PubsubTopic, messages, time.Now(), 0)
}

// measured is a limit on what is measured outside of the session.
type measured struct {
	name, figure string
	judge        func(name, figure, arm string, target float64, values []float64) limits.Limit
	target       float64
	values       func(context.Context) ([]float64, error)
}

func (o LimitsOptions) measured() []measured {
	return []measured{
		{"archive insert / append, synced beside", "msg/s", limits.Least, 0.70, o.insert(sqlite.SyncLater)},
		{"archive insert / append, synced each batch", "msg/s", limits.Least, 0.70, o.insert(sqlite.SyncEach)},
		{"allocated by a receiver alone, on disk", "bytes / payload", limits.Most, 1.15, o.allocated},
		{"micro zerocopy, counting / production", "CPU time", limits.Most, 1.02, o.overhead},
	}
}

// insert measures the archive on disk alone beside a file to which the same bytes
// are appended at the same durability.
func (o LimitsOptions) insert(sync sqlite.Sync) func(context.Context) ([]float64, error) {
	return func(ctx context.Context) (values []float64, err error) {
		messages := o.workload(o.Micro).Messages
		for range o.Runs {
			appended, err := AppendRate(ctx, o.File+".append", sync, messages, archive.DefaultBatch)
			if err != nil {
				return nil, err
			}
			inserted, err := InsertRate(ctx, "sqlite:"+o.File, sync, messages, archive.DefaultBatch)
			if err != nil {
				return nil, err
			}
			values = append(values, appended.Wall.Seconds()/inserted.Wall.Seconds())
		}
		return values, nil
	}
}

// allocated measures what a receiver allocates that is alone in its process.
func (o LimitsOptions) allocated(ctx context.Context) (values []float64, err error) {
	if o.Receiver == nil {
		return nil, errors.New("no program to start")
	}
	for range o.Alone {
		w := o.workload(o.Messages + o.WarmupMacro)
		run, err := o.alone(ctx, w)
		if err != nil {
			return nil, err
		}
		measured := Workload{Messages: w.Messages[o.WarmupMacro:]}
		values = append(values, float64(run.AllocBytes)/float64(measured.PayloadBytes()))
	}
	return values, nil
}

func (o LimitsOptions) alone(ctx context.Context, w Workload) (run verdict.Run, err error) {
	archive := "sqlite:" + o.File
	clean, err := claimArchive(archive)
	if err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, clean()) }()
	return Alone(ctx, o.Receiver(ctx, archive), w.Messages, o.WarmupMacro, o.Window)
}

func (o LimitsOptions) overhead(ctx context.Context) ([]float64, error) {
	if o.Overhead == nil {
		return nil, errors.New("no checkout to build from")
	}
	return o.Overhead(ctx, o.Runs)
}
