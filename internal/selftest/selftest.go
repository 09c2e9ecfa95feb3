package selftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

// maxAlarms is the largest share of comparisons of like with like in which times
// may be called worse.
const maxAlarms = 0.01

// ErrUncounted says that this build does not count.
var ErrUncounted = errors.New("selftest: this build does not count: build with -tags msgpathcounters")

// Options say how much is tried.
type Options struct {
	Dir         string    // directory of this module's source
	Comparisons int       // of like with like
	Progress    io.Writer // shown on it if it is a terminal
}

// Validate reports what is wrong with o.
func (o Options) Validate() error {
	if o.Comparisons < 1 {
		return fmt.Errorf("selftest: options: %d comparisons, want at least 1", o.Comparisons)
	}
	return nil
}

// A Report is what came of it.
type Report struct {
	groups []group
	alarms alarms
}

// group is the mutants of one class.
type group struct {
	name     string
	tried    int
	survived []string // one line each
}

func (g group) killed() int { return g.tried - len(g.survived) }

// mutant is one thing made wrong, and the exit code that each judge must give.
type mutant struct {
	name     string
	document func(context.Context) ([]byte, error)
	want     map[string]int  // by judge
	beside   *verdict.Record // what it is compared with; nil: the unharmed run
}

type selftest struct {
	options  Options
	tmp      string
	clean    verdict.Result
	record   verdict.Record
	twice    verdict.Result // two unharmed runs of each path
	progress *bench.Progress
}

