package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/msgpath/msgpath/counters"
)

// Scenario is what the runs are called.
const Scenario = "echo"

// Paths are the variants of the relay: "twice" decodes and hashes a received note
// in the validator and again in the handler; "once" hands on what the validator
// found.
var Paths = []string{"twice", "once"}

// All runs the load once on each path and returns the result. A run that was
// invalid is in it and not an error.
func All(ctx context.Context, load Load) (Result, error) {
	r := newResult(load)
	for _, path := range Paths {
		run, err := one(ctx, path, load)
		switch {
		case errors.Is(err, ErrInvalid):
			r.Invalid = append(r.Invalid, Invalid{Scenario, path, 1, err.Error()})
		case err != nil:
			return r, err
		default:
			r.Runs = append(r.Runs, run)
		}
	}
	r.Verified = len(r.Invalid) == 0
	return r, nil
}

// one runs the load on one path, through nodes of its own.
func one(ctx context.Context, path string, load Load) (run Run, err error) {
	pair := NewPair(path == "once", load.Window)
	defer func() { err = errors.Join(err, pair.Close()) }()
	if err := pair.Start(ctx); err != nil {
		return Run{}, err
	}
	before := usage()
	start := time.Now()
	times, err := Drive(ctx, pair, load)
	if err != nil {
		return Run{}, err
	}
	run = Run{
		Scenario: Scenario, Path: path, Number: 1, Messages: load.Notes, Published: uint64(load.Notes),
		WallNanos: int64(time.Since(start)), Heap: []Heap{}, Verified: true,
	}
	run.resources(before, usage())
	run.latencies(times)
	run.Nodes = []Node{
		{Name: "A", Role: "publisher", Sites: sites(pair.A), Lines: counters.Lines(pair.A), Delivered: uint64(load.Notes)},
		{Name: "B", Role: "receiver", Sites: sites(pair.B), Lines: counters.Lines(pair.B), Delivered: uint64(load.Notes)},
	}
	return run, nil
}

// sites returns what a node counted: nil where it does not count, and an empty
// slice where nothing happened.
func sites(set counters.Set) []counters.SiteCounts {
	if !counters.Enabled {
		return nil
	}
	return append([]counters.SiteCounts{}, counters.Load(set)...)
}

// A reading is what the process has used so far.
type reading struct {
	memory runtime.MemStats
	cpu    int64 // ns
}

func usage() (r reading) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err == nil {
		r.cpu = u.Utime.Nano() + u.Stime.Nano()
	}
	runtime.ReadMemStats(&r.memory)
	return r
}

func (run *Run) resources(before, after reading) {
	run.CPUNanos = after.cpu - before.cpu
	run.AllocBytes = after.memory.TotalAlloc - before.memory.TotalAlloc
	run.Allocs = after.memory.Mallocs - before.memory.Mallocs
	run.GCCollect = after.memory.NumGC - before.memory.NumGC
	run.LiveDelta = int64(after.memory.HeapAlloc) - int64(before.memory.HeapAlloc)
	run.PeakHeap = max(before.memory.HeapAlloc, after.memory.HeapAlloc)
}

// latencies sets the percentiles of the round trips.
func (run *Run) latencies(times []time.Duration) {
	slices.Sort(times)
	p50, p99 := int64(times[len(times)/2]), int64(times[len(times)*99/100])
	run.NanosPerP50, run.NanosPerP99, run.LatencyP50, run.LatencyP99 = p50, p99, &p50, &p99
}

func newResult(load Load) Result {
	return Result{
		Kind: "msgpath-bench", SchemaVersion: 2, MeasuredAt: time.Now().UTC(),
		Environment: Environment{
			Go: runtime.Version(), GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, CPU: cpuModel(),
			Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), Kernel: "unknown",
			Modules: map[string]string{}, Tags: tags(), Counting: counters.Enabled, Sites: counters.Sites(),
			Commit: "unknown", Branch: "unknown", CommandLine: os.Args, LogLevel: "none",
			GOGC: "unknown", GOMEMLIMIT: "unknown",
		},
		Settings: Settings{
			Messages: load.Notes, Profile: fmt.Sprintf("%dB@100", load.Body), PayloadBytes: uint64(load.Notes * load.Body),
			Window: load.Window, Runs: 1, Hash: "sha256", Archive: "none", Paths: Paths, Scenarios: []string{Scenario},
		},
		Runs: []Run{}, Invalid: []Invalid{},
		Limitations: []string{"One run a path, without warm-up: times say little."},
	}
}

func tags() []string {
	if counters.Enabled {
		return []string{"msgpathcounters"}
	}
	return []string{}
}

// cpuModel returns the name that Linux gives the processor.
func cpuModel() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
