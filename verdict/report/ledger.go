package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// ceiling is the name of a path that does nothing but relay, if there is one: what
// the network alone costs.
const ceiling = "raw"

// A subject is what the report sets side by side: one path, as one side
// measured it.
type subject struct {
	side int
	path string
}

// A ledger holds every figure of all sides where it can be found.
type ledger struct {
	sides   []Side
	samples map[entry][]verdict.Figure
}

// entry is where a figure is found.
type entry struct {
	side   int
	place  verdict.Place
	metric string
}

func newLedger(sides []Side) *ledger {
	l := &ledger{sides: sides, samples: make(map[entry][]verdict.Figure)}
	for i, side := range sides {
		for _, f := range verdict.Figures(side.Result) {
			at := entry{i, f.Place, f.Metric.Name}
			l.samples[at] = append(l.samples[at], f)
		}
	}
	return l
}

// sample returns the values of a figure, none where any run lacks it.
func (l *ledger) sample(s subject, scenario, node, site, metric string) sample {
	at := entry{s.side, verdict.Place{Scenario: scenario, Path: s.path, Node: node, Site: site}, metric}
	var values []float64
	for _, f := range l.samples[at] {
		if !f.Known {
			return nil
		}
		values = append(values, f.Value)
	}
	return newSample(values)
}

// whole returns the values of a figure of the run as a whole.
func (l *ledger) whole(s subject, scenario, metric string) sample {
	return l.sample(s, scenario, verdict.RoleAll, "", metric)
}

// runs returns the runs of a scenario that a subject has.
func (l *ledger) runs(s subject, scenario string) (runs []verdict.Run) {
	for _, run := range l.sides[s.side].Result.Runs {
		if verdict.Series(run.Scenario) == scenario && run.Path == s.path {
			runs = append(runs, run)
		}
	}
	return runs
}

// all calls visit for every valid run of every side.
func (l *ledger) all(visit func(verdict.Run)) {
	for _, side := range l.sides {
		for _, run := range side.Result.Runs {
			visit(run)
		}
	}
}

// scenarios returns what ran, that of most nodes first: a message that is
// relayed says more than one within a node.
func (l *ledger) scenarios() (names []string) {
	nodes := make(map[string]int)
	l.all(func(run verdict.Run) {
		name := verdict.Series(run.Scenario)
		names = appendNew(names, name)
		nodes[name] = max(nodes[name], len(run.Nodes))
	})
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(nodes[b], nodes[a]) })
	return names
}

// subjects returns what is set side by side in a scenario: paths in order of
// appearance, each with all sides.
func (l *ledger) subjects(scenario string) (all []subject) {
	var paths []string
	l.all(func(run verdict.Run) {
		if verdict.Series(run.Scenario) == scenario {
			paths = appendNew(paths, run.Path)
		}
	})
	for _, path := range paths {
		for side := range l.sides {
			all = append(all, subject{side, path})
		}
	}
	return all
}

// nodes returns the nodes of a scenario, each once.
func (l *ledger) nodes(scenario string) (nodes []verdict.Node) {
	l.all(func(run verdict.Run) {
		for _, n := range run.Nodes {
			known := slices.ContainsFunc(nodes, func(m verdict.Node) bool { return m.Name == n.Name })
			if verdict.Series(run.Scenario) == scenario && !known {
				nodes = append(nodes, verdict.Node{Name: n.Name, Role: n.Role})
			}
		}
	})
	return nodes
}

// sites returns the sites at which anything was counted on a node, ascending.
func (l *ledger) sites(scenario, node, metric string) (names []string) {
	for at, figures := range l.samples {
		happened := slices.ContainsFunc(figures, func(f verdict.Figure) bool { return f.Known && f.Value != 0 })
		if at.place.Scenario == scenario && at.place.Node == node && at.place.Site != "" && at.metric == metric && happened {
			names = appendNew(names, at.place.Site)
		}
	}
	slices.Sort(names)
	return names
}

// name returns what a subject is called, on one line.
func (l *ledger) name(s subject) string {
	if len(l.sides) == 1 {
		return s.path
	}
	return s.path + ", " + l.sides[s.side].Name
}

// lines returns the source lines of a kind of event at a site, of all sides.
func (l *ledger) lines(scenario, node, site, metric string) (lines []string) {
	for _, s := range l.subjects(scenario) {
		record := verdict.Record{Results: []verdict.Result{l.sides[s.side].Result}}
		place := verdict.Place{Scenario: scenario, Path: s.path, Node: node, Site: site}
		lines = append(lines, record.Lines(place, verdict.Metric{Name: metric}.Event())...)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// short returns the last part of a site's name.
func short(site string) string { return site[strings.LastIndexByte(site, '.')+1:] }

func appendNew(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
