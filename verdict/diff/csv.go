package diff

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// Sections of the CSV, in their order.
const (
	sectionVerdict     = "verdict"
	sectionCause       = "cause"
	sectionNote        = "note"
	sectionCorrectness = "correctness"
	sectionSummary     = "summary"
	sectionTime        = "time"
	sectionMean        = "mean"
	sectionFigure      = "figure"
)

// csvColumn is a column of the CSV, and what it has of a figure.
type csvColumn struct {
	name string
	of   func(Row) string
}

var csvColumns = []csvColumn{
	{"section", func(Row) string { return "" }}, // where the figure stands, not what it is
	{"scenario", func(r Row) string { return r.Scenario }},
	{"path", func(r Row) string { return r.Path }},
	{"node", func(r Row) string { return r.Node }},
	{"site", func(r Row) string { return r.Site }},
	{"unit", func(r Row) string { return r.Unit }},
	{"class", func(r Row) string { return r.Class }},
	{"higher_is_better", func(r Row) string { return strconv.FormatBool(r.Higher) }},
	{"before", func(r Row) string { return decimal(r.Before.Median) }},
	{"after", func(r Row) string { return decimal(r.After.Median) }},
	{"delta", func(r Row) string { return decimal(r.Delta) }},
	{"delta_percent", func(r Row) string { return decimal(r.Percent) }},
	{"answer", func(r Row) string { return string(r.Answer) }},
	{"reason", func(r Row) string { return r.Reason }},
	{"exit_code", func(r Row) string { return strconv.Itoa(r.Fails) }},
	{"before_n", func(r Row) string { return strconv.Itoa(r.Before.N) }},
	{"before_min", func(r Row) string { return decimal(r.Before.Min) }},
	{"before_max", func(r Row) string { return decimal(r.Before.Max) }},
	{"before_low", func(r Row) string { return decimal(r.Before.Low) }},
	{"before_high", func(r Row) string { return decimal(r.Before.High) }},
	{"after_n", func(r Row) string { return strconv.Itoa(r.After.N) }},
	{"after_min", func(r Row) string { return decimal(r.After.Min) }},
	{"after_max", func(r Row) string { return decimal(r.After.Max) }},
	{"after_low", func(r Row) string { return decimal(r.After.Low) }},
	{"after_high", func(r Row) string { return decimal(r.After.High) }},
	{"p", func(r Row) string { return decimal(r.P) }},
	{"floor_percent", func(r Row) string { return decimal(r.Floor) }},
}

// Header returns the names of the columns of [WriteCSV].
func Header() []string {
	names := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		names[i] = c.name
	}
	return names
}

// WriteCSV writes what [WriteText] does in the same order, and all other figures,
// as RFC 4180 with LF line ends under [Header]. The section of a line says what it
// is:
//
//	verdict      one line: answer, reason, exit_code
//	cause        the place, answer (its kind), reason (in words, with source lines)
//	note         reason
//	correctness  unit (what was checked), before, after, in words
//	summary      a figure of what a message costs, where most changed
//	time         a figure that is a time
//	mean         unit, delta_percent of the geometric mean, reason (over how many)
//	figure       any other figure: what fails, then what changed, what is judged, the rest
//
// A figure is in one line, has as many digits as it needs and a decimal point in any
// locale, and is "n/a" where it is not known. Its exit_code is the one that it alone
// asks for. Cells that a section does not have are empty.
func WriteCSV(w io.Writer, c Comparison) error {
	records := slices.Concat([][]string{Header()}, c.csvCauses(), c.csvCorrectness(), c.csvFigures())
	if err := csv.NewWriter(w).WriteAll(records); err != nil {
		return fmt.Errorf("diff: write CSV: %w", err)
	}
	return nil
}

// csvLine returns a line with these cells and no others.
func csvLine(section string, cells map[string]string) []string {
	line := make([]string, len(csvColumns))
	line[0] = section
	for i, column := range csvColumns[1:] {
		line[i+1] = cells[column.name]
	}
	return line
}

// csvCauses returns the lines of the verdict, its causes and the notes.
func (c Comparison) csvCauses() [][]string {
	lines := [][]string{csvLine(sectionVerdict, map[string]string{
		"answer": c.Verdict, "reason": c.headline(), "exit_code": strconv.Itoa(c.ExitCode),
	})}
	for _, cause := range c.Causes {
		lines = append(lines, csvLine(sectionCause, map[string]string{
			"scenario": cause.Scenario, "path": cause.Path, "node": cause.Node, "site": cause.Site,
			"answer": cause.kind(), "reason": strings.Join(slices.Concat([]string{cause.Text}, cause.Lines), ", "),
		}))
	}
	for _, note := range c.Notes {
		lines = append(lines, csvLine(sectionNote, map[string]string{"reason": note}))
	}
	return lines
}

// csvCorrectness returns the lines on whether the runs can be trusted.
func (c Comparison) csvCorrectness() (lines [][]string) {
	rows := c.correctness().rows
	if len(rows) == 0 {
		return [][]string{csvLine(sectionCorrectness, map[string]string{"reason": unsaidOutcome})}
	}
	for _, row := range rows {
		lines = append(lines, csvLine(sectionCorrectness, map[string]string{"unit": row[0], "before": row[1], "after": row[2]}))
	}
	return lines
}

// csvFigures returns a line for each figure and mean.
func (c Comparison) csvFigures() (lines [][]string) {
	type key struct {
		place verdict.Place
		unit  string
	}
	told := make(map[key]bool)
	figures := func(section string, rows []Row) {
		for _, r := range rows {
			if k := (key{r.Place(), r.Unit}); !told[k] {
				told[k] = true
				line := []string{section}
				for _, column := range csvColumns[1:] {
					line = append(line, column.of(r))
				}
				lines = append(lines, line)
			}
		}
	}
	for _, g := range c.Summary {
		figures(sectionSummary, g.Rows)
	}
	figures(sectionTime, timeRows(c.Rows))
	for _, g := range c.Geomeans {
		lines = append(lines, csvLine(sectionMean, map[string]string{
			"unit": g.Unit, "delta_percent": decimal(&g.Percent), "reason": g.over(),
		}))
	}
	figures(sectionFigure, ranked(c.Rows))
	return lines
}

// decimal prints a figure without loss and without an exponent.
func decimal(v *float64) string {
	if v == nil {
		return notAvailable
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// WriteJSON writes c as indented JSON, with [Kind] and [Version]. What is not
// known is null, and so is an empty list below the first level.
func WriteJSON(w io.Writer, c Comparison) error {
	c.Causes, c.Notes, c.Summary, c.Rows = some(c.Causes), some(c.Notes), some(c.Summary), some(c.Rows)
	c.Conditions, c.Geomeans = some(c.Conditions), some(c.Geomeans)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	document := struct {
		Kind    string `json:"kind"`
		Version int    `json:"schemaVersion"`
		Comparison
	}{Kind, Version, c}
	if err := out.Encode(document); err != nil {
		return fmt.Errorf("diff: write JSON: %w", err)
	}
	return nil
}

// some returns a copy of s that is not nil.
func some[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }
