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
	workload      []string
	machine       []string
	absent        []absence // what a side's files do not have at all
	confidence    float64
}

// Compare compares what is after a change with what was before it.
func Compare(before, after verdict.Record, o Options) Comparison {
	c := &comparer{
		before: newSide(Before, before), after: newSide(After, after),
		sameFormat: before.Format == after.Format,
		confidence: cmp.Or(o.Confidence, 0.95),
	}
	conditions := conditionsOf(before, after)
	c.workload, c.machine = differing(conditions, workloadConditions), differing(conditions, timeConditions)
	rows := c.rows()
	judge(rows, c, o.StrictTimes)
	result := Comparison{
		Rows: values(rows), Conditions: conditions,
		Before: sideOf(Before, before), After: sideOf(After, after),
		ByTurns: byTurns(before, after), StrictTimes: o.StrictTimes, Confidence: c.confidence,
	}
	result.tally()
	result.Notes = c.notes()
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
	r.Row.Before, r.Row.After = c.sample(r.before), c.sample(r.after)
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
	case lacking == c.before:
		r.Answer, r.Reason = New, r.lacks+" is not in "+Before
	case r.lacks == scopeUnit && (r.metric.Class != verdict.Count || len(r.before.points) == 0):
		r.Answer, r.Reason = NotAvailable, r.lacks+" is not in "+After
	case r.lacks == scopeSite && lacking.knows && having.knows:
		r.lacks = scopeCode
		r.Answer, r.Reason, r.Fails = Missing, "site is no longer declared", exitWorse
	default:
		r.Answer, r.Reason, r.Fails = Missing, r.lacks+" is not in "+After, exitWorse
	}
	return r
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
