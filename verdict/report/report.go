package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/scale"
)

// Input is what a page is made of.
type Input struct {
	Title string // heading; "" is "Message-path report"

	// Sides are results that are set beside each other, the one that is judged
	// last: before and after. There is at least one.
	Sides []Side

	// Verdict is the outcome in a word. "" is made of Sides and Lines: see
	// [Outcome].
	Verdict verdict.Verdict

	// Headline says the verdict's cause in one sentence. "" is made of the counts.
	Headline string

	// Lines are what was judged, in order.
	Lines []Line

	// Scale is how cost grows, of a session of its own. Nil: it is not on the page.
	Scale *scale.Result
}

// Side is one result and what it is called: "before", a file, a commit. The name
// of an only side is not shown.
type Side struct {
	Name   string
	Result verdict.Result
}

// Line is one thing that was judged.
type Line struct {
	Text     string
	Verdict  verdict.Verdict
	Evidence string // what was seen, with limit and value; may be empty
	Decides  bool   // the outcome depends on it
}

// Invalid is the outcome of results with an invalid or unverified run.
const Invalid verdict.Verdict = "INVALID"

// Lines returns acceptance criteria as lines, of which that of the counts
// decides.
func Lines(criteria []verdict.Criterion) []Line {
	var lines []Line
	for _, c := range criteria {
		lines = append(lines, Line{c.Text, c.Verdict, c.Evidence, c.Number == verdict.CriterionCounts})
	}
	return lines
}

// Outcome returns what sides and lines come to: [Invalid] if any side has an
// invalid or unverified run, FAIL if any line fails, N/A without a line that
// decides, PASS only if all that decide pass, and else the first of these that does
// not.
func Outcome(sides []Side, lines []Line) verdict.Verdict {
	for _, s := range sides {
		if len(s.Result.Invalid) > 0 || !s.Result.Verified {
			return Invalid
		}
	}
	outcome, decided := verdict.NotApplicable, false
	for _, l := range lines {
		switch {
		case l.Verdict == verdict.Fail:
			return verdict.Fail
		case l.Decides && (!decided || outcome == verdict.Pass):
			outcome, decided = l.Verdict, true
		}
	}
	return outcome
}

// Write writes the page. A result that [verdict.Result.Validate] refuses, and an
// input without a side, are errors.
func Write(w io.Writer, in Input) error {
	page, err := render(in)
	if err != nil {
		return fmt.Errorf("report: write page: %w", err)
	}
	if _, err := w.Write(page); err != nil {
		return fmt.Errorf("report: write page: %w", err)
	}
	return nil
}

func render(in Input) ([]byte, error) {
	if err := check(in.Sides); err != nil {
		return nil, err
	}
	p, err := newPage(in)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func check(sides []Side) error {
	if len(sides) == 0 {
		return errors.New("there is no result")
	}
	var errs []error
	for _, s := range sides {
		if err := s.Result.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("side %s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// Plot is one plot as a file of its own.
type Plot struct {
	Name  string // stable, without an extension: "counts", "throughput", "latency", "openloop", "bytes", "heap"
	Title string
	SVG   string // with a light ground, 736 pixels wide
	Alt   string // what it shows, in one sentence
	Text  string // its numbers, as tables in Markdown
}

// Plots returns the plots of sides: none where no run is valid, and no "counts"
// where no run was counted and no "openloop" of a closed loop. Errors are those of [Write].
func Plots(sides []Side) ([]Plot, error) {
	if err := check(sides); err != nil {
		return nil, fmt.Errorf("report: draw plots: %w", err)
	}
	var plots []Plot
	for _, f := range newLedger(sides).figures() {
		svg, err := standalone(f.sketch, wide, f.title, f.summary)
		if err != nil {
			return nil, fmt.Errorf("report: draw plot %s: %w", f.name, err)
		}
		plots = append(plots, Plot{f.name, f.title, svg, clean(f.summary), markdown(f.grids)})
	}
	return plots, nil
}
