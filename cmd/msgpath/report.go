package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/diff"
	"github.com/msgpath/msgpath/verdict/gate"
	"github.com/msgpath/msgpath/verdict/report"
	"github.com/msgpath/msgpath/verdict/scale"
)

type reportCommand struct {
	Runs   []string `arg:"" name:"run" help:"A bench.json, or several to set beside each other, the one that is judged last."`
	Base   string   `placeholder:"FILE" help:"A bench.json to set before them."`
	Budget []string `placeholder:"FILE" help:"Budgets that the page says the judgement of, as in msgpath gate; the last RUN against the first."`
	Scale  string   `placeholder:"FILE" help:"A scale.json of msgpath bench-scale, whose plot the page shows too."`
	Out    string   `name:"output" short:"o" default:"report.html" placeholder:"FILE" help:"Where the page is written; - is stdout."`
	SVG    string   `name:"svg" placeholder:"DIR" help:"Write each plot as an SVG file too, into this folder."`
}

// Help tells the exit codes.
func (reportCommand) Help() string {
	return "One result is judged as msgpath bench judges it, several as msgpath diff compares the first with the last. The page is written whatever the verdict. " +
		"Exit codes are those of that command: 0 ok; 1 the verdict is FAIL; 2 wrong usage or a file that cannot be read or written; 3 an invalid run, or counts that are n/a; 4 nothing was examined."
}

