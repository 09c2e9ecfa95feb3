package verdict

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Verdict is the outcome of one [Criterion].
type Verdict string

// Verdicts. Only a [Fail] of criterion 4 changes an exit code.
const (
	Pass          Verdict = "PASS"
	Fail          Verdict = "FAIL"
	Warn          Verdict = "WARN"         // it does not hold, and nothing depends on it
	Inconclusive  Verdict = "INCONCLUSIVE" // looked at, and not decided
	NotApplicable Verdict = "N/A"          // not looked at
)

// Criterion is one line of the acceptance table.
type Criterion struct {
	Number   int
	Text     string
	Verdict  Verdict
	Evidence string
}

// Numbers of the criteria. [CriterionCounts] decides the exit code.
const (
	CriterionTests = 1 + iota
	CriterionProduction
	CriterionRepeatable
	CriterionCounts
	CriterionDocument
)

// Context is what a [Result] cannot know about the checkout it came from.
type Context struct {
	Check             *Check // last result of "make check", nil if there is none
	BaselineDoc       []byte // docs/baseline.md, nil if there is none
	BaselineCommitted bool   // BaselineDoc is what the checked-out commit has, to the byte
	Plots             string // folder of counts.svg and throughput.svg for the baseline document, "" for none
	Filter            string // a Markdown table of runs with light peers for it, "" for none
}

// Check is the result of one "make check".
type Check struct {
	Commit           string `json:"commit"`           // what was checked
	TestsPassed      bool   `json:"testsPassed"`      // both builds, race detector
	Tests            string `json:"tests"`            // their numbers, as "312 passed, 2 skipped"
	ProductionPassed bool   `json:"productionPassed"` // the untagged build compiles and has no counters
	Production       string `json:"production"`       // what was looked at
}

// ReadCheck reads a Check from JSON. An unknown field, a field that says
// nothing, and text after the document are errors.
func ReadCheck(r io.Reader) (Check, error) {
	data, err := io.ReadAll(limit(r))
	if err != nil {
		return Check{}, fmt.Errorf("verdict: read check: %w", err)
	}
	var c Check
	if err := decodeStrict(data, &c); err != nil {
		return Check{}, fmt.Errorf("verdict: read check: %w", err)
	}
	var p problems
	p.check(c.Commit != "", "commit is empty")
	p.check(c.Tests != "", "tests is empty: their numbers are missing")
	p.check(c.Production != "", "production is empty: what was looked at is missing")
	if err := errors.Join(p.errs...); err != nil {
		return Check{}, fmt.Errorf("verdict: read check: %w", err)
	}
	return c, nil
}

// repeatable is the most that two micro runs may lie apart, in percent.
const repeatable = 5.0

// Acceptance judges r by the five criteria of the published baseline:
//
//  1. tests are green, and
//  2. the production build has no counters: both are checked by "make check",
//     and here it is only said what that found last. It is PASS only if the
//     check was of the commit of r, and of nothing but that commit: one that
//     ends in "dirty" names no sources;
//  3. micro runs 1 and 2 on the baseline path lie less than 5 % of the faster
//     apart in msg/s: PASS or INCONCLUSIVE, never FAIL;
//  4. on the baseline path a relayed message is decoded at least 4 and hashed 4
//     to 6 times, and decoded 4 times by its receiver; and on every path that
//     ran each site of each node counts what [ExpectedCounts] says, bytes
//     included, with two more hashes for a filter with light peers. INCONCLUSIVE if every count is right but macro did not run on
//     the baseline path;
//  5. docs/baseline.md is committed and its counts equal those of r. FAIL if
//     they differ, WARN if it is missing or not committed.
func Acceptance(r Result, c Context) []Criterion {
	return []Criterion{
		testsGreen(r, c.Check),
		productionClean(r, c.Check),
		repeatability(r),
		exactCounts(r),
		documented(r, c),
	}
}

func testsGreen(r Result, check *Check) Criterion {
	c := Criterion{Number: CriterionTests, Text: "tests green"}
	if check == nil {
		return unchecked(c)
	}
	return checked(c, r, check, check.TestsPassed, check.Tests)
}

func productionClean(r Result, check *Check) Criterion {
	c := Criterion{Number: CriterionProduction, Text: "the build without the tag compiles and has no counters"}
	if check == nil {
		return unchecked(c)
	}
	return checked(c, r, check, check.ProductionPassed, check.Production)
}

func unchecked(c Criterion) Criterion {
	c.Verdict, c.Evidence = NotApplicable, "checked by make check; no result of it here"
	return c
}

func checked(c Criterion, r Result, check *Check, passed bool, detail string) Criterion {
	c.Evidence = "checked by make check: " + detail
	switch {
	case !passed:
		c.Verdict = Fail
	case dirty(check.Commit) || dirty(r.Environment.Commit):
		c.Verdict = Inconclusive
		c.Evidence += fmt.Sprintf("; at commit %s, this run is of %s: uncommitted changes, so it proves nothing",
			check.Commit, r.Environment.Commit)
	case check.Commit != r.Environment.Commit || check.Commit == "" || check.Commit == "unknown":
		c.Verdict = Inconclusive
		c.Evidence += fmt.Sprintf("; at commit %s, this run is of %s", check.Commit, r.Environment.Commit)
	default:
		c.Verdict = Pass
	}
	return c
}

