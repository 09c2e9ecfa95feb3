package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// Kinds of causes, in the order in which they are told.
const (
	CauseInvalid = "INVALID" // a run is invalid or was not verified
	CauseNA      = "N/A"     // a count is not known on a side
	CauseSkipped = "SKIPPED" // a scenario and path whose runs are all invalid on a side
	CauseMissing = "MISSING" // is not in AFTER
	CauseWorse   = "WORSE"
	CauseNew     = "NEW" // is not in BEFORE
	CauseBetter  = "BETTER"
)

var kinds = []string{CauseInvalid, CauseNA, CauseSkipped, CauseMissing, CauseWorse, CauseNew, CauseBetter}

// causes returns why the comparison ends as it does, the worst first.
func (c *comparer) causes(rows []*compared, result *Comparison) []Cause {
	all := slices.Concat(invalidCauses(result.Before), invalidCauses(result.After), uncountedCause(result), result.viewsCauses())
	all = append(all, c.countCauses(rows)...)
	all = append(all, sampledCauses(rows, result.StrictTimes)...)
	slices.SortStableFunc(all, func(a, b Cause) int {
		return cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind))
	})
	return slices.CompactFunc(all, func(a, b Cause) bool { return a.String() == b.String() })
}

// String returns the cause in one line.
func (c Cause) String() string {
	parts := []string{c.Scenario, c.Path, c.Node, c.Site, c.Text}
	if c.Node == verdict.RoleAll {
		parts[2] = ""
	}
	line := c.kind() + ": " + strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
	const most = 3
	for _, at := range c.Lines[:min(most, len(c.Lines))] {
		line += ", " + at
	}
	if more := len(c.Lines) - most; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}

// kind returns the kind, and whether it is without effect on the exit code.
func (c Cause) kind() string {
	if c.Advisory {
		return c.Kind + " (advisory)"
	}
	return c.Kind
}

func causeAt(kind string, p verdict.Place, text string) Cause {
	return Cause{Kind: kind, Scenario: p.Scenario, Path: p.Path, Node: p.Node, Site: p.Site, Text: text}
}

func invalidCauses(s Side) (all []Cause) {
	for _, inv := range s.Invalid {
		all = append(all, Cause{Kind: CauseInvalid, Scenario: inv.Scenario, Path: inv.Path, Text: s.Name + ": " + inv.Reason})
	}
	if n := s.unverified(); n > 0 {
		all = append(all, Cause{Kind: CauseInvalid, Text: fmt.Sprintf("%s: %d of %d runs were not verified", s.Name, n, s.Runs)})
	}
	return all
}

func uncountedCause(c *Comparison) []Cause {
	if !c.uncounted() {
		return nil
	}
	return []Cause{{Kind: CauseNA, Text: "no count is known on either side: neither was a build that counts"}}
}

// countCauses returns one cause for each place and direction in which counts
// changed, and one for each thing that vanished, is new or has no count.
func (c *comparer) countCauses(rows []*compared) (all []Cause) {
	x := newLedger(rows)
	index := make(map[string]int)
	for _, r := range byEvent(rows) {
		kind, place := c.countKind(r, x)
		if kind == "" {
			continue
		}
		cause := causeAt(kind, place, "("+r.Reason+")")
		cause.Advisory = r.Answer == Missing && r.Fails == 0
		if r.lacks == scopeUnit && !r.change() {
			cause.Text = r.Unit + " " + cause.Text
		}
		id := fmt.Sprintf("%s %q %s", kind, place, cause.Text)
		if r.change() {
			id = fmt.Sprintf("%s %q", kind, place)
			cause.Text = ""
		}
		i, seen := index[id]
		if !seen {
			i = len(all)
			index[id], all = i, append(all, cause)
		}
		if r.change() {
			c.explain(&all[i], r)
		}
	}
	return all
}

// byEvent returns rows with the bytes of each kind of event behind their number.
func byEvent(rows []*compared) []*compared {
	events := []string{"decode", "hash", "id_hash", "encode", "copy"}
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b *compared) int {
		return cmp.Or(a.Place().Compare(b.Place()),
			cmp.Compare(slices.Index(events, a.metric.Event()), slices.Index(events, b.metric.Event())))
	})
	return out
}

// change reports whether a figure is said to be another one, rather than a thing
// to be there or not.
func (r *compared) change() bool {
	switch r.Answer {
	case Worse, Better, Appeared, Gone:
		return true
	case New:
		return r.lacks == scopeSite || r.lacks == scopeUnit
	}
	return false
}

