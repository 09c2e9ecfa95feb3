package diff

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/msgpath/msgpath/verdict"
)

// repeated returns lines of a benchmark with values from a first one.
func repeated(n int, from float64, step float64) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "BenchmarkA 1 %v ns/op\n", from+step*float64(i))
	}
	return b.String()
}

// What a comparison of Go benchmark lines comes to.
func TestLines(t *testing.T) {
	const both, counts = "BenchmarkA 1 5 ns/op 3 decodes/op\n", "BenchmarkA 1 3 decodes/op\n"
	const exact = "Unit hits assume=exact\n"
	for name, tt := range map[string]struct {
		before, after string
		strict        bool
		code          int
		verdict       string
		causes        []string
	}{
		"a benchmark failed": {
			counts, counts + "--- FAIL: BenchmarkA\n    a_test.go:3: lost\n", false, 3, VerdictInvalid,
			[]string{"INVALID: A AFTER: bench.txt:2: FAIL: BenchmarkA"},
		},
		"one of several cores failed": {
			"BenchmarkA-2 1 3 decodes/op\n", "BenchmarkA-2 1 3 decodes/op\n--- FAIL: BenchmarkA-2\n", false, 3, VerdictInvalid,
			[]string{"INVALID: A AFTER: bench.txt:2: FAIL: BenchmarkA-2"},
		},
		"a count vanished": {both, "BenchmarkA 1 5 ns/op\n", false, 1, VerdictWorse, []string{"MISSING: A decodes/op (unit is not in AFTER)"}},
		"a count vanished from some lines": {
			both + both, both + "BenchmarkA 1 5 ns/op\n", false, 1, VerdictWorse,
			[]string{"MISSING: A decodes/op (unit is in 1 of 2 runs AFTER, in 2 of 2 BEFORE)"},
		},
		"a time vanished":         {both, counts, false, 0, VerdictSame, []string{"MISSING (advisory): A ns/op (unit is not in AFTER)"}},
		"a time vanished, strict": {both, counts, true, 1, VerdictWorse, []string{"MISSING: A ns/op (unit is not in AFTER)"}},
		"more is better, as AFTER says": {
			exact + "BenchmarkA 1 5 hits\n", "Unit hits better=higher\n" + exact + "BenchmarkA 1 3 hits\n", false, 1, VerdictWorse,
			[]string{"WORSE: A -2.000 hits"},
		},
		"more is better, as BEFORE says": {
			"Unit hits better=higher\n" + exact + "BenchmarkA 1 5 hits\n", exact + "BenchmarkA 1 7 hits\n", false, 0, VerdictBetter,
			[]string{"BETTER: A +2.000 hits"},
		},
		"sizes are no cores": {
			"BenchmarkA/size-8 1 1 decodes/op\nBenchmarkA/size-16 1 2 decodes/op\n", "BenchmarkA/size-16 1 2 decodes/op\nBenchmarkA/size-8 1 1 decodes/op\n",
			false, 0, VerdictSame, nil,
		},
		"too few samples":              {repeated(3, 100, 1), repeated(3, 900, 1), true, 4, VerdictUndecided, nil},
		"samples enough":               {repeated(8, 100, 1), repeated(8, 100, 1), true, 0, VerdictSame, nil},
		"constant, and hardly another": {repeated(8, 100, 0), repeated(8, 100.05, 0), true, 0, VerdictSame, nil},
		"less than the least effect":   {repeated(8, 100, 0.01), repeated(8, 100.9, 0.01), true, 0, VerdictSame, nil},
		"more than the least effect": {
			repeated(8, 100, 0), repeated(8, 101.1, 0), true, 1, VerdictWorse, []string{"WORSE: A ns/op +1.1 %, p < 0.001, noise floor 0.0 %"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := Compare(lines(t, tt.before), lines(t, tt.after), Options{StrictTimes: tt.strict})
			if c.ExitCode != tt.code || c.Verdict != tt.verdict {
				t.Errorf("%s, exit code %d, want %s, %d", c.Verdict, c.ExitCode, tt.verdict, tt.code)
			}
			wantCauses(t, c, tt.causes...)
		})
	}
}

// Sides that were measured one after the other cannot fail for a time.
func TestStrictNeedsTurns(t *testing.T) {
	later := slower(8, 2)
	later.MeasuredAt = later.MeasuredAt.Add(time.Hour)
	c := Compare(record(fixture(8)), record(later), Options{StrictTimes: true})
	r := row(t, c, "macro zerocopy all", "msg/s")
	if r.Answer != Inconclusive || r.Reason != oneAfterTheOther || c.ExitCode != 0 {
		t.Errorf("%s: %s, exit code %d", r.Answer, r.Reason, c.ExitCode)
	}
	c = Compare(record(fixture(8)), record(later), Options{})
	if r := row(t, c, "macro zerocopy all", "msg/s"); r.Answer != Worse || c.ExitCode != 0 {
		t.Errorf("advisory: %s, exit code %d, want worse, 0", r.Answer, c.ExitCode)
	}
}

// Where two sides end their names in different numbers, a reader is told what
// these were taken for.
func TestCoresNote(t *testing.T) {
	c := Compare(lines(t, "BenchmarkA/size-8 1 1 decodes/op\n"), lines(t, "BenchmarkA/size-16 1 1 decodes/op\n"), Options{})
	if len(c.Notes) != 1 || !strings.HasPrefix(c.Notes[0], "numbers of cores differ: 8 BEFORE, 16 AFTER") {
		t.Errorf("notes %q", c.Notes)
	}
}

// csvOf returns a result as CSV.
func csvOf(t *testing.T, r verdict.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := verdict.WriteCSV(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// One more event of a thousand messages is seen in the CSV.
func TestCSVShowsOneEvent(t *testing.T) {
	text := string(csvOf(t, fixture(1)))
	if strings.Count(text, ",1.000,") == 0 {
		t.Fatalf("nothing to change in\n%s", text)
	}
	more := strings.Replace(text, ",1.000,", ",1.001,", 1)
	c := Compare(lines(t, text), lines(t, more), Options{})
	if causes := strings.Join(causeStrings(c), "\n"); c.ExitCode != 1 || !strings.Contains(causes, "+0.001 decode/msg") {
		t.Errorf("exit code %d, causes\n%s", c.ExitCode, causes)
	}
}
