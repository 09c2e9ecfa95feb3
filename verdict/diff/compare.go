package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// comparer compares two sides.
type comparer struct {
	before, after *side
	sameFormat    bool // both have the same kinds of rows
	conditions    []Condition
	absent        []absence // what a side's files do not have at all
	strict        bool
}

// Compare compares what is after a change with what was before it.
func Compare(before, after verdict.Record, o Options) Comparison {
	c := &comparer{
		before: newSide(Before, before), after: newSide(After, after),
		sameFormat: before.Format == after.Format, conditions: conditionsOf(before, after),
		strict: o.StrictTimes,
	}
	rows := c.rows()
	c.partial(rows)
	turns := byTurns(before, after)
	judge(rows, o.StrictTimes, turns == nil || *turns)
	result := Comparison{
		Rows: values(rows), Conditions: c.conditions,
		Before: sideOf(Before, before), After: sideOf(After, after),
		ByTurns: turns, MadeBy: o.MadeBy, StrictTimes: o.StrictTimes, Confidence: verdict.Confidence,
	}
	result.tally()
	result.Notes = slices.Concat(c.notes(), c.fewerRuns(), result.viewsNotes(), coresNote(c.conditions))
	result.Geomeans, result.Summary = geomeans(result.Rows), summary(result.Rows)
	result.Causes = c.causes(rows, &result)
	result.ExitCode = ExitCode(result)
	result.Verdict = result.verdict()
	return result
}

// compared is a row and what it was made of.
type compared struct {
	Row
	metric        verdict.Metric
	before, after *samples
	lacks         string // the widest thing that a side lacks, as scopePath
}

func values(rows []*compared) []Row {
	all := make([]Row, len(rows))
	for i, r := range rows {
		all[i] = r.Row
	}
	return all
}

