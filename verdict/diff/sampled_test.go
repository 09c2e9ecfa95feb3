package diff

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/msgpath/msgpath/verdict"
)

// slower returns a result whose macro runs take longer by a factor.
func slower(runs int, factor float64) verdict.Result {
	return edit(fixture(runs), verdict.Macro, func(run *verdict.Run) {
		run.WallNanos = int64(float64(run.WallNanos) * factor)
		run.CPUNanos = int64(float64(run.CPUNanos) * factor)
	})
}

func TestTimes(t *testing.T) {
	otherCPU := slower(8, 2)
	otherCPU.Environment.CPU = "Apple M4"
	otherTags := slower(8, 2)
	otherTags.Environment.Tags = []string{"msgpathcounters", "race"}
	for name, tt := range map[string]struct {
		before, after verdict.Result
		answer        Answer
		reason        string
		strict        int // exit code
	}{
		"twice as slow":            {fixture(8), slower(8, 2), Worse, "p = 0.001, corrected for 8 comparisons", 1},
		"twice as fast":            {slower(8, 2), fixture(8), Better, "p = 0.001, corrected for 8 comparisons", 0},
		"the same":                 {fixture(8), fixture(8), Inconclusive, "within the noise floor of", 0},
		"slower, within the noise": {fixture(8), slower(8, 1.003), Inconclusive, "within the noise floor of", 0},
		"one sample":               {fixture(1), slower(1, 100), Insufficient, "1+1 samples cannot decide among 8 comparisons; 7+7 could", 0},
		"three samples":            {fixture(3), slower(3, 100), Insufficient, "3+3 samples cannot decide among 8 comparisons; 7+7 could", 0},
		"five samples":             {fixture(5), slower(5, 100), Insufficient, "5+5 samples cannot decide among 8 comparisons; 7+7 could", 0},
		"many against few":         {fixture(10), slower(5, 100), Worse, "corrected for 8 comparisons", 1},
		"another CPU":              {fixture(8), otherCPU, NotComparable, "cpu is AMD EPYC BEFORE, Apple M4 AFTER", 0},
		"other tags":               {fixture(8), otherTags, NotComparable, "tags is msgpathcounters BEFORE, msgpathcounters,race AFTER", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := Compare(record(tt.before), record(tt.after), Options{StrictTimes: true})
			r := row(t, c, "macro zerocopy all", "msg/s")
			if r.Answer != tt.answer || !strings.Contains(r.Reason, tt.reason) {
				t.Errorf("%s: %s, want %s: %s", r.Answer, r.Reason, tt.answer, tt.reason)
			}
			if r.Delta == nil || r.Percent == nil {
				t.Error("no difference is given")
			}
			if c.ExitCode != tt.strict || c.Equal != c.Counts || c.Counts == 0 {
				t.Errorf("strict: exit code %d, want %d; %d of %d counts are equal", c.ExitCode, tt.strict, c.Equal, c.Counts)
			}
			if c := Compare(record(tt.before), record(tt.after), Options{}); c.ExitCode != 0 {
				t.Errorf("advisory: exit code %d, want 0", c.ExitCode)
			}
		})
	}
}

