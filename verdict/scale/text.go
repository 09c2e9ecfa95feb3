package scale

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// width is that of the text, in columns.
const width = 100

// reading says how to read a table.
const reading = `CPU, alloc and encodes are of one event, at all nodes together. live is how much the live heap grew
in the whole run. written is what gossipsub encodes and writes: copies of a message × bytes of each.

An exponent says how a cost grows with the first column: cost = factor × x^exponent, by least
squares of the logarithms of the medians. 0: it stays as it is. 1: twice as much of the first column
costs twice as much. Between: it grows more slowly. Below 0: it falls. ± is the standard error of
the fit; n/a: fewer than three values, or none above 0. Where a fixed part and one that grows
add up, the exponent is between 0 and 1, and rises along the row.

`

// WriteText writes a table for each row, with medians over runs and the least
// and the most in brackets, and the exponents of all costs below it. It is at
// most 100 columns wide for paths of 10 letters and has no colour. 1 kB is 1000
// bytes.
func WriteText(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("scale: write text: %w", err)
	}
	var b strings.Builder
	for _, row := range r.Fitted().Rows {
		row.write(&b)
	}
	b.WriteString(reading)
	writeRest(&b, r)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("scale: write text: %w", err)
	}
	return nil
}

// write writes a row: what it varies, and a table for each path.
func (r Row) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s. Held: %s.\n", r.Name, r.Unit, r.Held)
	if r.Note != "" {
		for line := range strings.Lines(text.WrapSoft("Note: "+r.Note+".", width)) {
			fmt.Fprintln(b, strings.TrimSpace(line))
		}
	}
	for _, s := range r.Series {
		fmt.Fprintf(b, "%s\n%s\n%s\n", s.Path, s.table(r), s.exponents())
	}
	b.WriteString("\n")
}

// writeRest writes what is not in a table.
func writeRest(b *strings.Builder, r Result) {
	for _, s := range r.Skipped {
		fmt.Fprintf(b, "LEFT OUT %s %d: %s\n", s.Row, s.X, s.Reason)
	}
	for _, i := range r.Invalid {
		fmt.Fprintf(b, "INVALID %s %d, path %s, run %d: %s\n", i.Row, i.X, i.Path, i.Number, i.Reason)
	}
	f := r.Judge()
	for _, wrong := range f.Wrong {
		fmt.Fprintf(b, "FAIL %s\n", wrong)
	}
	switch {
	case f.Counted > 0 && len(f.Wrong) == 0:
		fmt.Fprintf(b, "PASS: in each of %d points this project encoded every message once.\n", f.Counted)
	case f.Uncounted > 0:
		b.WriteString("n/a: this build does not count; build with -tags msgpathcounters.\n")
	}
}

// A textColumn is one column of a series' table.
type textColumn struct {
	name string
	cell func(Point) string
}

// columns returns those that say something of a series: what was not measured is
// left out, and the mesh where it is the same for all points.
func (s Series) columns(row Row) (used []textColumn) {
	all := []textColumn{
		{row.Name, func(p Point) string { return strconv.Itoa(p.X) }},
		{row.Event + "s/s", func(p Point) string { return p.text(Rate, 1, true) }},
		{"CPU µs", func(p Point) string { return p.text(CPU, 1e3, true) }},
		{"alloc kB", func(p Point) string { return p.text(Alloc, 1e3, false) }},
		{"live MB", func(p Point) string { return p.text(Live, 1e6, false) }},
		{"encodes", func(p Point) string { return p.exact(Encodes) }},
		{"written × kB", Point.written},
	}
	for _, c := range all {
		if slices.ContainsFunc(s.Points, func(p Point) bool { return c.cell(p) != notAvailable }) {
			used = append(used, c)
		}
	}
	if slices.ContainsFunc(s.Points, func(p Point) bool { return p.mesh() != s.Points[0].mesh() }) {
		used = append(used, textColumn{"mesh", Point.mesh})
	}
	return used
}

// table returns the points of a series.
func (s Series) table(row Row) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	var head table.Row
	var configs []table.ColumnConfig
	columns := s.columns(row)
	for i, c := range columns {
		head = append(head, c.name)
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.AppendHeader(head)
	t.SetColumnConfigs(configs)
	for _, p := range s.Points {
		var line table.Row
		for _, c := range columns {
			line = append(line, c.cell(p))
		}
		t.AppendRow(line)
	}
	return t.Render()
}

// costNames are those of the text.
var costNames = map[string]string{CPU.Name: "CPU", Time.Name: "time", Alloc.Name: "allocated", Live.Name: "live heap"}

// exponents returns those of all costs in one line.
func (s Series) exponents() string {
	var parts []string
	for _, cost := range Costs() {
		parts = append(parts, costNames[cost.Name]+" "+s.Fit(cost).String())
	}
	return "exponents: " + strings.Join(parts, ", ")
}

// written prints how many copies gossipsub wrote and how large each was.
func (p Point) written() string {
	copies, ok := p.Spread(Copies)
	if !ok {
		return notAvailable
	}
	return strconv.FormatFloat(copies.Median, 'g', 4, 64) + " × " + p.text(Written, 1e3, false)
}

// String returns the exponent with its standard error: "0.98 ± 0.01".
func (f Fit) String() string {
	if f.Exponent == nil || f.Error == nil {
		return notAvailable
	}
	return fixed(*f.Exponent, 2) + " ± " + fixed(*f.Error, 2)
}

// text prints a figure's median in a unit that is so many of its own, and both
// ends if asked.
func (p Point) text(f Figure, per float64, ends bool) string {
	s, ok := p.Spread(f)
	switch {
	case !ok:
		return notAvailable
	case ends && len(p.Runs) > 1:
		return fmt.Sprintf("%s (%s-%s)", short(s.Median/per), short(s.Min/per), short(s.Max/per))
	}
	return short(s.Median / per)
}

// exact prints a number of events per message, and both ends with a mark where
// they differ.
func (p Point) exact(f Figure) string {
	s, ok := p.Spread(f)
	if !ok {
		return notAvailable
	}
	low, high := fixed(s.Min, 3), fixed(s.Max, 3)
	if s.Min != s.Max {
		return low + "-" + high + " !"
	}
	return low
}

// short prints about three digits, more only before the point.
func short(v float64) string {
	decimals := 2
	switch size := max(v, -v); {
	case size >= 99.95:
		decimals = 0
	case size >= 9.995:
		decimals = 1
	}
	return fixed(v, decimals)
}

// fixed prints so many decimals, and no minus before a zero.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}