// dirty reports whether a build had changes that its commit lacks.
func dirty(commit string) bool {
	return strings.HasSuffix(commit, "+dirty") || strings.HasSuffix(commit, "-dirty")
}

func repeatability(r Result) Criterion {
	c := Criterion{Number: CriterionRepeatable, Text: "two consecutive micro runs on baseline under 5 % apart in msg/s"}
	first, ok1 := baselineMicro(r, 1)
	second, ok2 := baselineMicro(r, 2)
	if !ok1 || !ok2 {
		c.Verdict, c.Evidence = NotApplicable, "micro did not run twice on the baseline path"
		return c
	}
	apart := 100 * math.Abs(first-second) / max(first, second)
	c.Verdict = Pass
	if apart >= repeatable {
		c.Verdict = Inconclusive
	}
	c.Evidence = fmt.Sprintf("%.2f %% apart: %.1f and %.1f msg/s", apart, first, second)
	return c
}

func baselineMicro(r Result, number int) (float64, bool) {
	for _, run := range r.Runs {
		if run.Scenario == RunName(WithFilter(Micro, r.Settings.FilterPeers), number) && run.Path == "baseline" {
			return perSecond(run), true
		}
	}
	return 0, false
}

func exactCounts(r Result) Criterion {
	hashes := "4 to 6 hashes"
	if r.Settings.FilterPeers > 0 {
		hashes += " and 2 of the filter"
	}
	c := Criterion{
		Number: CriterionCounts,
		Text:   fmt.Sprintf("baseline relays with >= 4 decodes and %s, 4 decodes at the receiver; every site of every path counts exactly as expected", hashes),
	}
	c.Verdict, c.Evidence = judgeCounts(r)
	return c
}

func judgeCounts(r Result) (Verdict, string) {
	if len(r.Runs) == 0 {
		return NotApplicable, "no run is valid"
	}
	if !r.Environment.Counting {
		return Inconclusive, "counts are n/a: built without the tag msgpathcounters"
	}
	if err := CheckSums(r); err != nil {
		return Fail, firstLine(err.Error())
	}
	x, b := examine(r), relayedBaseline(r)
	switch {
	case x.mismatches > 1:
		return Fail, fmt.Sprintf("%s; and %d more", x.mismatch, x.mismatches-1)
	case x.mismatches == 1:
		return Fail, x.mismatch
	case x.uncounted != "":
		return Inconclusive, "counts are n/a: " + x.uncounted
	case x.compared == 0:
		return NotApplicable, "no path with expected counts ran"
	case b.runs == 0:
		return Inconclusive, fmt.Sprintf("%d runs count exactly as expected, but macro did not run on the baseline path", x.compared)
	case !b.holds():
		return Fail, "macro, path baseline: " + b.String()
	}
	return Pass, fmt.Sprintf("%s; %d of %d runs have expected counts and all match", b, x.compared, len(r.Runs))
}

func firstLine(s string) string {
	line, rest, _ := strings.Cut(s, "\n")
	if rest != "" {
		return fmt.Sprintf("%s; and %d more", line, 1+strings.Count(rest, "\n"))
	}
	return line
}

// Exit codes of a benchmark, besides 2 for wrong usage.
const (
	ExitOK         = 0
	ExitFailed     = 1 // a count is not what it must be
	ExitInvalid    = 3 // a run was invalid or unverified, or counts are n/a
	ExitUnexamined = 4 // no run, or none with expected counts
)

// ExitCode returns the exit code for r and what [Acceptance] said of it. What
// makes counts worthless goes before what they say: an invalid, unverified or
// uncounted run is [ExitInvalid] even where another run has a wrong count.
func ExitCode(r Result, criteria []Criterion) int {
	unverified := !r.Verified || slices.ContainsFunc(r.Runs, func(run Run) bool { return !run.Verified })
	i := slices.IndexFunc(criteria, func(c Criterion) bool { return c.Number == CriterionCounts })
	switch {
	case len(r.Invalid) > 0:
		return ExitInvalid
	case len(r.Runs) == 0:
		return ExitUnexamined
	case unverified || !r.Environment.Counting || examine(r).uncounted != "":
		return ExitInvalid
	case i < 0 || criteria[i].Verdict == NotApplicable:
		return ExitUnexamined
	case criteria[i].Verdict == Fail:
		return ExitFailed
	}
	return ExitOK
}

// WriteAcceptance writes the criteria as a table of at most 100 columns.
func WriteAcceptance(w io.Writer, criteria []Criterion) error {
	t := newTable()
	t.AppendHeader(table.Row{"#", "criterion", "verdict", "evidence"})
	for _, c := range criteria {
		t.AppendRow(table.Row{c.Number, c.Text, c.Verdict, c.Evidence})
	}
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, WidthMax: 32, WidthMaxEnforcer: text.WrapSoft},
		{Number: 4, WidthMax: 40, WidthMaxEnforcer: text.WrapSoft},
	})
	if _, err := io.WriteString(w, t.Render()+"\n"); err != nil {
		return fmt.Errorf("verdict: write acceptance: %w", err)
	}
	return nil
}