// Without a collector times and memory are others; the machine alone leaves memory
// as it is. Counts compare all the same.
func TestOtherConditions(t *testing.T) {
	for name, tt := range map[string]struct {
		change       func(*verdict.Environment)
		time, memory Answer
	}{
		"no collector": {func(e *verdict.Environment) { e.GOGC = "off" }, NotComparable, NotComparable},
		"a limit":      {func(e *verdict.Environment) { e.GOMEMLIMIT = "1GiB" }, NotComparable, NotComparable},
		"another CPU":  {func(e *verdict.Environment) { e.CPU = "Apple M4" }, NotComparable, Same},
		"another Go":   {func(e *verdict.Environment) { e.Go = "go1.25" }, NotComparable, NotComparable},
	} {
		t.Run(name, func(t *testing.T) {
			after := fixture(8)
			tt.change(&after.Environment)
			c := Compare(record(fixture(8)), record(after), Options{StrictTimes: true})
			if r := row(t, c, "macro zerocopy all", "msg/s"); r.Answer != tt.time {
				t.Errorf("msg/s: %s: %s, want %s", r.Answer, r.Reason, tt.time)
			}
			if r := row(t, c, "macro zerocopy all", "allocs/msg"); r.Answer != tt.memory {
				t.Errorf("allocs/msg: %s: %s, want %s", r.Answer, r.Reason, tt.memory)
			}
			if c.ExitCode != 0 || c.Equal != c.Counts || c.Counts == 0 {
				t.Errorf("exit code %d; %d of %d counts are equal", c.ExitCode, c.Equal, c.Counts)
			}
		})
	}
}

// What only some of the files say of the machine is not taken for the same.
func TestUnsaidMachine(t *testing.T) {
	before := lines(t, "BenchmarkA 1 100 ns/op\n")
	after := lines(t, "cpu: AMD EPYC\nBenchmarkA 1 100 ns/op\n")
	r := row(t, Compare(before, after, Options{}), "A - all", "ns/op")
	if r.Answer != NotComparable || r.Reason != "cpu is not said BEFORE, AMD EPYC AFTER" {
		t.Errorf("%s: %s", r.Answer, r.Reason)
	}
	if r := row(t, Compare(before, before, Options{}), "A - all", "ns/op"); r.Answer != Insufficient {
		t.Errorf("neither says: %s", r.Answer)
	}
}

// Memory that is the same in every run is the same, without a test.
func TestConstantMemory(t *testing.T) {
	c := Compare(record(fixture(2)), record(fixture(2)), Options{})
	if r := row(t, c, "macro zerocopy all", "allocs/msg"); r.Answer != Same {
		t.Errorf("%s: %s", r.Answer, r.Reason)
	}
	if r := row(t, c, "macro zerocopy all", "peak-heap-B"); r.Answer != NotJudged || r.Judged {
		t.Errorf("peak heap: %s", r.Answer)
	}
}

// Allocations that a file marks as exact are a count.
func TestExactAllocations(t *testing.T) {
	const exact = "Unit allocs/op assume=exact\n"
	c := Compare(lines(t, exact+"BenchmarkA 1 2 allocs/op\n"), lines(t, exact+"BenchmarkA 1 3 allocs/op\n"), Options{})
	wantCauses(t, c, "WORSE: A +1.000 allocs/op")
	c = Compare(lines(t, "BenchmarkA 1 2 allocs/op\n"), lines(t, "BenchmarkA 1 3 allocs/op\n"), Options{})
	if r := row(t, c, "A - all", "allocs/op"); r.Answer != Insufficient || c.ExitCode != 4 {
		t.Errorf("not marked: %s, exit code %d", r.Answer, c.ExitCode)
	}
}

// All units of another project's benchmarks are judged.
func TestForeignTimes(t *testing.T) {
	var before, after strings.Builder
	for i := range 8 {
		fmt.Fprintf(&before, "BenchmarkA 1 %d ns/op %d reqs/s\n", 1000+i, 500+i)
		fmt.Fprintf(&after, "BenchmarkA 1 %d ns/op %d reqs/s\n", 2000+i, 900+i)
	}
	c := Compare(lines(t, before.String()), lines(t, after.String()), Options{})
	if ns, rate := row(t, c, "A - all", "ns/op"), row(t, c, "A - all", "reqs/s"); ns.Answer != Worse || rate.Answer != Better {
		t.Errorf("ns/op is %s, reqs/s is %s, want worse and better", ns.Answer, rate.Answer)
	}
	if c.Causes[0].Advisory != true || c.ExitCode != 0 {
		t.Errorf("cause %+v, exit code %d, want advisory, 0", c.Causes[0], c.ExitCode)
	}
}

