package diff

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// csvColumn is a column of the CSV.
type csvColumn struct {
	name string
	of   func(Row) string
}

var csvColumns = []csvColumn{
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

// WriteCSV writes one line for each row of c under [Header], as RFC 4180 with LF
// line ends: first what fails, then what else changed, then judged times and
// memory, then the rest. Figures have as many digits as they need and a decimal
// point in any locale; what is not known is "n/a". exit_code is the one that the
// row alone asks for.
func WriteCSV(w io.Writer, c Comparison) error {
	records := [][]string{Header()}
	for _, r := range ranked(c.Rows) {
		record := make([]string, len(csvColumns))
		for i, column := range csvColumns {
			record[i] = column.of(r)
		}
		records = append(records, record)
	}
	if err := csv.NewWriter(w).WriteAll(records); err != nil {
		return fmt.Errorf("diff: write CSV: %w", err)
	}
	return nil
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