// Run tries everything. The error is for what keeps it from being tried.
func Run(ctx context.Context, o Options) (report Report, err error) {
	if !counters.Enabled {
		return report, ErrUncounted
	}
	if err := o.Validate(); err != nil {
		return report, err
	}
	s := &selftest{options: o}
	if s.tmp, err = os.MkdirTemp("", "selftest"); err != nil {
		return report, fmt.Errorf("selftest: make directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.tmp)) }()
	if err := s.unharmed(ctx); err != nil {
		return report, err
	}
	groups := []struct {
		name    string
		mutants []mutant
	}{{"work", s.work()}, {"outcome", append(s.outcomes(), s.parts()...)}, {"source", s.sources()}, {"nothing wrong", s.harmless()}}
	steps := (o.Comparisons + chunk - 1) / chunk
	for _, g := range groups {
		steps += len(g.mutants)
	}
	s.progress = bench.NewProgress(o.Progress, steps)
	defer s.progress.Done()
	for _, g := range groups {
		tried, err := s.try(ctx, g.name, g.mutants)
		if err != nil {
			return report, err
		}
		report.groups = append(report.groups, tried)
	}
	report.alarms, err = compareLike(ctx, o.Comparisons, s.inProcess, func() { s.progress.Step("like with like") })
	return report, err
}

// small returns the options of runs that cost little.
func small() bench.Options {
	o := bench.DefaultOptions()
	o.Messages, o.WarmupMicro, o.WarmupMacro, o.Runs, o.Cold = 20, 2, 2, 1, true
	o.Profile = bench.Profile{Sizes: []int{1000}, Mix: []int{100}}
	return o
}

// smallFlags are the flags of msgpath bench that come to small, but for the
// number of runs.
var smallFlags = []string{"--cold", "--messages=20", "--warmup=2", "--profile=1kB@100"}

// unharmed makes the run that all judges must accept.
func (s *selftest) unharmed(ctx context.Context) (err error) {
	if s.clean, err = bench.Run(ctx, small()); err != nil {
		return err
	}
	text, err := document(s.clean)
	if err != nil {
		return err
	}
	if s.record, _, err = read(text); err != nil {
		return err
	}
	two := small()
	two.Runs = 2
	if s.twice, err = bench.Run(ctx, two); err != nil {
		return err
	}
	for _, j := range judges {
		if j.name == byMemory { // of another workload
			continue
		}
		if code, err := j.judge(text, s.record); err != nil || code != verdict.ExitOK {
			return fmt.Errorf("selftest: %s gives exit code %d for an unharmed run: %w", j.name, code, err)
		}
	}
	return nil
}

// work returns a mutant for each injection.
func (s *selftest) work() (all []mutant) {
	for _, i := range injections(counters.Sites()) {
		all = append(all, mutant{
			name: i.String(),
			document: func(ctx context.Context) ([]byte, error) {
				extra, err := i.extra()
				if err != nil {
					return nil, err
				}
				return s.with(ctx, i.scenario, i.path, extra)
			},
			want: map[string]int{
				byAcceptance: verdict.ExitFailed, byGate: verdict.ExitFailed,
				byDiff: verdict.ExitFailed, byLock: verdict.ExitFailed, byChange: verdict.ExitFailed,
			},
		})
	}
	return all
}

// with runs one path with extra work, besides unharmed runs of the others.
func (s *selftest) with(ctx context.Context, scenario, path string, extra bench.Work) ([]byte, error) {
	o := small()
	o.Scenarios, o.Paths, o.Extra = []string{scenario}, []string{path}, extra
	return s.run(ctx, o)
}

func (s *selftest) run(ctx context.Context, o bench.Options) ([]byte, error) {
	result, err := bench.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	return document(s.besides(result))
}

// harmless returns runs of each path with a call where the mutants have work,
// which no judge may mind.
func (s *selftest) harmless() (all []mutant) {
	for _, scenario := range []string{bench.Micro, bench.Macro} {
		for _, path := range pathsOf(scenario) {
			all = append(all, mutant{
				name: fmt.Sprintf("%s %s, unharmed", scenario, path),
				document: func(ctx context.Context) ([]byte, error) {
					return s.with(ctx, scenario, path, func(string, counters.Set, []byte) {})
				},
				want: map[string]int{byAcceptance: 0, byGate: 0, byDiff: 0, byLock: 0, byChange: 0},
			})
		}
	}
	return all
}

// parts returns the mutants of which only one run of two is harmed.
func (s *selftest) parts() []mutant {
	beside := verdict.NewRecord("two runs", s.twice)
	second := func(name string, want map[string]int, change func(*verdict.Run)) mutant {
		return mutant{
			name: name, want: want, beside: &beside,
			document: func(context.Context) ([]byte, error) {
				return harm(s.twice, func(r *verdict.Result) {
					for i := range r.Runs {
						if r.Runs[i].Number == 2 {
							change(&r.Runs[i])
						}
					}
				})
			},
		}
	}
	const failed, invalid = verdict.ExitFailed, verdict.ExitInvalid
	return []mutant{
		second("one run of two is not counted",
			map[string]int{byAcceptance: invalid, byGate: invalid, byDiff: invalid, byLock: invalid, byChange: invalid},
			func(run *verdict.Run) {
				for i := range run.Nodes {
					run.Nodes[i].Sites, run.Nodes[i].Lines = nil, nil
				}
			}),
		second("one run of two decodes once more",
			map[string]int{byAcceptance: failed, byGate: failed, byDiff: failed, byLock: invalid, byChange: failed},
			func(run *verdict.Run) {
				for i := range run.Nodes[0].Sites {
					run.Nodes[0].Sites[i].Decodes += uint64(run.Messages)
				}
			}),
	}
}

// besides returns a result with the unharmed runs that it lacks.
func (s *selftest) besides(r verdict.Result) verdict.Result {
	has := func(run verdict.Run) bool {
		return slices.ContainsFunc(r.Runs, func(own verdict.Run) bool {
			return own.Scenario == run.Scenario && own.Path == run.Path
		})
	}
	for _, run := range s.clean.Runs {
		if !has(run) {
			r.Runs = append(r.Runs, run)
		}
	}
	return r
}

// outcomes returns the mutants of what a run came to.
func (s *selftest) outcomes() []mutant {
	of := func(name string, want map[string]int, make func() ([]byte, error)) mutant {
		return mutant{name: name, document: func(context.Context) ([]byte, error) { return make() }, want: want}
	}
	const ok, failed, invalid, nothing = verdict.ExitOK, verdict.ExitFailed, verdict.ExitInvalid, verdict.ExitUnexamined
	na := map[string]int{byAcceptance: invalid, byGate: invalid, byDiff: invalid, byLock: invalid, byChange: invalid}
	all := []mutant{
		{name: "a message is lost", document: s.lost, want: na},
		of("macro did not run", map[string]int{byGate: nothing, byDiff: failed, byLock: failed}, func() ([]byte, error) {
			return missing(s.clean, func(run verdict.Run) bool { return run.Scenario == bench.Macro })
		}),
		of("one path did not run", map[string]int{byGate: nothing, byDiff: failed, byLock: failed}, func() ([]byte, error) {
			return missing(s.clean, func(run verdict.Run) bool { return run.Path == "envelope" })
		}),
		of("every node counted nothing", na, func() ([]byte, error) { return zeroed(s.clean) }),
		of("a run was not verified", na, func() ([]byte, error) {
			return harm(s.clean, func(r *verdict.Result) { r.Verified, r.Runs[0].Verified = false, false })
		}),
		of("the build has no tag", na, func() ([]byte, error) { return untagged(s.clean) }),
		of("the build has no tag and says 0", na, func() ([]byte, error) { return untaggedZero(s.clean) }),
	}
	for _, place := range counting(s.clean) {
		all = append(all, of(fmt.Sprintf("node %s counts nothing at %s", place[0], place[1]),
			map[string]int{byAcceptance: failed, byGate: failed, byDiff: ok, byLock: failed},
			func() ([]byte, error) { return deleted(s.clean, place[0], place[1]) }))
	}
	for _, site := range s.clean.Environment.Sites {
		want := map[string]int{byDiff: failed}
		if slices.ContainsFunc(counting(s.clean), func(p [2]string) bool { return p[1] == site }) {
			want = map[string]int{byAcceptance: failed, byGate: failed, byDiff: failed, byLock: failed}
		}
		all = append(all, of("site "+site+" has another name", want, func() ([]byte, error) { return renamed(s.clean, site) }))
	}
	return all
}

// lost runs a pair of nodes that loses a message, besides the others.
func (s *selftest) lost(ctx context.Context) ([]byte, error) {
	o := small()
	o.Scenarios, o.Paths = []string{bench.Macro}, append(bench.Paths(), pathLossy)
	o.Targets = map[string]func() bench.Target{pathLossy: newLossy}
	return s.run(ctx, o)
}

// sources returns the mutants that are compiled.
func (s *selftest) sources() (all []mutant) {
	for _, m := range sourceMutants {
		want := make(map[string]int)
		for _, name := range m.judges {
			want[name] = verdict.ExitFailed
		}
		arguments := []string{"bench", "all", "--runs=1"}
		if !slices.Contains(m.judges, byMemory) { // whose budget is for the default workload
			arguments = append(arguments, smallFlags...)
		}
		all = append(all, mutant{name: m.name, want: want, document: func(ctx context.Context) ([]byte, error) {
			return m.run(ctx, s.options.Dir, s.tmp, arguments)
		}})
	}
	return all
}

// try asks every judge that has an opinion on it about each mutant.
func (s *selftest) try(ctx context.Context, name string, mutants []mutant) (group, error) {
	g := group{name: name}
	for _, m := range mutants {
		s.progress.Step(name + ": " + m.name)
		text, err := m.document(ctx)
		if err != nil {
			return g, fmt.Errorf("selftest: %s: %w", m.name, err)
		}
		g.tried++
		if wrong := s.wrong(text, m); len(wrong) > 0 {
			g.survived = append(g.survived, fmt.Sprintf("%s: %s", m.name, strings.Join(wrong, ", ")))
		}
	}
	return g, ctx.Err()
}

// wrong returns the judges whose exit code is not what it must be.
func (s *selftest) wrong(text []byte, m mutant) (wrong []string) {
	clean := s.record
	if m.beside != nil {
		clean = *m.beside
	}
	for _, j := range judges {
		expected, asked := m.want[j.name]
		if !asked {
			continue
		}
		code, err := j.judge(text, clean)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("%s: %v", j.name, err))
		case code != expected:
			wrong = append(wrong, fmt.Sprintf("%s gives exit code %d, want %d", j.name, code, expected))
		}
	}
	return wrong
}

