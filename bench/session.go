package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// Scenarios and the path that only macro has.
const (
	Micro   = verdict.Micro
	Macro   = verdict.Macro
	PathRaw = "raw"
)

// Paths returns every path, in the order in which they run.
func Paths() []string {
	return []string{relay.ReachStage.String(), relay.ReachDispatch.String(), relay.ReachNode.String(), PathRaw}
}

// Defaults of [Options].
const (
	DefaultMessages    = 1000
	DefaultWarmupMicro = 100
	DefaultWarmupMacro = 50
	DefaultSeed        = 42
	DefaultWindow      = 32
	DefaultRuns        = 5
	DefaultArchive     = "sqlite::memory:"
)

// Options say what to run. The zero value runs nothing; see [DefaultOptions].
type Options struct {
	Scenarios   []string // Micro, Macro
	Paths       []string // of Paths
	Messages    int      // measured messages a run
	WarmupMicro int      // messages before them, not counted
	WarmupMacro int
	Seed        uint64
	Profile     Profile
	Window      int // most messages in flight in macro; in micro it is one
	Runs        int // of each scenario on each path
	Hash        message.Algorithm
	Archive     string // "memory", "sqlite::memory:" or "sqlite:FILE"; FILE is made for each run and removed
	Cold        bool   // start every run with unmapped memory

	CommandLine []string   // told in the result
	LogLevel    slog.Level // of the nodes
	LogTo       io.Writer  // their log; nil: discarded
	Progress    io.Writer  // shown on it if it is a terminal; nil: not shown
}

// DefaultOptions returns the options of the main job.
func DefaultOptions() Options {
	return Options{
		Scenarios: []string{Micro, Macro}, Paths: Paths(),
		Messages: DefaultMessages, WarmupMicro: DefaultWarmupMicro, WarmupMacro: DefaultWarmupMacro,
		Seed: DefaultSeed, Profile: DefaultProfile(), Window: DefaultWindow, Runs: DefaultRuns,
		Archive: DefaultArchive, LogLevel: slog.LevelError,
	}
}

// Validate reports everything wrong with o.
func (o Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("bench: options: "+format, args...)) }
	if err := o.Profile.Validate(); err != nil {
		bad("profile: %w", err)
	}
	if len(o.Scenarios) == 0 {
		bad("no scenario")
	}
	for _, s := range o.Scenarios {
		if s != Micro && s != Macro {
			bad("scenario %q: want micro or macro", s)
		}
	}
	if len(o.Paths) == 0 {
		bad("no path")
	}
	for i, p := range o.Paths {
		if !slices.Contains(Paths(), p) {
			bad("path %q: want %s", p, strings.Join(Paths(), ", "))
		}
		if slices.Contains(o.Paths[:i], p) {
			bad("path %q is given twice", p)
		}
	}
	if slices.Equal(o.Paths, []string{PathRaw}) && !slices.Contains(o.Scenarios, Macro) {
		bad("path raw has no micro: it is a network without a node")
	}
	if o.Messages < 1 || o.Runs < 1 || o.Window < 1 || o.WarmupMicro < 0 || o.WarmupMacro < 0 {
		bad("messages %d, runs %d, window %d must be at least 1, warm-up %d and %d at least 0",
			o.Messages, o.Runs, o.Window, o.WarmupMicro, o.WarmupMacro)
	}
	if _, err := archiveFile(o.Archive); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// session is one call of Run.
type session struct {
	options  Options
	result   verdict.Result
	progress *Progress
	logger   *slog.Logger
	wrap     func(Target) Target // tests put a fault around a target with it; nil: none
}

// job is one run to be made.
type job struct {
	scenario, path string
	number         int
}

func (j job) name() string { return verdict.RunName(j.scenario, j.number) }

// Run runs every scenario on every path, interleaved over paths, and returns
// what was measured. A run that is not valid is in the result's Invalid and
// does not keep others from running. The error is for what keeps the session
// itself from going on.
func Run(ctx context.Context, o Options) (verdict.Result, error) {
	if err := o.Validate(); err != nil {
		return verdict.Result{}, err
	}
	environment, err := ReadEnvironment(o.CommandLine, strings.ToLower(o.LogLevel.String()))
	if err != nil {
		return verdict.Result{}, err
	}
	s := session{options: o, logger: slog.New(slog.DiscardHandler)}
	if o.LogTo != nil {
		s.logger = slog.New(slog.NewTextHandler(o.LogTo, &slog.HandlerOptions{Level: o.LogLevel}))
	}
	s.result = verdict.Result{
		Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion, MeasuredAt: time.Now().UTC(),
		Environment: environment, Settings: o.settings(), Limitations: limitations(o),
		Runs: []verdict.Run{}, Invalid: []verdict.Invalid{},
	}
	if !o.Cold {
		if err := reserveArchive(s.result.Settings); err != nil {
			s.result.Limitations = append(s.result.Limitations, "memory of in-memory databases was not mapped beforehand: "+err.Error())
		}
	}
	jobs := o.jobs()
	s.progress = NewProgress(o.Progress, len(jobs))
	defer s.progress.Done()
	for _, j := range jobs {
		if err := s.run(ctx, j); err != nil {
			return verdict.Result{}, fmt.Errorf("bench: run %s of path %s: %w", j.name(), j.path, err)
		}
	}
	s.result.Verified = len(s.result.Invalid) == 0 && len(s.result.Runs) > 0
	return s.result, nil
}

