package gate

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// Budget is what one or more files demand. The zero value demands nothing, and
// [Judge] of it examines nothing.
type Budget struct {
	Files  []string // names, as they were given
	Limits []Limit  // in the order of the files; a table has one for each cell
}

// Limit bounds the figures that its patterns match.
type Limit struct {
	Name string
	At   Position // where it stands
	Place
	Metric string // pattern of metrics' names
	Ranges []Range
	Reason string
	Owner  string

	// Settings are those of the runs that the limit was made for, by the names of
	// [verdict.Record.Conditions]. A figure that is no count is not judged where
	// they were others.
	Settings map[string]string

	// Table is where the table stands whose cell this limit is, the zero value
	// of any other. Title is the name of the table.
	Table Position
	Title string
}

// Place is the patterns of a [verdict.Place].
type Place struct {
	Scenario, Path, Node string
	Site                 string   // "": the sum over sites
	Except               []string // sites that have a row of their own in the table
}

// Kind tells what a [Range] is a bound of, and what follows if it does not hold.
type Kind string

// Kinds, as the keys of the file are called.
const (
	Hard       Kind = "hard"
	Soft       Kind = "soft"
	Change     Kind = "change"
	SoftChange Kind = "soft-change"
)

// relative reports whether a bound is of the difference to a base.
func (k Kind) relative() bool { return k == Change || k == SoftChange }

// soft reports whether nothing depends on a bound.
func (k Kind) soft() bool { return k == Soft || k == SoftChange }

// Position is a place in a file. Lines and columns are counted from 1.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"` // in characters
}

func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Join returns one budget with the limits of all.
func Join(budgets ...Budget) (all Budget) {
	for _, b := range budgets {
		all.Files = append(all.Files, b.Files...)
		all.Limits = append(all.Limits, b.Limits...)
	}
	return all
}

// NeedsBase returns the first limit that is relative to a base, and false if
// none is.
func (b Budget) NeedsBase() (Limit, bool) {
	i := slices.IndexFunc(b.Limits, func(l Limit) bool {
		return slices.ContainsFunc(l.Ranges, func(r Range) bool { return r.Kind.relative() })
	})
	if i < 0 {
		return Limit{}, false
	}
	return b.Limits[i], true
}

// CheckMetrics returns an error for every metric that neither is one of
// [verdict.Metrics] nor is in the run. A run without figures proves no name
// wrong.
func (b Budget) CheckMetrics(run verdict.Record) error {
	names := metricNames(run)
	var errs []error
	for _, l := range b.Limits {
		known := slices.ContainsFunc(names, func(name string) bool { return matches(l.Metric, name) })
		if !known && len(run.Figures) > 0 {
			err := fmt.Errorf("gate: check metrics: %s: no metric is called %q%s", l.At, l.Metric, suggest(l.Metric, names))
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// metricNames returns the names that a limit of this run may have.
func metricNames(run verdict.Record) (names []string) {
	for _, m := range verdict.Metrics() {
		names = append(names, m.Name)
	}
	for _, f := range run.Figures {
		names = append(names, f.Metric.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// meta are the characters that make a pattern of a name.
const meta = `*?[\`

// matches reports whether a pattern matches a name. [path.Match] stops at
// slashes, which are nothing special in a name.
func matches(pattern, name string) bool {
	switch {
	case pattern == "*":
		return true
	case !strings.ContainsAny(pattern, meta):
		return pattern == name
	}
	ok, err := path.Match(flat(pattern), flat(name))
	return ok && err == nil
}

func flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// covers reports whether the patterns match a place.
func (p Place) covers(at verdict.Place) bool {
	if !matches(p.Scenario, at.Scenario) || !matches(p.Path, at.Path) || !matches(p.Node, at.Node) {
		return false
	}
	if p.Site == "" || at.Site == "" {
		return p.Site == at.Site
	}
	return matches(p.Site, at.Site) && !slices.Contains(p.Except, at.Site)
}

// rest reports whether this is the row of a table for all sites without one.
func (p Place) rest() bool { return p.Except != nil }

// String names a place by what its patterns say: those for any scenario and any
// path say nothing.
func (p Place) String() string {
	site := p.Site
	switch {
	case p.rest():
		site = "other sites"
	case site == "*":
		site = "every site"
	}
	words := slices.DeleteFunc([]string{p.Scenario, p.Path}, func(s string) bool { return s == "*" })
	words = slices.DeleteFunc(append(words, p.Node, site), func(s string) bool { return s == "" })
	return strings.Join(words, " ")
}

// title returns what a limit without a name is called.
func (l Limit) title() string { return cmp.Or(l.Name, l.Place.String()+" "+l.Metric) }
