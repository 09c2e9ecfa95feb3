package scale

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// notAvailable stands for what was not measured or cannot be told.
const notAvailable = "n/a"

// A csvColumn is one column: its name and what it says of a point.
type csvColumn struct {
	name string
	cell func(Row, Series, Point) string
}

// csvColumns returns all columns in order: what was varied, the figures with
// their ends, and the exponents of the series, which every line of it repeats.
func csvColumns() []csvColumn {
	columns := []csvColumn{
		{"row", func(r Row, _ Series, _ Point) string { return r.Name }},
		{"path", func(_ Row, s Series, _ Point) string { return s.Path }},
		{"x", func(_ Row, _ Series, p Point) string { return strconv.Itoa(p.X) }},
		{"unit", func(r Row, _ Series, _ Point) string { return r.Unit }},
		{"event", func(r Row, _ Series, _ Point) string { return r.Event }},
		{"events", func(_ Row, _ Series, p Point) string { return strconv.Itoa(p.Runs[0].Events) }},
		{"runs", func(_ Row, _ Series, p Point) string { return strconv.Itoa(len(p.Runs)) }},
	}
	for _, f := range []struct {
		name     string
		of       Figure
		decimals int
	}{
		{"events_per_s", Rate, 1},
		{"cpu_ns_per_event", CPU, 0},
		{"alloc_B_per_event", Alloc, 0},
		{"live_B", Live, 0},
		{"encodes_per_event", Encodes, 3},
		{"gossipsub_copies_per_event", Copies, 3},
		{"written_B_per_copy", Written, 0},
	} {
		columns = append(columns, spreadColumns(f.name, f.of, f.decimals)...)
	}
	columns = append(columns, csvColumn{"mesh_peers", func(_ Row, _ Series, p Point) string { return p.mesh() }})
	for _, cost := range Costs() {
		columns = append(columns, fitColumns(cost)...)
	}
	return columns
}

// spreadColumns returns the columns of a figure: its median, and its ends.
func spreadColumns(name string, of Figure, decimals int) []csvColumn {
	column := func(suffix string, end func(Spread) float64) csvColumn {
		return csvColumn{name + suffix, func(_ Row, _ Series, p Point) string {
			s, ok := p.Spread(of)
			if !ok {
				return notAvailable
			}
			return fixed(end(s), decimals)
		}}
	}
	return []csvColumn{
		column("", func(s Spread) float64 { return s.Median }),
		column("_min", func(s Spread) float64 { return s.Min }),
		column("_max", func(s Spread) float64 { return s.Max }),
	}
}

func fitColumns(cost Figure) []csvColumn {
	column := func(suffix string, of func(Fit) *float64) csvColumn {
		return csvColumn{cost.Name + suffix, func(_ Row, s Series, _ Point) string { return decimal(of(s.Fit(cost))) }}
	}
	return []csvColumn{
		column("_exponent", func(f Fit) *float64 { return f.Exponent }),
		column("_exponent_error", func(f Fit) *float64 { return f.Error }),
		column("_r2", func(f Fit) *float64 { return f.R2 }),
	}
}

func decimal(v *float64) string {
	if v == nil {
		return notAvailable
	}
	return fixed(*v, 3)
}

// mesh prints how many peers were in the receiver's mesh, both ends where runs
// differ.
func (p Point) mesh() string {
	low, high := 0, 0
	for i, r := range p.Runs {
		if r.Mesh == nil {
			return notAvailable
		}
		if i == 0 {
			low, high = *r.Mesh, *r.Mesh
		}
		low, high = min(low, *r.Mesh), max(high, *r.Mesh)
	}
	if low != high {
		return fmt.Sprintf("%d-%d", low, high)
	}
	return strconv.Itoa(low)
}

// Header returns the names of the columns that [WriteCSV] writes.
func Header() (names []string) {
	for _, c := range csvColumns() {
		names = append(names, c.name)
	}
	return names
}

// WriteCSV writes a line for each point under [Header], as RFC 4180 with LF line
// ends. A figure is the median of the point's runs, followed by the least and the
// most; "n/a" is what was not measured, or cannot be fitted.
func WriteCSV(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("scale: write CSV: %w", err)
	}
	out := csv.NewWriter(w)
	columns := csvColumns()
	lines := [][]string{Header()}
	for _, row := range r.Fitted().Rows {
		for _, s := range row.Series {
			for _, p := range s.Points {
				var line []string
				for _, c := range columns {
					line = append(line, c.cell(row, s, p))
				}
				lines = append(lines, line)
			}
		}
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("scale: write CSV: %w", err)
	}
	return nil
}