// Sides that were not measured by turns are told so.
func TestByTurns(t *testing.T) {
	at := func(minutes ...int) verdict.Record {
		var r verdict.Record
		for _, m := range minutes {
			result := fixture(1)
			result.MeasuredAt = result.MeasuredAt.Add(time.Duration(m) * time.Minute)
			more := record(result)
			r.Figures, r.Results = append(r.Figures, more.Figures...), append(r.Results, result)
		}
		return r
	}
	for _, tt := range []struct {
		before, after verdict.Record
		want          any
	}{
		{at(0, 2, 4), at(1, 3, 5), true},
		{at(4, 2, 0), at(1), true},
		{at(0, 1), at(2, 3), false},
		{at(2, 3), at(0, 1), false},
		{at(0), lines(t, "BenchmarkA 1 5 ns/op\n"), nil},
	} {
		c := Compare(tt.before, tt.after, Options{})
		if (c.ByTurns == nil) != (tt.want == nil) || c.ByTurns != nil && *c.ByTurns != tt.want {
			t.Errorf("by turns: %v, want %v", c.ByTurns, tt.want)
		}
		if told := strings.Contains(string(written(t, "txt", c)), "not by turns"); told != (tt.want == false) {
			t.Errorf("the text tells that it was not by turns: %t, want %t", told, tt.want == false)
		}
	}
}

// Where many times are worse, a reader is told once; where each fails, of each.
func TestTimesAreToldOnce(t *testing.T) {
	after := edit(slower(8, 2), verdict.Micro, func(run *verdict.Run) { run.CPUNanos *= 3 })
	wantCauses(t, Compare(record(fixture(8)), record(after), Options{}),
		"WORSE (advisory): macro zerocopy msg/s -50.0 %, p = 0.001, corrected for 8 comparisons, noise floor 0.7 %",
		"WORSE (advisory): cpu-ns/msg +100.0 % to +200.0 % at 2 scenarios and paths")
	wantCauses(t, Compare(record(fixture(8)), record(after), Options{StrictTimes: true}),
		"WORSE: macro zerocopy msg/s -50.0 %, p = 0.001, corrected for 8 comparisons, noise floor 0.7 %",
		"WORSE: macro zerocopy cpu-ns/msg +100.0 %, p = 0.001, corrected for 8 comparisons, noise floor 0.7 %",
		"WORSE: micro zerocopy cpu-ns/msg +200.0 %, p = 0.001, corrected for 8 comparisons, noise floor 0.7 %")
}

func TestLeastP(t *testing.T) {
	for _, tt := range []struct {
		n1, n2 int
		want   float64
	}{{1, 1, 1}, {2, 2, 1. / 3}, {3, 3, 0.1}, {4, 4, 1. / 35}, {1, 9, 0.2}, {6, 6, 1. / 462}} {
		if got := leastP(tt.n1, tt.n2); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("leastP(%d, %d) = %v, want %v", tt.n1, tt.n2, got, tt.want)
		}
		apart := uTest(series0(tt.n1, 0), series0(tt.n2, 1000))
		if math.Abs(apart-tt.want) > 1e-9 {
			t.Errorf("a U test of %d and %d samples that do not overlap: p = %v, want %v", tt.n1, tt.n2, apart, tt.want)
		}
	}
	for k, want := range map[int]int{1: 5, 2: 6, 8: 7, 28: 8} {
		if got := enoughSamples(k); got != want {
			t.Errorf("enoughSamples(%d) = %d, want %d", k, got, want)
		}
	}
}

// series0 returns n different values from a first one.
func series0(n int, from float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = from + float64(i)
	}
	return values
}

