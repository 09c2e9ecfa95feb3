package report

import (
	"fmt"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// A keyGrid is the numbers that decide, of one scenario: a row for each subject.
type keyGrid struct {
	Scenario string
	Heads    []keyHead
	Rows     []keyRow
}

// A keyHead is a column: what it is and its unit.
type keyHead struct{ Name, Unit string }

// A keyRow is a subject. First begins a new path; Side is "" where there is one
// side only.
type keyRow struct {
	Path, Side string
	First      bool
	Cells      []keyCell
}

// A keyCell is a figure and how it changed from the first side.
type keyCell struct {
	Text, Change string
	None         bool
}

// keyFigure is a column of a [keyGrid].
type keyFigure struct {
	keyHead
	metric string
	per    float64
	exact  bool
}

var keyFigures = []keyFigure{
	{keyHead{"decodes", "per msg"}, "decodes/msg", 1, true},
	{keyHead{"hashes", "per msg"}, "hashes/msg", 1, true},
	{keyHead{"copies", "per msg"}, "copies/msg", 1, true},
	{keyHead{"allocated", "kB/msg"}, "B/msg", kilobyte, false},
	{keyHead{"throughput", "msg/s"}, "msg/s", 1, false},
}

func (l *ledger) keyGrids() (grids []keyGrid) {
	for _, scenario := range l.scenarios() {
		g := keyGrid{Scenario: scenario}
		for _, f := range keyFigures {
			g.Heads = append(g.Heads, f.keyHead)
		}
		for _, s := range l.subjects(scenario) {
			g.Rows = append(g.Rows, l.keyRow(s, scenario))
		}
		grids = append(grids, g)
	}
	return grids
}

func (l *ledger) keyRow(s subject, scenario string) keyRow {
	r := keyRow{Path: s.path, First: s.side == 0}
	if l.several() {
		r.Side = l.sides[s.side].Name
	}
	for _, f := range keyFigures {
		now := l.whole(s, scenario, f.metric).scaled(f.per)
		c := keyCell{Text: now.text(quantity), None: !now.known()}
		if f.exact {
			c.Text = now.exact()
		}
		if s.side > 0 {
			c.Change = change(l.whole(subject{0, s.path}, scenario, f.metric).scaled(f.per), now)
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}

// headline says the counts of the first scenario: of its first and last counted
// path, or of the path that changed most.
func (l *ledger) headline() string {
	if len(l.scenarios()) == 0 {
		return "No run is valid."
	}
	scenario := l.scenarios()[0]
	var counted []subject
	for _, s := range l.subjects(scenario) {
		if decodes := l.whole(s, scenario, events[0].metric); decodes.known() && s.path != ceiling {
			counted = append(counted, s)
		}
	}
	if len(counted) == 0 {
		return "Counts are n/a: this build does not count. Times are shown."
	}
	first, last := counted[0], counted[len(counted)-1]
	if l.several() {
		return l.changes(scenario, counted)
	}
	if first == last {
		return fmt.Sprintf("In %s, %s.", scenario, l.perMessage(first, scenario, true))
	}
	return fmt.Sprintf("In %s, %s; %s.", scenario, l.perMessage(first, scenario, true), l.perMessage(last, scenario, false))
}

// perMessage says how often a subject decodes and hashes.
func (l *ledger) perMessage(s subject, scenario string, whole bool) string {
	decodes := l.whole(s, scenario, events[0].metric).exact()
	hashes := l.whole(s, scenario, events[1].metric).exact()
	if whole {
		return fmt.Sprintf("%s decodes a message %s× and hashes it %s×", l.name(s), decodes, hashes)
	}
	return fmt.Sprintf("%s %s× and %s×", l.name(s), decodes, hashes)
}

// changes says which counts of which paths differ between the first side and the
// last.
func (l *ledger) changes(scenario string, counted []subject) string {
	var parts []string
	for _, s := range counted {
		for _, e := range events {
			before := l.whole(subject{0, s.path}, scenario, e.metric)
			after := l.whole(s, scenario, e.metric)
			if s.side == len(l.sides)-1 && before.known() && before.exact() != after.exact() {
				parts = append(parts, fmt.Sprintf("%s %s %s → %s", s.path, e.name, before.exact(), after.exact()))
			}
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("In %s, no path decodes or hashes more or less often than before.", scenario)
	}
	return fmt.Sprintf("In %s, per message: %s.", scenario, strings.Join(parts, ", "))
}

// proof says what shows that the figures are of messages that arrived.
func (l *ledger) proof() string {
	runs, invalid, views := 0, 0, 0
	for _, s := range l.sides {
		invalid += len(s.Result.Invalid)
	}
	l.all(func(r verdict.Run) {
		views += r.ViewsChecked
		if r.Verified {
			runs++
		}
	})
	text := fmt.Sprintf("%s runs verified: every message arrived once, unaltered.", count(float64(runs)))
	if invalid > 0 {
		text += fmt.Sprintf(" %d invalid.", invalid)
	}
	if views > 0 {
		text += fmt.Sprintf(" %s shared messages hashed again afterwards, none altered.", count(float64(views)))
	}
	return text
}
