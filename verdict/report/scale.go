package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/msgpath/msgpath/verdict/scale"
)

// ScalePlot returns the plot of how cost grows.
func ScalePlot(r scale.Result) (Plot, error) {
	f := growth(r)
	svg, err := standalone(f.sketch, wide, f.title, f.summary)
	if err != nil {
		return Plot{}, fmt.Errorf("report: draw plot %s: %w", f.name, err)
	}
	return Plot{f.name, f.title, svg, clean(f.summary), markdown(f.grids)}, nil
}

// scaleFigures returns the figure of a scale, none where there is none.
func scaleFigures(r *scale.Result) []figure {
	if r == nil || len(r.Rows) == 0 {
		return nil
	}
	return []figure{growth(*r)}
}

// growth returns the figure of how the CPU time of a message grows.
func growth(r scale.Result) figure {
	r = r.Fitted()
	f := figure{
		name: "scale", title: "How cost grows",
		reading: fmt.Sprintf("Each chart varies one thing and holds all others. Both scales are logarithmic, and the vertical one is as many powers of ten high in every chart: what is flat costs the same however much there is, and a straight line is x to the power of the exponent above it, 0 for flat and 1 for growing as x does. Dots are medians of %d runs, bars the least and the most. A session of its own, of commit %.12s at %s UTC.%s",
			r.Settings.Runs, r.Environment.Commit, r.MeasuredAt.UTC().Format(time.DateTime), judgement(r)),
	}
	s := trends{title: "CPU time of one message or insert", unit: "µs"}
	var said []string
	for _, row := range r.Rows {
		s.trends = append(s.trends, newTrend(row))
		for _, of := range row.Series {
			f.grids = append(f.grids, scaleGrid(row, of))
			said = append(said, fmt.Sprintf("%s %s %s", row.Name, of.Path, signedFit(of.Fit(scale.CPU))))
		}
	}
	f.sketch = pile{s}
	f.summary = "Exponents of CPU time: " + strings.Join(said, "; ") + "."
	return f
}

// judgement says what was found beside the figures.
func judgement(r scale.Result) string {
	var b strings.Builder
	found := r.Judge()
	if r.Settings.Quick {
		b.WriteString(" Measured quickly, with a tenth of the messages: of no use but to try it.")
	}
	switch {
	case len(found.Wrong) > 0:
		fmt.Fprintf(&b, " FAIL: %s.", found.Wrong[0])
	case found.Counted > 0:
		fmt.Fprintf(&b, " In all of %d points each message was encoded once.", found.Counted)
	case found.Uncounted > 0:
		b.WriteString(" Encodes are n/a: that build did not count.")
	}
	if n := len(r.Invalid); n > 0 {
		fmt.Fprintf(&b, " Runs that were not valid and have no dot: %d.", n)
	}
	if n := len(r.Skipped); n > 0 {
		fmt.Fprintf(&b, " Values that the machine had no memory for: %d.", n)
	}
	return b.String()
}

// signedFit prints an exponent with a true minus.
func signedFit(f scale.Fit) string { return strings.ReplaceAll(f.String(), "-", "−") }

// A scaleColumn is one column of a series in numbers, and its exponent if it is a
// cost.
type scaleColumn struct {
	head string
	cell func(scale.Point) string
	cost *scale.Figure
}

// scaleColumns returns those that say something of a series.
func scaleColumns(row scale.Row, s scale.Series) (used []scaleColumn) {
	for _, c := range []scaleColumn{
		{"per s", func(p scale.Point) string { return middle(p, scale.Rate, 1) }, &scale.Time},
		{"CPU µs", func(p scale.Point) string { return middle(p, scale.CPU, 1e3) }, &scale.CPU},
		{"of runs", func(p scale.Point) string { return leastToMost(p, scale.CPU, 1e3) }, nil},
		{"alloc. kB", func(p scale.Point) string { return middle(p, scale.Alloc, 1e3) }, &scale.Alloc},
		{"live MB", func(p scale.Point) string { return middle(p, scale.Live, 1e6) }, &scale.Live},
		{"encodes", func(p scale.Point) string { return exactly(p, scale.Encodes) }, nil},
		{"copies", func(p scale.Point) string { return middle(p, scale.Copies, 1) }, nil},
		{"kB each", func(p scale.Point) string { return middle(p, scale.Written, 1e3) }, nil},
	} {
		if slices.ContainsFunc(s.Points, func(p scale.Point) bool { return c.cell(p) != notAvailable }) {
			used = append(used, c)
		}
	}
	return used
}

// scaleGrid returns a path of a row in numbers, with the exponents of its costs
// below: that of a rate is of the time that it leaves for one.
func scaleGrid(row scale.Row, s scale.Series) grid {
	g := grid{Caption: fmt.Sprintf("%s, %s. Held: %s", row.Name, s.Path, row.Held), Head: []string{row.Unit}}
	if row.Note != "" {
		g.Caption += ". Note: " + row.Note
	}
	last := gridRow{Name: "exponent", Note: "first of time", Strong: true}
	columns := scaleColumns(row, s)
	for _, c := range columns {
		g.Head = append(g.Head, c.head)
		exponent := ""
		if c.cost != nil {
			exponent = signedFit(s.Fit(*c.cost))
		}
		last.Cells = append(last.Cells, exponent)
	}
	for _, p := range s.Points {
		line := gridRow{Name: grouped(strconv.Itoa(p.X))}
		for _, c := range columns {
			line.Cells = append(line.Cells, c.cell(p))
		}
		g.Rows = append(g.Rows, line)
	}
	g.Rows = append(g.Rows, last)
	return g
}

func middle(p scale.Point, f scale.Figure, per float64) string {
	s, ok := p.Spread(f)
	if !ok {
		return notAvailable
	}
	return quantity(s.Median / per)
}

// exactly prints a count of an event.
func exactly(p scale.Point, f scale.Figure) string {
	s, ok := p.Spread(f)
	if !ok {
		return notAvailable
	}
	return sample{s.Min, s.Max}.exact()
}

func leastToMost(p scale.Point, f scale.Figure, per float64) string {
	s, ok := p.Spread(f)
	if !ok {
		return notAvailable
	}
	return quantity(s.Min/per) + "–" + quantity(s.Max/per)
}