// What a run is thought to need at its peak, and is mapped before it.
const (
	fixedHeap      = 64 << 20
	heapPerPayload = 8    // Go heap, in payloads of all measured messages
	archivePage    = 4096 // SQLite's page size
	fixedPages     = 2048
)

// reserveArchive maps the pages of one in-memory archive with all of a run's messages,
// for all runs of the process.
func reserveArchive(s verdict.Settings) error {
	if s.Archive != DefaultArchive {
		return nil
	}
	warm := max(s.WarmupMicro, s.WarmupMacro)
	payload := float64(s.PayloadBytes) * (1 + float64(warm)/float64(s.Messages))
	return reservePagesOnce(archivePage, int(1.1*payload)/archivePage+fixedPages)
}

var reserved sync.Once

func reservePagesOnce(pageSize, pages int) (err error) {
	reserved.Do(func() { err = ReservePages(pageSize, pages) })
	return err
}

func (o Options) settings() verdict.Settings {
	sample := NewWorkload(o.Seed, o.Profile, PubsubTopic, o.Messages, time.Now(), 0)
	return verdict.Settings{
		Messages: o.Messages, WarmupMicro: o.WarmupMicro, WarmupMacro: o.WarmupMacro,
		Seed: o.Seed, Profile: o.Profile.String(), PayloadBytes: uint64(sample.PayloadBytes()),
		Window: o.Window, Runs: o.Runs, Hash: o.Hash.String(), Archive: o.Archive,
		Paths: o.Paths, Scenarios: o.Scenarios, Cold: o.Cold,
	}
}

// jobs returns the runs in order: scenario by scenario, all paths of a run
// before the next run, so that what changes on the machine meets all paths.
func (o Options) jobs() (jobs []job) {
	for _, scenario := range o.Scenarios {
		for number := 1; number <= o.Runs; number++ {
			for _, path := range o.Paths {
				if scenario == Macro || path != PathRaw {
					jobs = append(jobs, job{scenario, path, number})
				}
			}
		}
	}
	return jobs
}

// run makes one run and files it, valid or not.
func (s *session) run(ctx context.Context, j job) error {
	s.progress.Step(j.name() + " " + j.path)
	run, err := s.measure(ctx, j)
	switch {
	case errors.Is(err, errInvalid):
		s.result.Invalid = append(s.result.Invalid,
			verdict.Invalid{Scenario: j.name(), Path: j.path, Number: j.number, Reason: err.Error()})
		return nil
	case err != nil:
		return err
	}
	s.result.Runs = append(s.result.Runs, run)
	return nil
}

// items returns the warm-up and the measured messages of one run, stamped now.
func (s *session) items(scenario string) (warm, measured []Item, err error) {
	n, w := s.options.Messages, s.options.WarmupMicro
	if scenario == Macro {
		w = s.options.WarmupMacro
	}
	now := time.Now()
	if measured, err = encode(NewWorkload(s.options.Seed, s.options.Profile, PubsubTopic, n, now, 0)); err != nil {
		return nil, nil, err
	}
	warm, err = encode(NewWorkload(s.options.Seed, s.options.Profile, PubsubTopic, w, now, n))
	return warm, measured, err
}

func encode(w Workload) ([]Item, error) {
	items := make([]Item, len(w.Messages))
	for i, m := range w.Messages {
		wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("bench: encode workload: %w", err)
		}
		items[i] = Item{Index: w.First + i, Message: m, Wire: wire}
	}
	return items, nil
}

// window returns how many messages may be in flight. In micro it is one, so that
// the time per message is that of its whole path and nothing else's.
func (s *session) window(j job) int {
	if j.scenario == Micro {
		return 1
	}
	return s.options.Window
}

