package diff

import (
	"cmp"
	"math"
	"slices"

	"github.com/msgpath/msgpath/verdict"
)

// Bounds of the summary: what fits 100 columns and a reviewer's two minutes.
const (
	summaryGroups = 2
	summaryRows   = 8
)

// summaryUnits are the figures that a change of the message path is judged by,
// and what they are called.
var summaryUnits = []struct{ unit, name string }{
	{"decodes/msg", "decodes/msg"},
	{"hashes/msg", "hashes/msg"},
	{"copies/msg", "copies/msg"},
	{"B/msg", "allocated/msg"},
	{"live-heap-B", "retained heap"},
	{"peak-heap-B", "peak heap"},
	{"unexplained-B/msg", "unexplained/msg"},
}

// summaryName returns what a unit is called in the summary.
func summaryName(unit string) string {
	for _, u := range summaryUnits {
		if u.unit == unit {
			return u.name
		}
	}
	return unit
}

// summary returns the scenarios and paths in which most changed: of each scenario
// the first, or of a lone scenario the first two.
func summary(rows []Row) (groups []Group) {
	all := summarised(rows)
	slices.SortStableFunc(all, func(a, b Group) int {
		x, y := a.change(), b.change()
		return cmp.Or(cmp.Compare(y[0], x[0]), cmp.Compare(y[1], x[1]))
	})
	for _, other := range []bool{true, false} { // first one path of each scenario
		for _, g := range all {
			taken := slices.ContainsFunc(groups, func(h Group) bool { return h.Scenario == g.Scenario })
			same := slices.ContainsFunc(groups, func(h Group) bool { return h.Scenario == g.Scenario && h.Path == g.Path })
			if len(groups) < summaryGroups && !same && (!other || !taken) {
				groups = append(groups, g)
			}
		}
	}
	return groups
}

// summarised returns the summary of each scenario and path that both sides have.
func summarised(rows []Row) (groups []Group) {
	for _, r := range rows {
		if r.Node != verdict.RoleAll || r.Site != "" || !r.common() || r.Class == "time" {
			continue
		}
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Scenario == r.Scenario && g.Path == r.Path })
		if i < 0 {
			i, groups = len(groups), append(groups, Group{Scenario: r.Scenario, Path: r.Path})
		}
		groups[i].Rows = append(groups[i].Rows, r)
	}
	for i := range groups {
		groups[i].Rows = mostTelling(groups[i].Rows)
	}
	return groups
}

// inSummary reports whether figures of a unit can be in a summary.
func inSummary(unit string) bool {
	return slices.ContainsFunc(summaryUnits, func(u struct{ unit, name string }) bool { return u.unit == unit })
}

// mostTelling returns the rows of a summary: those of summaryUnits, and for
// benchmarks without any of these the first counts, then the first of memory.
func mostTelling(rows []Row) (out []Row) {
	for _, u := range summaryUnits {
		if i := slices.IndexFunc(rows, func(r Row) bool { return r.Unit == u.unit }); i >= 0 {
			out = append(out, rows[i])
		}
	}
	if len(out) == 0 {
		out = slices.Clone(rows)
		slices.SortStableFunc(out, func(a, b Row) int { return cmp.Compare(a.Class, b.Class) })
	}
	return out[:min(summaryRows, len(out))]
}

// change returns the largest relative change of counts, and of memory.
func (g Group) change() (largest [2]float64) {
	for _, r := range g.Rows {
		i, by := 0, 0.0
		if r.Class != "count" {
			i = 1
		}
		switch {
		case r.Percent != nil:
			by = math.Abs(*r.Percent)
		case r.Delta != nil && *r.Delta != 0:
			by = math.Inf(1)
		}
		largest[i] = max(largest[i], by)
	}
	return largest
}

// timeRows returns the rows of the section on times: two of each scenario and
// path, and all times of other projects' benchmarks.
func timeRows(rows []Row) (out []Row) {
	for _, r := range rows {
		if r.Class == "time" && r.Judged && r.common() && r.Before.N > 0 && r.After.N > 0 {
			out = append(out, r)
		}
	}
	return out
}

// geomeans returns the geometric mean of each unit over what both sides have. It
// is of rows of all roles: nodes and sites are parts of these.
func geomeans(rows []Row) (out []Geomean) {
	logs := make([]float64, 0)
	for _, r := range rows {
		compared := r.Before.Median != nil && r.After.Median != nil && r.Answer != NotComparable && r.Answer != NotAvailable
		if r.Node != verdict.RoleAll || r.Site != "" || !compared {
			continue
		}
		i := slices.IndexFunc(out, func(g Geomean) bool { return g.Unit == r.Unit })
		if i < 0 {
			i, out, logs = len(out), append(out, Geomean{Unit: r.Unit}), append(logs, 0)
		}
		if *r.Before.Median <= 0 || *r.After.Median <= 0 {
			out[i].LeftOut++
			continue
		}
		out[i].Places++
		logs[i] += math.Log(*r.After.Median) - math.Log(*r.Before.Median)
	}
	for i := range out {
		if p := finite(100 * math.Expm1(logs[i]/max(1, float64(out[i].Places)))); p != nil {
			out[i].Percent = *p
		} else {
			out[i].Places = 0
		}
	}
	return slices.DeleteFunc(out, func(g Geomean) bool { return g.Places == 0 })
}
