package bench

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/mem"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

// session is one call of Run.
type session struct {
	options  Options
	result   verdict.Result
	heap     int // bytes of Go heap mapped before each run
	progress *Progress
	logger   *slog.Logger
}

// Run runs every scenario on every path, interleaved over paths, and returns
// what was measured. A run that is not valid, or that could not be made, is in
// the result's Invalid and does not keep others from running. The error is for
// options that are wrong, and for the end of ctx.
func Run(ctx context.Context, o Options) (verdict.Result, error) {
	if err := o.Validate(); err != nil {
		return verdict.Result{}, err
	}
	return runJobs(ctx, o, o.jobs())
}

// runJobs makes the runs of one session.
func runJobs(ctx context.Context, o Options, jobs []job) (verdict.Result, error) {
	s, err := newSession(o, jobs)
	if err != nil {
		return verdict.Result{}, err
	}
	s.emptyHistograms()
	s.progress = NewProgress(o.Progress, len(jobs))
	defer s.progress.Done()
	for _, j := range jobs {
		s.progress.Step(j.name() + " " + j.Name)
		if err := s.run(ctx, j); err != nil {
			return verdict.Result{}, fmt.Errorf("bench: run %s of path %s: %w", j.name(), j.Name, err)
		}
	}
	unverified := slices.ContainsFunc(s.result.Runs, func(r verdict.Run) bool { return !r.Verified })
	s.result.Distributions = s.options.Histograms.Distributions()
	s.result.Verified = len(s.result.Invalid) == 0 && len(s.result.Runs) > 0 && !unverified
	return s.result, nil
}

func newSession(o Options, jobs []job) (*session, error) {
	for _, j := range jobs {
		if _, err := claimArchive(cmp.Or(j.Archive, o.Archive)); err != nil {
			return nil, err
		}
	}
	environment, err := ReadEnvironment(o.CommandLine, strings.ToLower(o.LogLevel.String()))
	if err != nil {
		return nil, err
	}
	s := &session{options: o, logger: slog.New(slog.DiscardHandler)}
	if o.LogTo != nil {
		s.logger = slog.New(slog.NewTextHandler(o.LogTo, &slog.HandlerOptions{Level: o.LogLevel}))
	}
	s.result = verdict.Result{
		Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion, MeasuredAt: time.Now().UTC(),
		Environment: environment, Settings: o.settings(), Limitations: limitations(o),
		Runs: []verdict.Run{}, Invalid: []verdict.Invalid{},
	}
	if !o.Cold {
		s.prepareMemory(jobs)
	}
	return s, nil
}

// What a run is thought to need at its peak, and is mapped before it.
const (
	heapPerPayload = 8 // Go heap, in payloads of all measured messages
	archivePage    = sqlite.MemoryPageBytes
	fixedPages     = 2048
	rowBytes       = 1024 // of an archive, beside the payload
)

// fixedHeap is what a run needs beside its payloads. Tests map less, which under the
// race detector takes most of their time.
var fixedHeap = 64 << 20

// prepareMemory decides how much heap is mapped before each run, at most half of
// what the machine has to give, and maps the pages of an archive in memory once
// for all runs. What it cannot do is a limitation of the result.
func (s *session) prepareMemory(jobs []job) {
	var payload int64
	pages := 0
	for _, j := range jobs {
		payload = max(payload, payloadBytes(s.options.payloads(s.count(j))))
		if s.archive(j) == DefaultArchive {
			pages = max(pages, archivePages(s.options.payloads(s.count(j)+s.warmup(j))))
		}
	}
	s.heap = fixedHeap + heapPerPayload*int(payload)
	if free, err := mem.VirtualMemory(); err == nil && s.heap > int(free.Available/2) {
		s.result.Limitations = append(s.result.Limitations, fmt.Sprintf(
			"Only %d MB of heap were mapped before each run, not %d: the machine has no more to give.", free.Available/2e6, s.heap/1e6))
		s.heap = int(free.Available / 2)
	}
	s.result.Limitations = append(s.result.Limitations, reserveArchive(pages)...)
}

// reserveArchive maps the pages of an archive in memory unless so many are mapped,
// and returns the limitation of a result for which it could not.
func reserveArchive(pages int) (limitations []string) {
	if pages <= reservedPages() {
		return nil
	}
	if err := ReservePages(archivePage, pages); err != nil {
		return []string{fmt.Sprintf("Memory of the archive was not mapped beforehand: %v.", err)}
	}
	return nil
}

// archivePages returns how many pages hold messages with such payloads, of which
// the large ones lie beside them.
func archivePages(payloads iter.Seq2[int, int]) int {
	bytes := 0
	for size, messages := range payloads {
		bytes += rowBytes * messages
		if size < sqlite.InlineBytes {
			bytes += messages * size * 11 / 10
		}
	}
	return bytes/archivePage + fixedPages
}

// run makes one run and files it, valid or not.
func (s *session) run(ctx context.Context, j job) error {
	run, err := s.measure(ctx, j)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.result.Invalid = append(s.result.Invalid,
			verdict.Invalid{Scenario: j.name(), Path: j.Name, Number: j.number, Reason: err.Error()})
		return nil
	}
	s.result.Runs = append(s.result.Runs, run)
	return nil
}

// messages returns the measured messages of one run and behind them those of
// its warm-up, stamped now unless they are recorded ones.
func (s *session) messages(j job) []*pb.WakuMessage {
	n, now := s.count(j), time.Now()
	if s.options.Corpus != nil {
		return s.options.Corpus.Messages(n + s.warmup(j))
	}
	return slices.Concat(
		NewWorkload(s.options.Seed, s.options.Profile, PubsubTopic, n, now, 0).Messages,
		NewWorkload(s.options.Seed, s.options.Profile, PubsubTopic, s.warmup(j), now, n).Messages,
	)
}

func (s *session) warmup(j job) int {
	if j.Scenario == Micro {
		return s.options.WarmupMicro
	}
	return s.options.WarmupMacro
}

// window returns how many messages may be in flight. In micro it is one, so that
// the time per message is that of its whole path and nothing else's.
func (s *session) window(j job) int {
	if j.Scenario == Micro {
		return 1
	}
	return s.options.Window
}

func encode(m *pb.WakuMessage) ([]byte, error) {
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("bench: encode message: %w", err)
	}
	return wire, nil
}

// target returns what the job drives.
func (s *session) target(j job) Target {
	return j.Target(NodeOptions{Hash: s.options.Hash, Archive: s.archive(j), Logger: s.logger, Extra: s.options.Extra, FilterPeers: j.filterPeers})
}
