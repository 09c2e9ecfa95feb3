package bench

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

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
	Paths       []string // of Paths and Targets
	Messages    int      // measured messages a run
	WarmupMicro int      // messages before them, not counted
	WarmupMacro int
	Seed        uint64
	Profile     Profile
	Corpus      *Corpus // messages in place of those of Seed and Profile; nil: none
	Window      int     // most messages in flight in macro; in micro it is one
	Runs        int     // of each scenario on each path
	Hash        message.Algorithm
	Archive     string // "memory", "sqlite::memory:", "sqlite:FILE" or Discard; FILE is made for each run and removed
	Cold        bool   // start every run with unmapped memory

	// FilterPeers are light peers, each a host of its own, to which the receiver pushes
	// each message, and which must have got each once before it counts as delivered.
	// With them a scenario has a name of its own. 0: none.
	FilterPeers int

	// Rate is how many messages a second are sent in macro, whatever is in flight: an
	// open loop, in which Window is no limit. The queues on the path are: what one of
	// them drops makes a run invalid, so that a rate and a stall must fit into them.
	// 0: a closed loop.
	Rate float64

	// Histograms collects the latencies of an open loop. Nil: they are in the result
	// alone.
	Histograms *Histograms

	// Targets are further paths of macro by their names: an adopter's relay, say.
	// Each run makes its target anew. Messages of a Corpus they can tell apart by
	// Numbers.
	Targets map[string]func() Target

	// Extra is work that each node does besides, for each message that it delivered
	// to its application: for a test of what notices it. Nil: none.
	Extra Work

	// measured is called right before the measured part of each run and returns what
	// is called right after it: for a profile. Nil: nothing.
	measured func() (stop func(), err error)

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
func (o Options) Validate() error { return errors.Join(o.validatePaths(), o.validateRun()) }

// validatePaths reports what is wrong with what is to be run.
func (o Options) validatePaths() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("bench: options: "+format, args...)) }
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
	known := slices.Concat(Paths(), slices.Sorted(maps.Keys(o.Targets)))
	for i, p := range o.Paths {
		if !slices.Contains(known, p) {
			bad("path %q: want %s", p, strings.Join(known, ", "))
		}
		if slices.Contains(o.Paths[:i], p) {
			bad("path %q is given twice", p)
		}
	}
	if o.FilterPeers < 0 || o.FilterPeers > MaxFilterPeers {
		bad("%d filter peers: want 0 to %d", o.FilterPeers, MaxFilterPeers)
	}
	for _, p := range o.Paths {
		if _, err := relay.ParsePath(p); err != nil && o.FilterPeers > 0 {
			bad("path %q with %d filter peers: it has no filter", p, o.FilterPeers)
		}
	}
	for _, p := range Paths() {
		if o.Targets[p] != nil {
			bad("target %q has the name of a path of this project", p)
		}
	}
	if len(o.jobs()) == 0 && len(o.Paths) > 0 && len(o.Scenarios) > 0 && o.Runs > 0 {
		bad("path %s has no micro: it is a network without a node", strings.Join(o.Paths, ", "))
	}
	return errors.Join(errs...)
}

// validateRun reports what is wrong with how it is to be run.
func (o Options) validateRun() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("bench: options: "+format, args...)) }
	if err := o.validateWorkload(); err != nil {
		bad("%w", err)
	}
	if o.Messages < 1 || o.Runs < 1 || o.Window < 1 || o.WarmupMicro < 0 || o.WarmupMacro < 0 {
		bad("messages %d, runs %d, window %d must be at least 1, warm-up %d and %d at least 0",
			o.Messages, o.Runs, o.Window, o.WarmupMicro, o.WarmupMacro)
	}
	if o.Window > relay.DefaultSubscription {
		bad("window %d: the queues on the path hold %d messages, and what a full queue drops makes a run invalid", o.Window, relay.DefaultSubscription)
	}
	if err := checkArchive(o.Archive); err != nil {
		bad("%w", err)
	}
	if err := o.validateRate(); err != nil {
		bad("%w", err)
	}
	return errors.Join(errs...)
}

func (o Options) validateWorkload() error {
	if o.Corpus != nil {
		return o.Corpus.validate(o.Messages)
	}
	if err := o.Profile.Validate(); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return nil
}

// payloads yields the sizes of the payloads of n messages, in bytes, and how many
// messages have each.
func (o Options) payloads(n int) iter.Seq2[int, int] {
	if o.Corpus != nil {
		return o.Corpus.payloads(n)
	}
	return o.Profile.payloads(n)
}

// longest is how long the messages of one run may be scheduled for.
const longest = 24 * time.Hour

func (o Options) validateRate() error {
	switch seconds := float64(o.Messages) / o.Rate; {
	case o.Rate == 0:
		return nil
	case math.IsNaN(o.Rate) || math.IsInf(o.Rate, 0) || o.Rate < 0:
		return fmt.Errorf("rate %v: want messages a second, or 0 for a closed loop", o.Rate)
	case slices.Contains(o.Scenarios, Micro):
		return fmt.Errorf("rate %v: micro has one message in flight by what it is: an open loop is for macro alone", o.Rate)
	case seconds > longest.Seconds():
		return fmt.Errorf("rate %v: %d messages take more than %v", o.Rate, o.Messages, longest)
	}
	return nil
}

// beside starts what goes on beside the measured part of a run.
func (o Options) beside() (stop func(), err error) {
	if o.measured == nil {
		return func() {}, nil
	}
	return o.measured()
}

func (o Options) settings() verdict.Settings {
	s := verdict.Settings{
		Messages: o.Messages, WarmupMicro: o.WarmupMicro, WarmupMacro: o.WarmupMacro,
		Seed: o.Seed, Profile: o.Profile.String(), PayloadBytes: uint64(payloadBytes(o.Profile.payloads(o.Messages))),
		Window: o.Window, Runs: o.Runs, Hash: o.Hash.String(), Archive: o.Archive,
		Paths: o.Paths, Scenarios: o.Scenarios, Cold: o.Cold, Rate: o.Rate, FilterPeers: o.FilterPeers,
	}
	if o.Corpus != nil {
		o.Corpus.settings(&s, o.Messages)
	}
	return s
}

// limitations says what the result does not show.
func limitations(o Options) []string {
	all := []string{
		"Both nodes of macro share one process, one machine and its loopback device: network latency and loss are not in any time, and memory and CPU are those of the process.",
		"The publisher keeps at most the window in flight and waits for deliveries: latencies are those of a closed loop and hide what an open one would show.",
	}
	if o.Rate > 0 {
		all[1] = "Messages are sent at intended times by a goroutine of the process that is measured, which wakes some 0.1 ms late by itself, and more where the machine is busy: latencies from the intended time contain that, those from the send do not contain what a message waited for before it was sent."
	}
	if o.FilterPeers > 0 {
		all = append(all, fmt.Sprintf("%d light peers share the process: times, memory and CPU contain what they do with each message, which is to decode it and to compare it with what was published.", o.FilterPeers))
	}
	if !counters.Enabled {
		all = append(all, "This build does not count: every count is n/a.")
	}
	if o.Corpus != nil {
		all = append(all, o.Corpus.Limitations(o.Messages)...)
	}
	if o.Cold {
		all = append(all, "Memory was not warmed: times contain the first touch of every page.")
	}
	return all
}
