package verdict

import (
	"cmp"
	"slices"

	"github.com/msgpath/msgpath/counters"
)

// A Place is where a figure was measured.
type Place struct {
	Scenario string // without the number of the run: micro, macro, a Go benchmark's name
	Path     string // "" where there is none
	Node     string // a node's name, as A, or a role: RoleAll, RolePublisher, RoleReceiver
	Site     string // "package.site"; "" for the sum over sites, and for what is not counted by site
}

// Compare orders places by scenario, path, node and site.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Scenario, q.Scenario), cmp.Compare(p.Path, q.Path),
		cmp.Compare(p.Node, q.Node), cmp.Compare(p.Site, q.Site))
}

// Class tells how a figure may be compared.
type Class int

// Classes.
const (
	Count  Class = iota // exact: any difference is one, and one sample is enough
	Memory              // measured, the same on machines with the same Go
	Time                // measured, and depends on the machine
)

// A Metric is what a figure is a number of.
type Metric struct {
	Name   string // the unit, as in Go benchmark lines: "decodes/msg"
	Class  Class
	Higher bool // higher is better
}

// Metrics returns the metrics of a [Result], in the order in which they are
// reported. Figures of other origin may have others.
func Metrics() []Metric {
	all := make([]Metric, len(metrics))
	for i, m := range metrics {
		all[i] = m.Metric
	}
	return all
}

// metricNamed returns the metric of this name, and false if a [Result] has none.
func metricNamed(name string) (Metric, bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m.Metric, true
		}
	}
	return Metric{}, false
}

// A Figure is one number of one run.
type Figure struct {
	Place
	Metric Metric
	Run    int     // number of the sample at its place, from 1
	Value  float64 // nothing unless Known
	Known  bool    // false: n/a, which is not 0

	// Rounding is the most by which Value may lie beside what was measured,
	// because its source was printed with few decimals. Two figures closer than
	// the sum of theirs are equal.
	Rounding float64
}

// Figures returns every figure of r: for each run those of the roles, of each
// node, and of each node and site. A node has a figure for every
// declared site, 0 where nothing happened and n/a where it was not counted. A run
// whose nodes counted no event at all has counts that are n/a: nothing shows that
// its counters were at work.
func Figures(r Result) (all []Figure) {
	sites := declaredOrCounted(r)
	for _, run := range r.Runs {
		for _, role := range roles(run) {
			line := benchLine{run: run, row: newRow(r, run, role), counts: countedOf(run, ofRole(run.Nodes, role))}
			all = append(all, line.figures(Place{Series(run.Scenario), run.Path, role, ""}, metrics)...)
		}
		for _, node := range run.Nodes {
			all = append(all, nodeFigures(run, node, sites)...)
		}
	}
	return all
}

// countedOf returns the counts of nodes of a run, nil where they are not known.
func countedOf(run Run, nodes []Node) *counters.Counts {
	if sum, ok := countsOf(run.Nodes); ok && sum == (counters.Counts{}) {
		return nil
	}
	sum, ok := countsOf(nodes)
	if !ok {
		return nil
	}
	return &sum
}

// nodeFigures returns the counts of a node that is not called like a role, and
// of its sites.
func nodeFigures(run Run, node Node, sites []string) (all []Figure) {
	place := Place{Series(run.Scenario), run.Path, node.Name, ""}
	line := benchLine{run: run, counts: countedOf(run, []Node{node})}
	if !slices.Contains([]string{RoleAll, RolePublisher, RoleReceiver}, node.Name) {
		all = line.figures(place, countMetrics())
	}
	counts := make(map[string]counters.Counts)
	for _, s := range node.Sites {
		counts[s.Site] = s.Counts
	}
	for _, name := range sites {
		place.Site = name
		if line.counts != nil {
			c := counts[name]
			line.counts = &c
		}
		all = append(all, line.figures(place, countMetrics())...)
	}
	return all
}

// declaredOrCounted returns the sites that r declares or counted, in order.
func declaredOrCounted(r Result) []string {
	sites := slices.Clone(r.Environment.Sites)
	for _, run := range r.Runs {
		for _, node := range run.Nodes {
			for _, s := range node.Sites {
				sites = append(sites, s.Site)
			}
		}
	}
	slices.Sort(sites)
	return slices.Compact(sites)
}

func countMetrics() []metric {
	return slices.DeleteFunc(slices.Clone(metrics), func(m metric) bool { return m.Class != Count })
}

// figures returns the metrics of a line. Times and memory of one role are left
// out rather than n/a: only the run as a whole has them. So are those of an open
// loop in a closed one.
func (l benchLine) figures(place Place, of []metric) (all []Figure) {
	for _, m := range of {
		f := Figure{Place: place, Metric: m.Metric, Run: l.run.Number}
		v := m.value(l)
		if m.open && l.run.OpenLoop == nil {
			continue
		}
		if v == nil && m.Class != Count && place.Node != RoleAll {
			continue
		}
		if v != nil {
			f.Value, f.Known = *v, true
		}
		all = append(all, f)
	}
	return all
}