// Run writes the page, and sets the exit code to what is on it.
func (r *reportCommand) Run(ctx context.Context, out *output) error {
	sides, err := r.sides()
	if err != nil {
		return out.unusable(err)
	}
	in := report.Input{Sides: sides}
	if len(sides) > 1 {
		in, out.code = compared(sides)
	} else {
		criteria := verdict.Acceptance(sides[0].Result, checkout(ctx, filepath.Dir(r.files()[0]), out.stderr))
		in.Lines, out.code = report.Lines(criteria), verdict.ExitCode(sides[0].Result, criteria)
	}
	lines, code, err := r.judge(sides)
	if err != nil {
		return err
	}
	in.Lines, out.code = append(in.Lines, lines...), worse(out.code, code)
	if in.Scale, err = r.scale(); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := report.Write(&page, in); err != nil {
		return err
	}
	if err := r.drawPlots(sides, in.Scale); err != nil {
		return err
	}
	if r.Out == "-" {
		_, err := page.WriteTo(out.stdout)
		return err
	}
	if err := replaceFile(r.Out, page.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if out.code != verdict.ExitOK {
		fmt.Fprintf(out.stderr, "msgpath: exit code %d: see %s\n", out.code, r.Out)
	}
	return nil
}

// judge returns what budgets say of the last side, with the first as its base if
// there are several, and the exit code of gate.
func (r *reportCommand) judge(sides []report.Side) ([]report.Line, int, error) {
	if len(r.Budget) == 0 {
		return nil, verdict.ExitOK, nil
	}
	first, last := sides[0], sides[len(sides)-1]
	budget, err := readBudgets(r.Budget, len(sides) > 1)
	if err != nil {
		return nil, 0, err
	}
	var base *verdict.Record
	if len(sides) > 1 {
		record := verdict.NewRecord(first.Name, first.Result)
		base = &record
	}
	judged, err := judge(budget, verdict.NewRecord(last.Name, last.Result), base)
	if err != nil {
		return nil, 0, err
	}
	var lines []report.Line
	for _, file := range judged.Budgets {
		lines = append(lines, budgetLines(file, judged.Lines)...)
	}
	return lines, judged.ExitCode(), nil
}

// budgetLines returns a line for each limit of a budget that does not pass, and
// one for the budget.
func budgetLines(file string, judged []gate.Line) (lines []report.Line) {
	passed, limits := 0, 0
	for _, l := range judged {
		switch {
		case l.At.File != file:
			continue
		case l.Verdict == verdict.Pass:
			passed++
		case l.Verdict == gate.Unmatched:
			lines = append(lines, report.Line{Text: l.Limit, Verdict: verdict.NotApplicable, Evidence: l.Finding(), Decides: true})
		default:
			lines = append(lines, report.Line{Text: l.Limit, Verdict: l.Verdict, Evidence: l.Finding(), Decides: l.Kind == gate.Hard || l.Kind == gate.Change})
		}
		limits++
	}
	whole := report.Line{Text: "budget " + file, Verdict: verdict.Pass, Evidence: fmt.Sprintf("%d of %d limits hold", passed, limits)}
	if passed < limits {
		whole.Verdict = verdict.Warn
	}
	return append(lines, whole)
}

// worse returns the exit code that decides between two.
func worse(a, b int) int {
	for _, code := range []int{verdict.ExitInvalid, verdict.ExitFailed, verdict.ExitUnexamined} {
		if a == code || b == code {
			return code
		}
	}
	return verdict.ExitOK
}

// compared returns a page about what changed from the first side to the last,
// and the exit code of comparing them.
func compared(sides []report.Side) (report.Input, int) {
	first, last := sides[0], sides[len(sides)-1]
	c := diff.Compare(verdict.NewRecord(first.Name, first.Result), verdict.NewRecord(last.Name, last.Result), diff.Options{})
	in := report.Input{Sides: sides, Verdict: comparedVerdict(c)}
	for _, cause := range c.Causes {
		in.Lines = append(in.Lines, report.Line{Text: cause.String(), Verdict: causeVerdict(cause)})
	}
	equal := fmt.Sprintf("%d of %d counts are equal", c.Equal, c.Counts)
	if len(in.Lines) > 0 {
		in.Lines[0].Evidence = equal
	} else {
		in.Lines = []report.Line{{Text: equal, Verdict: in.Verdict}}
	}
	if c.ExitCode != verdict.ExitOK && len(c.Causes) > 0 {
		in.Headline = c.Causes[0].String()
		if more := len(c.Causes) - 1; more > 0 {
			in.Headline += fmt.Sprintf("; and %d more", more)
		}
	}
	in.Lines = append(in.Lines, timesLine(c))
	return in, c.ExitCode
}

// timesLine says what can be said of times and memory, on which no outcome
// depends.
func timesLine(c diff.Comparison) report.Line {
	line := report.Line{Text: "times and memory, advisory", Verdict: verdict.NotApplicable}
	answers := make(map[diff.Answer]int)
	var reason string
	for _, r := range c.Rows {
		if r.Judged {
			answers[r.Answer]++
			if reason == "" {
				reason = r.Reason
			}
		}
	}
	for _, a := range []diff.Answer{diff.Worse, diff.Better, diff.Same, diff.Inconclusive, diff.Insufficient, diff.NotComparable} {
		if n := answers[a]; n > 0 {
			if line.Evidence != "" {
				line.Evidence += ", "
			}
			line.Evidence += fmt.Sprintf("%d %s", n, a)
		}
	}
	switch {
	case answers[diff.Worse] > 0:
		line.Verdict = verdict.Warn
	case answers[diff.Insufficient]+answers[diff.Inconclusive] > 0:
		line.Verdict = verdict.Inconclusive
		line.Evidence += ": " + reason
	}
	return line
}

// comparedVerdict returns a comparison's outcome in the report's words.
func comparedVerdict(c diff.Comparison) verdict.Verdict {
	switch {
	case len(c.Before.Invalid)+len(c.After.Invalid) > 0:
		return report.Invalid
	case c.ExitCode == verdict.ExitOK:
		return verdict.Pass
	case c.ExitCode == verdict.ExitFailed:
		return verdict.Fail
	case c.ExitCode == verdict.ExitUnexamined:
		return verdict.NotApplicable
	}
	return verdict.Inconclusive // counts are n/a
}

func causeVerdict(c diff.Cause) verdict.Verdict {
	switch {
	case c.Kind == diff.CauseBetter:
		return verdict.Pass
	case c.Kind == diff.CauseInvalid:
		return report.Invalid
	case c.Advisory:
		return verdict.Warn
	case c.Kind == diff.CauseWorse || c.Kind == diff.CauseMissing:
		return verdict.Fail
	}
	return verdict.NotApplicable // new, skipped or n/a
}

// files returns what to read, in the order of the page.
func (r *reportCommand) files() []string {
	if r.Base == "" {
		return r.Runs
	}
	return append([]string{r.Base}, r.Runs...)
}

func (r *reportCommand) sides() (sides []report.Side, err error) {
	names := sideNames(r.files())
	for i, file := range r.files() {
		result, err := readResult(file)
		if err != nil {
			return nil, err
		}
		sides = append(sides, report.Side{Name: names[i], Result: result})
	}
	return sides, nil
}

// sideNames calls two sides before and after, and more by their files.
func sideNames(files []string) []string {
	if len(files) == 2 {
		return []string{"before", "after"}
	}
	return files
}

// scale returns how cost grows, nil where it is not asked for.
func (r *reportCommand) scale() (*scale.Result, error) {
	if r.Scale == "" {
		return nil, nil
	}
	result, err := readScale(r.Scale)
	return &result, err
}

// drawPlots writes the plots into the folder that was asked for.
func (r *reportCommand) drawPlots(sides []report.Side, growth *scale.Result) error {
	if r.SVG == "" {
		return nil
	}
	plots, err := report.Plots(sides)
	if err != nil {
		return err
	}
	if growth != nil {
		plot, err := report.ScalePlot(*growth)
		if err != nil {
			return err
		}
		plots = append(plots, plot)
	}
	return writePlots(r.SVG, plots)
}

// writePlots writes plots into a folder, which is made.
func writePlots(folder string, plots []report.Plot) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, p := range plots {
		if err := replaceFile(filepath.Join(folder, p.Name+".svg"), []byte(p.SVG)); err != nil {
			return fmt.Errorf("write plot: %w", err)
		}
	}
	return nil
}
