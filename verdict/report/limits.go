package report

import (
	"fmt"
	"strings"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/limits"
)

// LimitsPlot returns the plot of each limit's values as parts of its target.
func LimitsPlot(d limits.Document) (Plot, error) {
	f := limitsFigure(d)
	svg, err := standalone(f.sketch, wide, f.title, f.summary)
	if err != nil {
		return Plot{}, fmt.Errorf("report: draw plot %s: %w", f.name, err)
	}
	return Plot{f.name, f.title, svg, clean(f.summary), d.LimitsMarkdown()}, nil
}

func limitsFigure(d limits.Document) figure {
	target := 1.0
	s := strip{
		title: "Limits", about: "each value as a part of its target",
		unit: "part of the target, more is better, logarithmic", head: "median", log: true,
		mark: &target, what: "target",
	}
	var said []string
	for _, l := range d.Limits {
		r := row{name: l.Name + ", " + l.Figure, note: notAvailable}
		if l.Median != nil {
			mark := blue
			if l.Verdict == verdict.Fail {
				mark = orange
			}
			r.dots = []dots{{values: newSample(l.Reached()), tone: mark}}
			r.note = quantity(*l.Median) + " " + string(l.Verdict)
		}
		s.rows = append(s.rows, r)
		said = append(said, fmt.Sprintf("%s, %s %s: %s", l.Name, l.Figure, l.Target(), r.note))
	}
	return figure{name: "limits", title: "Limits", summary: strings.Join(said, "; ") + ".", sketch: pile{s}}
}
