package diff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/msgpath/msgpath/verdict"
)

// key is what is compared: one metric at one place.
type key struct {
	verdict.Place
	unit string
}

// series is the runs of a scenario on a path.
type series struct{ scenario, path string }

func seriesOf(p verdict.Place) series { return series{p.Scenario, p.Path} }

// point is one sample.
type point struct {
	run   int
	value float64
}

// samples are what one side says of a key.
type samples struct {
	metric   verdict.Metric
	points   []point      // by run
	na       map[int]bool // runs that did not measure it
	rounding float64
}

// runs returns how many runs say anything of a key, be it n/a.
func (s *samples) runs() int { return len(s.points) + len(s.na) }

// shareNA returns the share of runs that did not measure a key.
func (s *samples) shareNA() float64 { return float64(len(s.na)) / float64(max(1, s.runs())) }

func (s *samples) values() []float64 {
	values := make([]float64, len(s.points))
	for i, p := range s.points {
		values[i] = p.value
	}
	return values
}

// side is a record, to be looked things up in.
type side struct {
	name     string
	record   verdict.Record
	samples  map[key]*samples
	places   map[verdict.Place]bool // with all that they are part of, as {macro "" "" ""}
	levels   map[level]bool
	sites    map[verdict.Place]bool // nodes that have figures by site
	invalid  map[series]bool
	runs     map[runsKey]map[int]bool // numbers of all runs that have any figure
	declared []string
	knows    bool // what is declared
}

// runsKey is whose runs are numbered alike: rows of roles and those of nodes may be
// of different files.
type runsKey struct {
	series
	nodes bool
}

func runsKeyOf(k key) runsKey {
	of := levelOf(k).of
	return runsKey{seriesOf(k.Place), of == levelNode || of == levelSite}
}

// level is how fine a figure is: files of some formats have none by node or site.
type level struct {
	of   string
	unit string
}

// Levels of places.
const (
	levelAll  = "rows of all roles"
	levelRole = "rows of one role"
	levelNode = "rows of a node"
	levelSite = "rows of a site"
)

func levelOf(k key) level {
	switch {
	case k.Site != "":
		return level{levelSite, k.unit}
	case k.Node == verdict.RoleAll:
		return level{levelAll, k.unit}
	case k.Node == verdict.RolePublisher || k.Node == verdict.RoleReceiver:
		return level{levelRole, k.unit}
	}
	return level{levelNode, k.unit}
}

// around returns what a place is part of, and itself.
func around(p verdict.Place) []verdict.Place {
	return []verdict.Place{
		{Scenario: p.Scenario},
		{Scenario: p.Scenario, Path: p.Path},
		{Scenario: p.Scenario, Path: p.Path, Node: p.Node},
		p,
	}
}

func newSide(name string, record verdict.Record) *side {
	s := &side{
		name: name, record: record, samples: make(map[key]*samples), places: make(map[verdict.Place]bool),
		levels: make(map[level]bool), sites: make(map[verdict.Place]bool), invalid: make(map[series]bool),
		runs: make(map[runsKey]map[int]bool),
	}
	for _, f := range record.Figures {
		k := key{f.Place, f.Metric.Name}
		s.levels[levelOf(k)] = true
		for _, p := range around(f.Place) {
			s.places[p] = true
		}
		if f.Site != "" {
			s.sites[nodeOf(f.Place)] = true
		}
		s.add(k, f)
	}
	for k, all := range s.samples {
		s.uncountedSite(k, all)
		slices.SortStableFunc(all.points, func(a, b point) int { return cmp.Compare(a.run, b.run) })
	}
	for _, inv := range record.Invalid() {
		s.invalid[series{verdict.Series(inv.Scenario), inv.Path}] = true
	}
	s.declared, s.knows = record.Declared()
	return s
}

func (s *side) add(k key, f verdict.Figure) {
	all := s.samples[k]
	if all == nil {
		all = &samples{metric: f.Metric, na: make(map[int]bool)}
		s.samples[k] = all
	}
	of := runsKeyOf(k)
	if s.runs[of] == nil {
		s.runs[of] = make(map[int]bool)
	}
	s.runs[of][f.Run] = true
	all.metric.Higher = all.metric.Higher || f.Metric.Higher // said in one of several files
	if f.Metric.Class == verdict.Count {
		all.metric.Class = verdict.Count // marked exact in one of several files
	}
	if !f.Known {
		all.na[f.Run] = true
		return
	}
	all.points = append(all.points, point{f.Run, f.Value})
	all.rounding = max(all.rounding, f.Rounding)
}

// uncountedSite makes a site n/a in the runs in which its node is: these have no
// figures by site.
func (s *side) uncountedSite(k key, all *samples) {
	node := s.samples[key{nodeOf(k.Place), k.unit}]
	if k.Site == "" || node == nil {
		return
	}
	for run := range node.na {
		if !slices.ContainsFunc(all.points, func(p point) bool { return p.run == run }) {
			all.na[run] = true
		}
	}
}

// nodeOf returns the place of a site's node.
func nodeOf(p verdict.Place) verdict.Place {
	p.Site = ""
	return p
}

// hasLevel reports whether any figure is that fine.
func (s *side) hasLevel(of string) bool {
	for l := range s.levels {
		if l.of == of {
			return true
		}
	}
	return false
}

// hasSeries reports whether any figure is of these runs.
func (s *side) hasSeries(of series) bool {
	return s.places[verdict.Place{Scenario: of.scenario, Path: of.path}]
}

// What a side may lack: of a place all that is in it, of a metric its unit, and of
// the code a site.
const (
	scopeScenario = "scenario"
	scopePath     = "path"
	scopeNode     = "node"
	scopeSite     = "site"
	scopeUnit     = "unit"
	scopeCode     = "code"
)

// lacks names the widest thing around a place that the side does not have.
func (s *side) lacks(p verdict.Place) string {
	for i, q := range around(p) {
		if !s.places[q] {
			return []string{scopeScenario, scopePath, scopeNode, scopeSite}[i]
		}
	}
	return scopeUnit
}

// zeros returns the samples of a site at which nothing was counted, for a side
// whose files list only sites where something was: nil if the node has no figures
// by site.
func (s *side) zeros(k key) *samples {
	node := s.samples[key{nodeOf(k.Place), k.unit}]
	if node == nil || !s.sites[nodeOf(k.Place)] {
		return nil
	}
	zero := &samples{metric: node.metric, na: maps.Clone(node.na)}
	for _, p := range node.points {
		zero.points = append(zero.points, point{run: p.run})
	}
	return zero
}