func TestHolm(t *testing.T) {
	for _, tt := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.02}, []float64{0.02}},
		{[]float64{0.01, 0.04, 0.03}, []float64{0.03, 0.06, 0.06}}, // the example of many textbooks
		{[]float64{0.5, 0.6}, []float64{1, 1}},
		{[]float64{0.01, 0.01}, []float64{0.02, 0.02}},
	} {
		got := holm(tt.p)
		if len(got) != len(tt.want) {
			t.Fatalf("holm(%v) = %v, want %v", tt.p, got, tt.want)
		}
		for i := range got {
			if math.Abs(got[i]-tt.want[i]) > 1e-12 {
				t.Errorf("holm(%v) = %v, want %v", tt.p, got, tt.want)
			}
		}
	}
}

func TestNoise(t *testing.T) {
	of := func(values ...float64) *samples {
		s := &samples{}
		for i, v := range values {
			s.points = append(s.points, point{i + 1, v})
		}
		return s
	}
	for _, tt := range []struct {
		s     *samples
		noise float64
		known bool
	}{
		{nil, 0, false},
		{of(1, 2, 3), 0, false},
		{of(100, 110, 100, 110), 0.1, true},
		{of(110, 100, 110, 100), 0.1, true},
		{of(100, 100, 120, 120), 0, true}, // drift is in both halves
		{of(0, 0, 0, 0), 0, true},
		{of(0, 1, 0, 1), 0, false},
	} {
		noise, known := noiseOf(tt.s)
		if known != tt.known || known && math.Abs(noise-tt.noise) > 1e-12 {
			t.Errorf("noiseOf(%+v) = %v, %t, want %v, %t", tt.s, noise, known, tt.noise, tt.known)
		}
	}
}

// The floor of a path is that of its louder side, and not of another path.
func TestFloorIsOfThePath(t *testing.T) {
	loud := func(r verdict.Result) verdict.Result {
		return edit(r, verdict.Macro, func(run *verdict.Run) {
			if run.Number%2 == 0 {
				run.WallNanos = run.WallNanos * 3 / 2
			}
		})
	}
	quiet, other := fixture(8), loud(fixture(8))
	for _, run := range other.Runs {
		run.Path = "loud"
		quiet.Runs = append(quiet.Runs, run)
	}
	for name, tt := range map[string]struct {
		before, after verdict.Result
		answer        Answer
		least, most   float64 // floor in percent
	}{
		"loud BEFORE":     {loud(fixture(8)), slower(8, 1.2), Inconclusive, 45, 55},
		"loud AFTER":      {fixture(8), loud(slower(8, 1.2)), Inconclusive, 45, 55},
		"another is loud": {quiet, slower(8, 1.2), Worse, 0, 2},
	} {
		got := row(t, Compare(record(tt.before), record(tt.after), Options{}), "macro zerocopy all", "msg/s")
		if got.Answer != tt.answer || got.Floor == nil || *got.Floor < tt.least || *got.Floor > tt.most {
			t.Errorf("%s: %s, floor %s, want %s, %v to %v %%", name, got.Answer, percent(got.Floor), tt.answer, tt.least, tt.most)
		}
	}
}

// The published rows of the Nim system, before its refactor and after it.
func TestPublishedChange(t *testing.T) {
	c := Compare(file(t, "logos-step1.csv"), file(t, "logos-step3.csv"), Options{})
	for _, tt := range []struct{ place, unit, want string }{
		{"macro - all", "decodes/msg", "-50.0 %"},
		{"macro - all", "hashes/msg", "-40.0 %"},
		{"micro - all", "hashes/msg", "-50.0 %"},
		{"macro - all", "msg/s", "+55.5 %"},
	} {
		if got := percent(row(t, c, tt.place, tt.unit).Percent); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.place, tt.unit, got, tt.want)
		}
	}
	text := string(written(t, "txt", c))
	for _, want := range []string{"-50.0 %", "-40.0 %", "micro msg/s by run: run 1 +84.2 %, run 2 +76.1 %", "+55.5 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	if c.ExitCode != 0 || c.Verdict != "BETTER" {
		t.Errorf("%s, exit code %d", c.Verdict, c.ExitCode)
	}
	equal(t, "logos.txt", written(t, "txt", c))
	equal(t, "logos.md", written(t, "md", c))
}