// target returns what the job drives.
func (s *session) target(j job, all []Item) (Target, error) {
	if j.path == PathRaw {
		return NewRaw(all), nil
	}
	reach, err := relay.ParsePath(j.path)
	if err != nil {
		return nil, err
	}
	o := NodeOptions{Reach: reach, Hash: s.options.Hash, Archive: s.options.Archive, Room: len(all), Logger: s.logger}
	if j.scenario == Micro {
		return NewMicro(o), nil
	}
	return NewMacro(o), nil
}

// measure makes one run: bring the target up, warm it, bring memory to its
// state, drive and measure, verify.
func (s *session) measure(ctx context.Context, j job) (run verdict.Run, err error) {
	clean, err := claimArchive(s.options.Archive)
	if err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, clean()) }()
	warm, measured, err := s.items(j.scenario)
	if err != nil {
		return run, err
	}
	all := slices.Concat(warm, measured)
	target, err := s.target(j, all)
	if err != nil {
		return run, err
	}
	if s.wrap != nil {
		target = s.wrap(target)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if err := target.Start(ctx); err != nil {
		return run, err
	}
	if err := newDriver(target, s.window(j)).drive(ctx, warm); err != nil {
		return run, err
	}
	run = verdict.Run{Scenario: j.name(), Path: j.path, Number: j.number, Messages: len(measured), Published: uint64(len(measured))}
	if err := s.drive(ctx, j, target, measured, &run); err != nil {
		return run, err
	}
	if v, ok := target.(Verifier); ok {
		if err := v.Verify(ctx, all); err != nil {
			return run, err
		}
		run.Verified = true
	}
	return run, nil
}

// drive is the measured part.
func (s *session) drive(ctx context.Context, j job, target Target, items []Item, run *verdict.Run) error {
	before, err := nodes(ctx, target)
	if err != nil {
		return err
	}
	d := newDriver(target, s.window(j))
	meter := NewMeter(len(items)/heapEvery + 2)
	d.delivered = func(n int) {
		if n%heapEvery == 0 {
			meter.Sample(n)
		}
	}
	if s.options.Cold {
		Cold()
	} else {
		Warm(fixedHeap + heapPerPayload*int(s.result.Settings.PayloadBytes))
	}
	meter.Start()
	if err := d.drive(ctx, items); err != nil {
		return err
	}
	after, err := nodes(ctx, target)
	meter.Stop(run)
	if err != nil {
		return err
	}
	run.Nodes = since(before, after)
	fill(run, j, d)
	return checkNodes(run.Nodes, len(items))
}

// limitations says what the result does not show.
func limitations(o Options) []string {
	all := []string{
		"Both nodes of macro share one process, one machine and its loopback device: network latency and loss are not in any time, and memory and CPU are those of the process.",
		"The publisher keeps at most the window in flight and waits for deliveries: latencies are those of a closed loop and hide what an open one would show.",
		"Copies that are not the project's own are not counted: gossipsub's copy of the data field when it decodes an RPC, the transport's, the database driver's and the kernel's.",
		"Bytes read by the verification after each run are outside every measurement.",
	}
	if !counters.Enabled {
		all = append(all, "This build does not count: every count is n/a.")
	}
	if o.Cold {
		all = append(all, "Memory was not warmed: times contain the first touch of every page.")
	}
	return all
}

// heapEvery is the number of deliveries between two samples of the heap.
const heapEvery = 50

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

func fill(run *verdict.Run, j job, d *driver) {
	per := d.arrivals
	if j.scenario == Micro {
		per = d.latencies
	}
	run.NanosPerP50, run.NanosPerP99 = per.P50(), per.P99()
	if j.path != PathRaw {
		p50, p99 := d.latencies.P50(), d.latencies.P99()
		run.LatencyP50, run.LatencyP99 = &p50, &p99
	}
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

// archiveFile returns the file that an archive's name stands for, "" for one
// without a file.
func archiveFile(name string) (string, error) {
	switch {
	case name == "memory", name == "sqlite::memory:":
		return "", nil
	case strings.HasPrefix(name, "sqlite:") && len(name) > len("sqlite:"):
		return strings.TrimPrefix(name, "sqlite:"), nil
	}
	return "", fmt.Errorf("bench: archive %q: want memory, sqlite::memory: or sqlite:FILE", name)
}

// claimArchive makes sure that the archive's file is the run's own: it must not
// exist, and is removed by the returned function.
func claimArchive(name string) (clean func() error, err error) {
	file, err := archiveFile(name)
	if file == "" || err != nil {
		return func() error { return nil }, err
	}
	if _, err := os.Lstat(file); err == nil {
		return nil, fmt.Errorf("bench: archive file %s exists: each run makes it anew and removes it, name another", file)
	}
	return func() error {
		var errs []error
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(file + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}, nil
}