// ExitCode returns 0 if every mutant was killed and there are no more false
// alarms than allowed, 1 if not, and 4 if nothing was tried.
func (r Report) ExitCode() int {
	tried := 0
	for _, g := range r.groups {
		tried += g.tried
		if len(g.survived) > 0 {
			return verdict.ExitFailed
		}
	}
	switch {
	case tried == 0 || r.alarms.compared == 0:
		return verdict.ExitUnexamined
	case r.alarms.counts > 0, float64(r.alarms.times) > maxAlarms*float64(r.alarms.compared):
		return verdict.ExitFailed
	}
	return verdict.ExitOK
}

// WriteText writes how many mutants were tried and killed, which survived, and
// how often like was called worse than like.
func (r Report) WriteText(w io.Writer) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = 0
	t.AppendHeader(table.Row{"mutants", "tried", "killed"})
	for _, g := range r.groups {
		t.AppendRow(table.Row{g.name, g.tried, g.killed()})
	}
	var b strings.Builder
	b.WriteString(t.Render() + "\n")
	for _, g := range r.groups {
		for _, line := range g.survived {
			fmt.Fprintf(&b, "SURVIVED %s\n", line)
		}
	}
	if n := r.alarms.compared; n > 0 {
		times := rateOf(r.alarms.times, n)
		fmt.Fprintf(&b, "like with like, %d comparisons, %d of them of all paths: counts worse in %d\n",
			n+r.alarms.every, r.alarms.every, r.alarms.counts)
		fmt.Fprintf(&b, "%d of them with %d + %d runs: times or memory worse in %d, %.2f %% (95 %% interval %.2f to %.2f %%, at most %g %%)\n",
			n, samples, samples, r.alarms.times, 100*times.share, 100*times.low, 100*times.high, 100*maxAlarms)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
