package selftest

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// unharmed is one unharmed run for all tests.
var unharmed = sync.OnceValues(func() (*selftest, error) {
	s := &selftest{options: Options{Dir: "../.."}, progress: bench.NewProgress(nil, 0)}
	return s, s.unharmed(context.Background())
})

// begun returns a selftest that has made its unharmed run.
func begun(t *testing.T) *selftest {
	t.Helper()
	if !counters.Enabled {
		t.Skip("this build does not count")
	}
	s, err := unharmed()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every harm to an outcome is noticed. What make selftest does besides, injected
// work and compiled mutants, takes minutes.
func TestOutcomes(t *testing.T) {
	s := begun(t)
	g, err := s.try(t.Context(), "outcome", append(s.outcomes(), s.parts()...))
	if err != nil {
		t.Fatal(err)
	}
	if g.tried < 32 || len(g.survived) > 0 {
		t.Errorf("%d tried, survived: %q", g.tried, g.survived)
	}
}

// Runs with nothing wrong are minded by no judge.
func TestHarmless(t *testing.T) {
	s := begun(t)
	g, err := s.try(t.Context(), "nothing wrong", s.harmless())
	if err != nil {
		t.Fatal(err)
	}
	if g.tried != 7 || len(g.survived) > 0 {
		t.Errorf("%d tried, survived: %q", g.tried, g.survived)
	}
}

// One injection of each kind of event is noticed by all judges.
func TestWork(t *testing.T) {
	s := begun(t)
	var some []mutant
	seen := make(map[string]bool)
	for i, m := range s.work() {
		if event := injections(counters.Sites())[i].event; !seen[event] {
			seen[event] = true
			some = append(some, m)
		}
	}
	g, err := s.try(t.Context(), "work", some)
	if err != nil {
		t.Fatal(err)
	}
	if g.tried != len(extraWork) || len(g.survived) > 0 {
		t.Errorf("%d tried, survived: %q", g.tried, g.survived)
	}
}

func TestInjectionsCoverEverything(t *testing.T) {
	type at struct{ node, site, event string }
	seen, paths := make(map[at]bool), make(map[string]bool)
	for _, i := range injections([]string{"a.a", "b.b", "c.c"}) {
		seen[at{i.node, i.site, i.event}] = true
		paths[i.scenario+i.path] = true
	}
	if want := 3 * 3 * len(extraWork); len(seen) != want {
		t.Errorf("%d of %d events, sites and nodes", len(seen), want)
	}
	if len(paths) != 7 {
		t.Errorf("paths are %v, want all 7", paths)
	}
}

// A judge that sees nothing lets the mutant survive, and that fails.
func TestSurvivor(t *testing.T) {
	s := begun(t)
	clean, err := document(s.clean)
	if err != nil {
		t.Fatal(err)
	}
	harmless := mutant{
		name: "nothing is wrong", document: func(context.Context) ([]byte, error) { return clean, nil },
		want: map[string]int{byAcceptance: 1, byGate: 1, byDiff: 1, byLock: 1, byChange: 1},
	}
	g, err := s.try(t.Context(), "harmless", []mutant{harmless})
	if err != nil || g.killed() != 0 {
		t.Fatalf("%+v, %v", g, err)
	}
	r := Report{groups: []group{g}}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil || r.ExitCode() != verdict.ExitFailed {
		t.Errorf("exit code %d, %v", r.ExitCode(), err)
	}
	want := "SURVIVED nothing is wrong: acceptance gives exit code 0, want 1, gate gives exit code 0, want 1, diff gives exit code 0, want 1, lock gives exit code 0, want 1, gate, change gives exit code 0, want 1\n"
	if !strings.Contains(text.String(), want) {
		t.Errorf("report is\n%s\nwant in it\n%s", text.String(), want)
	}
}

func TestExitCode(t *testing.T) {
	killed := []group{{name: "work", tried: 3}}
	for _, tt := range []struct {
		name string
		r    Report
		want int
	}{
		{"all killed", Report{killed, alarms{compared: 1000, times: 10}}, verdict.ExitOK},
		{"nothing tried", Report{}, verdict.ExitUnexamined},
		{"nothing compared", Report{groups: killed}, verdict.ExitUnexamined},
		{"too many alarms", Report{killed, alarms{compared: 1000, times: 11}}, verdict.ExitFailed},
		{"a count differs", Report{killed, alarms{compared: 1000, counts: 1}}, verdict.ExitFailed},
	} {
		if got := tt.r.ExitCode(); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.name, got, tt.want)
		}
	}
}

// The interval is the exact one: values of Clopper and Pearson, "The use of
// confidence or fiducial limits illustrated in the case of the binomial",
// Biometrika 1934, as their formula gives them.
func TestRate(t *testing.T) {
	for _, tt := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 1000, 0, 1 - math.Pow(0.025, 1.0/1000)},
		{1000, 1000, math.Pow(0.025, 1.0/1000), 1},
		{10, 1000, 0.004806, 0.018314},
		{1, 10, 0.002529, 0.445016},
	} {
		r := rateOf(tt.k, tt.n)
		if math.Abs(r.low-tt.low) > 1e-6 || math.Abs(r.high-tt.high) > 1e-6 {
			t.Errorf("%d of %d: %v to %v, want %v to %v", tt.k, tt.n, r.low, r.high, tt.low, tt.high)
		}
	}
}

// Comparing like with like never calls a count worse.
func TestCompareLike(t *testing.T) {
	begun(t)
	here := func(ctx context.Context, runs int) (verdict.Result, error) {
		o := small()
		o.Scenarios, o.Paths, o.Runs = []string{bench.Micro}, []string{"zerocopy"}, runs
		return bench.Run(ctx, o)
	}
	a, err := compareLike(t.Context(), 2, here, func() {})
	if err != nil || a.compared != 2 || a.every != 1 || a.counts != 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

// The source has what the mutants change: compiling them takes minutes and is
// left to make selftest.
func TestSourceMutantsApply(t *testing.T) {
	for _, m := range sourceMutants {
		source, err := os.ReadFile(filepath.Join("../..", m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), m.old); n != 1 {
			t.Errorf("%s: %s has %q %d times, want once", m.name, m.file, m.old, n)
		}
	}
	m := sourceMutants[0]
	m.old = "not in the source"
	if _, err := m.compile(t.Context(), "../..", t.TempDir()); err == nil || !strings.Contains(err.Error(), "0 times") {
		t.Errorf("error %v", err)
	}
}

func TestWithoutTheTag(t *testing.T) {
	if counters.Enabled {
		t.Skip("this build counts")
	}
	if _, err := Run(t.Context(), Options{Comparisons: 1}); !errors.Is(err, ErrUncounted) {
		t.Errorf("error %v", err)
	}
}

func TestOptionsValidate(t *testing.T) {
	for n, ok := range map[int]bool{-1: false, 0: false, 1: true} {
		if err := (Options{Comparisons: n}).Validate(); (err == nil) != ok {
			t.Errorf("%d comparisons: %v", n, err)
		}
	}
}
