package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/msgpath/msgpath/verdict"
)

// Unmatched is the verdict on a limit whose patterns match no figure.
const Unmatched verdict.Verdict = "UNMATCHED"

// Report is what [Judge] found.
type Report struct {
	Budgets []string `json:"budgets"` // files, as they were given
	Run     []string `json:"run"`
	Base    []string `json:"base"`

	Invalid []string `json:"invalid"` // why the run or the base cannot be relied on
	Notes   []string `json:"notes"`   // what a reader should know of the files
	Lines   []Line   `json:"lines"`   // in the order of the budget
	Strict  bool     `json:"strict"`  // WARN and INCONCLUSIVE fail too
}

// Line is the verdict on one range of a limit, at all places that it matches.
// Of the cells of a table only those that fail have a line each.
type Line struct {
	Verdict verdict.Verdict `json:"verdict"`
	Limit   string          `json:"limit"`
	At      Position        `json:"at"`
	Kind    Kind            `json:"kind"`
	Bound   string          `json:"bound"`

	// What is nearest to the bound or farthest outside it. Value is nil where
	// there is no number, Base where it was not compared with one.
	Where    *Where   `json:"where"`
	Metric   string   `json:"metric"`
	Value    *float64 `json:"value"`
	Base     *float64 `json:"base"`
	FromCode []string `json:"fromCode"` // source lines that caused the events counted there
	Detail   string   `json:"detail"`   // what there is to say besides

	Cells   int    `json:"cells"`   // cells of a table that are in this line, 0 of any other limit
	Places  int    `json:"places"`  // places looked at, each for each metric
	Samples int    `json:"samples"` // samples looked at
	Outside int    `json:"outside"` // samples that do not hold
	Reason  string `json:"reason"`
	Owner   string `json:"owner"`

	exact bool // Value is a count of events
	table Position
	title string
}

// Where is a [verdict.Place] as JSON has it.
type Where struct {
	Scenario string `json:"scenario"`
	Path     string `json:"path"`
	Node     string `json:"node"`
	Site     string `json:"site"`
}

func (w Where) String() string { return Place{w.Scenario, w.Path, w.Node, w.Site, nil}.String() }

// take fills in the outcome that a line is to show.
func (l *Line) take(o outcome, run verdict.Record) {
	l.Verdict, l.Detail, l.Base = o.verdict, o.detail, o.base
	at := Where(o.at.Place)
	l.Where, l.Metric, l.exact = &at, o.at.metric.Name, o.at.metric.Class == verdict.Count
	if o.shown {
		l.Value = &o.value
	}
	if event := o.at.metric.Event(); event != "" && o.verdict == verdict.Fail {
		l.FromCode = run.Lines(o.at.Place, event)
	}
}

// fold makes one line of the cells of a table of which the same is to be said.
// Cells that fail are not folded.
func fold(lines []Line) (folded []Line) {
	type same struct {
		table   Position
		verdict verdict.Verdict
		detail  string
	}
	index := make(map[same]int)
	for _, l := range lines {
		key := same{l.table, l.Verdict, l.Detail}
		if l.table == (Position{}) || l.Verdict == verdict.Fail {
			folded = append(folded, l)
			continue
		}
		i, ok := index[key]
		if !ok {
			i, index[key] = len(folded), len(folded)
			folded = append(folded, Line{
				Verdict: l.Verdict, Limit: l.title, At: l.table, Kind: l.Kind, Bound: "as listed",
				Detail: l.Detail, Reason: l.Reason, Owner: l.Owner, table: l.table,
			})
		}
		folded[i].Cells++
		folded[i].Places += l.Places
		folded[i].Samples += l.Samples
	}
	return folded
}

// ExitCode returns the exit code for what was found: [verdict.ExitInvalid] if the
// run or the base is invalid, not verified or not counted, or a figure that a
// limit speaks of is n/a; else [verdict.ExitFailed] if a limit fails, which with
// Strict is one that is WARN or INCONCLUSIVE too; else [verdict.ExitUnexamined]
// if the patterns of a limit match nothing, nothing is decided because every line
// is INCONCLUSIVE, or there is no limit; else [verdict.ExitOK].
func (r Report) ExitCode() int {
	switch {
	case len(r.Invalid) > 0 || r.count(verdict.NotApplicable) > 0:
		return verdict.ExitInvalid
	case r.count(verdict.Fail) > 0, r.Strict && r.count(verdict.Warn)+r.count(verdict.Inconclusive) > 0:
		return verdict.ExitFailed
	case r.count(verdict.Inconclusive) == len(r.Lines) || r.count(Unmatched) > 0:
		return verdict.ExitUnexamined
	}
	return verdict.ExitOK
}

func (r Report) count(v verdict.Verdict) (n int) {
	for _, l := range r.Lines {
		if l.Verdict == v {
			n++
		}
	}
	return n
}

// jsonKind and jsonVersion mark the document of [WriteJSON].
const (
	jsonKind    = "msgpath-gate"
	jsonVersion = 1
)

// WriteJSON writes the report for a program, with its exit code. The same report
// gives the same bytes.
func WriteJSON(w io.Writer, r Report) error {
	r.Budgets, r.Run, r.Base, r.Invalid = some(r.Budgets), some(r.Run), some(r.Base), some(r.Invalid)
	r.Lines, r.Notes = some(r.Lines), some(r.Notes)
	for i := range r.Lines {
		r.Lines[i].FromCode = some(r.Lines[i].FromCode)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	err := out.Encode(struct {
		Kind     string `json:"kind"`
		Version  int    `json:"schemaVersion"`
		ExitCode int    `json:"exitCode"`
		Report
	}{jsonKind, jsonVersion, r.ExitCode(), r})
	if err != nil {
		return fmt.Errorf("gate: write JSON: %w", err)
	}
	return nil
}

// some returns a copy of s that is not nil.
func some[T any](s []T) []T { return append(make([]T, 0, len(s)), slices.Clone(s)...) }