// countKind returns of what kind a row is a cause and at which place, "" for none.
func (c *comparer) countKind(r *compared, x ledger) (string, verdict.Place) {
	p := r.Place()
	if r.metric.Class != verdict.Count && r.Answer != Missing && r.Answer != New && r.Answer != Skipped {
		return "", p
	}
	switch r.Answer {
	case NotAvailable:
		if r.Fails != 0 {
			return CauseNA, verdict.Place{Scenario: p.Scenario, Path: p.Path}
		}
	case Skipped:
		return CauseSkipped, verdict.Place{Scenario: p.Scenario, Path: p.Path}
	case Missing:
		return CauseMissing, scope(r)
	case New:
		return newKind(r, x)
	case Worse, Better, Appeared, Gone:
		if x.explained(r) {
			return "", p
		}
		if r.Fails != 0 {
			return CauseWorse, p
		}
		return CauseBetter, p
	}
	return "", p
}

// newKind returns the kind of what is new: a new site that raises its node's
// total is what makes it worse.
func newKind(r *compared, x ledger) (string, verdict.Place) {
	nothing := r.Row.After.Max == nil || *r.Row.After.Max == 0
	switch {
	case !r.change():
		return CauseNew, scope(r)
	case r.metric.Class != verdict.Count || nothing:
		return "", scope(r)
	case r.lacks == scopeSite && x.rose(r):
		return CauseWorse, r.Place()
	}
	return CauseNew, r.Place()
}

// scope returns the widest thing that a side lacks.
func scope(r *compared) verdict.Place {
	p := r.Place()
	switch r.lacks {
	case scopeScenario:
		return verdict.Place{Scenario: p.Scenario}
	case scopePath:
		return verdict.Place{Scenario: p.Scenario, Path: p.Path}
	case scopeNode:
		return nodeOf(p)
	case scopeCode:
		return verdict.Place{Site: p.Site}
	}
	return p
}

// explain adds what a row says to the cause that it belongs to.
func (c *comparer) explain(cause *Cause, r *compared) {
	text := changeText(r.contribution(), r.metric)
	for _, remark := range []string{edgeText(r), r.Reason} {
		if remark != "" && !strings.Contains(cause.Text, remark) && r.Answer != New {
			text += " (" + remark + ")"
		}
	}
	if r.Answer == New && r.lacks == scopeSite && !strings.Contains(cause.Text, "new site") {
		text += " (new site)"
	}
	if cause.Text != "" {
		text = cause.Text + ", " + text
	}
	cause.Text = text
	for _, at := range c.lines(r) {
		if !slices.Contains(cause.Lines, at) {
			cause.Lines = append(cause.Lines, at)
		}
	}
}

func edgeText(r *compared) string {
	if r.Answer == Gone && r.Reason == "" {
		return "gone"
	}
	return ""
}

// lines returns where in the source a change comes from: of a rise, the lines that
// count in AFTER, of a fall those in BEFORE, and of these only the ones that the
// other side does not have, if there are any.
func (c *comparer) lines(r *compared) []string {
	event := r.metric.Event()
	if event == "" {
		return nil
	}
	at, other := c.before.record.Lines(r.Place(), event), c.after.record.Lines(r.Place(), event)
	if r.contribution() > 0 {
		at, other = other, at
	}
	only := slices.DeleteFunc(slices.Clone(at), func(line string) bool { return slices.Contains(other, line) })
	if len(only) > 0 {
		return only
	}
	return at
}

// sampledCauses returns the causes that judged times and memory are: each by
// itself where it fails or is alone, and one line for all places of a unit else,
// since the section on times has them all.
func sampledCauses(rows []*compared, strict bool) (all []Cause) {
	for _, answer := range []Answer{Worse, Better} {
		var units []string
		of := make(map[string][]*compared)
		for _, r := range rows {
			if r.Judged && r.Answer == answer {
				if of[r.Unit] == nil {
					units = append(units, r.Unit)
				}
				of[r.Unit] = append(of[r.Unit], r)
			}
		}
		for _, unit := range units {
			all = append(all, causesOfUnit(of[unit], strict && answer == Worse)...)
		}
	}
	return all
}

func causesOfUnit(rows []*compared, each bool) (all []Cause) {
	if len(rows) > 1 && !each {
		return []Cause{sampledCause(rows[0], verdict.Place{}, rangeText(rows), false)}
	}
	for _, r := range rows {
		text := percent(r.Percent) + ", " + r.Reason
		if r.Floor != nil {
			text += fmt.Sprintf(", noise floor %.1f %%", *r.Floor)
		}
		all = append(all, sampledCause(r, verdict.Place{Scenario: r.Scenario, Path: r.Path}, text, each))
	}
	return all
}

func sampledCause(r *compared, at verdict.Place, text string, strict bool) Cause {
	cause := causeAt(CauseBetter, at, r.Unit+" "+text)
	if r.Answer == Worse {
		cause.Kind, cause.Advisory = CauseWorse, !strict
	}
	return cause
}

// rangeText tells from where to where the differences of a unit go.
func rangeText(rows []*compared) string {
	var least, most *float64
	for _, r := range rows {
		if p := r.Percent; p != nil && (least == nil || *p < *least) {
			least = p
		}
		if p := r.Percent; p != nil && (most == nil || *p > *most) {
			most = p
		}
	}
	return fmt.Sprintf("%s to %s at %d scenarios and paths", percent(least), percent(most), len(rows))
}