// rows compares every key of either side, in order of place and metric.
func (c *comparer) rows() (rows []*compared) {
	keys := make(map[key]bool)
	for k := range c.before.samples {
		keys[k] = true
	}
	for k := range c.after.samples {
		keys[k] = true
	}
	rank := make(map[string]int)
	for i, m := range verdict.Metrics() {
		rank[m.Name] = i - len(verdict.Metrics())
	}
	for _, k := range slices.SortedFunc(maps.Keys(keys), func(a, b key) int {
		return cmp.Or(a.Place.Compare(b.Place), cmp.Compare(rank[a.unit], rank[b.unit]), cmp.Compare(a.unit, b.unit))
	}) {
		if row := c.row(k); row != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

// row compares one key, and returns nil where there is nothing to be said of it.
func (c *comparer) row(k key) *compared {
	r := &compared{before: c.before.samples[k], after: c.after.samples[k]}
	r.Scenario, r.Path, r.Node, r.Site, r.Unit = k.Scenario, k.Path, k.Node, k.Site, k.unit
	switch {
	case r.before == nil:
		c.fill(k, &r.before, c.before, c.after)
	case r.after == nil:
		c.fill(k, &r.after, c.after, c.before)
	}
	r.metric = metricOf(r.before, r.after)
	r.Class, r.Higher = className(r.metric.Class), r.metric.Higher
	r.Row.Before, r.Row.After = newSample(r.before), newSample(r.after)
	r.Judged = r.metric.Class != verdict.Count && judgedUnit(k.unit) && k.Node == verdict.RoleAll && k.Site == ""
	switch {
	case r.before == nil:
		return c.oneSided(r, k, c.before, c.after)
	case r.after == nil:
		return c.oneSided(r, k, c.after, c.before)
	case r.metric.Class == verdict.Count:
		c.compareCount(r)
	default:
		c.compareMedians(r)
	}
	return r
}

// fill puts zeros where a side lists only sites at which something was counted.
// Of a site that is no longer declared there is nothing to fill in.
func (c *comparer) fill(k key, into **samples, lacking, having *side) {
	if k.Site == "" {
		return
	}
	bothKnow := lacking.knows && having.knows
	if bothKnow && !slices.Contains(lacking.declared, k.Site) {
		return
	}
	*into = lacking.zeros(k)
}

// metricOf returns the metric of a key. What one side marks as exact is exact.
func metricOf(before, after *samples) verdict.Metric {
	switch {
	case before == nil:
		return after.metric
	case after == nil:
		return before.metric
	}
	m := before.metric
	if after.metric.Class == verdict.Count {
		m.Class = verdict.Count
	}
	m.Higher = m.Higher || after.metric.Higher
	return m
}

func className(c verdict.Class) string { return [...]string{"count", "memory", "time"}[c] }

// oneSided says why a side lacks what the other has.
func (c *comparer) oneSided(r *compared, k key, lacking, having *side) *compared {
	if c.uncounted(r, k, lacking, having) {
		return r
	}
	r.lacks = lacking.lacks(k.Place)
	switch {
	case lacking.invalid[seriesOf(k.Place)] && !lacking.hasSeries(seriesOf(k.Place)):
		r.Answer, r.Reason, r.Fails = Skipped, "all runs are invalid "+lacking.name, exitInvalid
	case !c.sameFormat && !lacking.levels[levelOf(k)]:
		c.absent = append(c.absent, absence{lacking, levelOf(k)})
		return nil
	case lacking == c.before && c.newWork(r, k):
		r.Answer, r.Reason, r.Fails = Appeared, r.lacks+" is not in "+Before, exitWorse
	case lacking == c.before:
		r.Answer, r.Reason = New, r.lacks+" is not in "+Before
	case r.lacks == scopeUnit && len(r.before.points) == 0:
		r.Answer, r.Reason = NotAvailable, r.lacks+" is not in "+After
	case r.lacks == scopeUnit && r.metric.Class != verdict.Count && !c.strict:
		r.Answer, r.Reason = Missing, r.lacks+" is not in "+After
	case r.lacks == scopeSite && lacking.knows && having.knows:
		r.lacks = scopeCode
		r.Answer, r.Reason, r.Fails = Missing, "site is no longer declared", exitWorse
	default:
		r.Answer, r.Reason, r.Fails = Missing, r.lacks+" is not in "+After, exitWorse
	}
	return r
}

// newWork reports whether a row is of a node that is new and works, where no total
// of all nodes shows whether it makes more of the work.
func (c *comparer) newWork(r *compared, k key) bool {
	total := key{verdict.Place{Scenario: k.Scenario, Path: k.Path, Node: verdict.RoleAll}, k.unit}
	totals := c.before.samples[total] != nil && c.after.samples[total] != nil
	ofNode := levelOf(key{nodeOf(k.Place), k.unit}).of == levelNode
	return ofNode && r.lacks == scopeNode && r.metric.Class == verdict.Count && !r.Higher && !totals &&
		len(r.after.points) > 0 && maxOf(r.after) > 0
}

// uncounted answers for a site of a node that the other side did not count.
func (c *comparer) uncounted(r *compared, k key, lacking, having *side) bool {
	node := lacking.samples[key{nodeOf(k.Place), k.unit}]
	if k.Site == "" || node == nil || len(node.points) > 0 || len(having.samples[k].points) == 0 {
		return false
	}
	r.Answer, r.Reason, r.Fails = NotAvailable, "counts are n/a "+lacking.name, exitInvalid
	return true
}

// absence is a kind of row that the files of a side do not have.
type absence struct {
	side *side
	level
}

// notes returns what a reader should know of the files.
func (c *comparer) notes() (notes []string) {
	for _, s := range []*side{c.before, c.after} {
		for _, n := range s.record.Notes {
			notes = append(notes, s.name+": "+n)
		}
	}
	units := make(map[absence][]string) // of rows of a kind; none where the kind itself is absent
	var order []absence
	for _, a := range c.absent {
		of := absence{a.side, level{of: a.of}}
		if !slices.Contains(order, of) {
			order = append(order, of)
		}
		if a.side.hasLevel(a.of) && !slices.Contains(units[of], a.unit) {
			units[of] = append(units[of], a.unit)
		}
	}
	for _, a := range order {
		what := a.of
		if u := units[a]; len(u) > 0 {
			what = few(u) + " in " + a.of
		}
		notes = append(notes, fmt.Sprintf("%s's files have no %s: not compared", a.side.name, what))
	}
	return notes
}

// few lists names, of many the first.
func few(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
