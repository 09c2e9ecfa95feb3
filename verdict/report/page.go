package report

import (
	_ "embed" // page.html.tmpl, page.css
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/msgpath/msgpath/verdict"
	"gonum.org/v1/plot/vg"
)

//go:embed page.html.tmpl
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template sees.
type page struct {
	Title    string
	Sides    []Side
	Measured string
	Style    template.CSS
	Verdict  badge
	Headline string
	Tally    string
	Proof    string
	Key      []keyGrid
	Lines    []judged
	Invalid  []invalidRun
	Figures  []shown
	Setting  grid
	Limits   []limitation
	Again    []reproduction
	Counting bool
}

// badge is a verdict with a sign that does not need its colour.
type badge struct{ Word, Sign, Class string }

// signs are those of [badge], by verdict.
var signs = map[verdict.Verdict]badge{
	verdict.Pass:          {"PASS", "✓", "pass"},
	verdict.Fail:          {"FAIL", "✕", "fail"},
	Invalid:               {"INVALID", "✕", "fail"},
	verdict.Warn:          {"WARN", "!", "warn"},
	verdict.Inconclusive:  {"INCONCLUSIVE", "?", "open"},
	verdict.NotApplicable: {"N/A", "–", "open"},
}

func newBadge(v verdict.Verdict) badge {
	if b, ok := signs[v]; ok {
		return b
	}
	return badge{string(v), "–", "open"}
}

// judged is a line with its badge.
type judged struct {
	Line
	Badge badge
}

// invalidRun is one run that has no figure.
type invalidRun struct {
	Side string
	verdict.Invalid
}

// shown is a figure as the page shows it.
type shown struct {
	Name, Title, Reading string
	Wide, Narrow         template.HTML
	Grids                []grid
}

// limitation is what the results do not show.
type limitation struct{ Side, Text string }

func newPage(in Input) (*page, error) {
	l := newLedger(in.Sides)
	last := in.Sides[len(in.Sides)-1].Result
	p := &page{
		Title: in.Title, Sides: in.Sides, Measured: last.MeasuredAt.UTC().Format(time.DateTime) + " UTC",
		Style:    template.CSS(style()), // of this package alone
		Headline: in.Headline, Tally: tally(in.Lines), Proof: l.proof(), Key: l.keyGrids(),
		Setting: settings(in.Sides), Again: reproductions(in.Sides), Counting: last.Environment.Counting,
	}
	if p.Title == "" {
		p.Title = "Message-path report"
	}
	if p.Headline == "" {
		p.Headline = l.headline()
	}
	if in.Verdict == "" {
		in.Verdict = Outcome(in.Sides, in.Lines)
	}
	p.Verdict = newBadge(in.Verdict)
	for _, line := range in.Lines {
		p.Lines = append(p.Lines, judged{line, newBadge(line.Verdict)})
	}
	p.addSides(in.Sides)
	return p, p.addFigures(append(l.figures(), scaleFigures(in.Scale)...))
}

// addSides adds what each side says of itself: invalid runs and limitations.
func (p *page) addSides(sides []Side) {
	seen := make(map[string]bool)
	for _, s := range sides {
		name := s.Name
		if len(sides) == 1 {
			name = ""
		}
		for _, i := range s.Result.Invalid {
			p.Invalid = append(p.Invalid, invalidRun{name, i})
		}
		for _, text := range s.Result.Limitations {
			if !seen[text] {
				p.Limits = append(p.Limits, limitation{name, text})
			}
			seen[text] = true
		}
	}
}

func (p *page) addFigures(all []figure) error {
	for _, f := range all {
		shown := shown{Name: f.name, Title: f.title, Reading: f.reading, Grids: f.grids}
		for _, of := range []struct {
			width vg.Length
			to    *template.HTML
		}{{wide, &shown.Wide}, {narrow, &shown.Narrow}} {
			svg, err := inline(f.sketch, of.width, f.title+". "+f.summary)
			if err != nil {
				return fmt.Errorf("draw plot %s: %w", f.name, err)
			}
			*of.to = template.HTML(svg) // all text in it was escaped when it was drawn
		}
		p.Figures = append(p.Figures, shown)
	}
	return nil
}

// tally counts lines by verdict.
func tally(lines []Line) string {
	var parts []string
	for _, of := range []struct {
		verdict verdict.Verdict
		word    string
	}{
		{verdict.Pass, "pass"},
		{verdict.Fail, "fail"},
		{verdict.Warn, "warn"},
		{verdict.Inconclusive, "inconclusive"},
		{verdict.NotApplicable, "not examined"},
	} {
		n := 0
		for _, l := range lines {
			if l.Verdict == of.verdict {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, of.word))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Judged: %s.", strings.Join(parts, ", "))
}

// style returns the page's style sheet with its colours.
func style() string {
	return strings.NewReplacer("{light}", lightTones(), "{dark}", darkTones(), "{font}", fontFamily).Replace(pageStyle)
}
