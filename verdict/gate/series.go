package gate

import (
	"cmp"
	"slices"

	"github.com/msgpath/msgpath/verdict"
)

// series is every sample of one metric at one place, in order of runs.
type series struct {
	verdict.Place
	metric  verdict.Metric
	figures []verdict.Figure
}

// place is where a series is.
type place struct {
	verdict.Place
	metric string
}

// collection is the series of a record.
type collection struct {
	all []*series // in order of places
	at  map[place]*series
}

// collect returns the series of a record, those of roles at sites included.
func collect(r verdict.Record) collection {
	c := collection{at: make(map[place]*series)}
	order := make(map[string]int)
	for _, f := range slices.Concat(r.Figures, roleSites(r)) {
		at := place{f.Place, f.Metric.Name}
		if c.at[at] == nil {
			c.at[at] = &series{Place: f.Place, metric: f.Metric}
			c.all = append(c.all, c.at[at])
		}
		if _, ok := order[f.Metric.Name]; !ok {
			order[f.Metric.Name] = len(order)
		}
		c.at[at].figures = append(c.at[at].figures, f)
	}
	slices.SortStableFunc(c.all, func(a, b *series) int {
		return cmp.Or(a.Compare(b.Place), cmp.Compare(order[a.metric.Name], order[b.metric.Name]))
	})
	return c
}

// matching returns the series that a limit speaks of.
func (c collection) matching(l Limit) (found []*series) {
	for _, s := range c.all {
		if l.covers(s.Place) && matches(l.Metric, s.metric.Name) {
			found = append(found, s)
		}
	}
	return found
}

// values returns the values of all samples, and false if any is n/a.
func (s *series) values() ([]float64, bool) {
	values := make([]float64, 0, len(s.figures))
	for _, f := range s.figures {
		if !f.Known {
			return nil, false
		}
		values = append(values, f.Value)
	}
	return values, len(values) > 0
}

// rounding returns the most by which any sample may lie beside what was measured.
func (s *series) rounding() (most float64) {
	for _, f := range s.figures {
		most = max(most, f.Rounding)
	}
	return most
}

// has reports whether there is a series of the same metric at the same place.
func (c collection) has(s *series) bool { return c.at[place{s.Place, s.metric.Name}] != nil }

// zeros returns a series in the place of one at a site that is not listed: 0 for
// each sample in which the node has other sites, nil if it has none.
func (c collection) zeros(s *series) *series {
	if s.Site == "" {
		return nil
	}
	i := slices.IndexFunc(c.all, func(other *series) bool {
		p := other.Place
		p.Site = s.Site
		return other.Site != "" && p == s.Place && other.metric.Name == s.metric.Name
	})
	if i < 0 {
		return nil
	}
	zeros := &series{Place: s.Place, metric: c.all[i].metric, figures: slices.Clone(c.all[i].figures)}
	for i := range zeros.figures {
		zeros.figures[i].Place, zeros.figures[i].Value, zeros.figures[i].Rounding = s.Place, 0, 0
	}
	return zeros
}

// roleSites returns the figures of roles at sites: the sums over the nodes of a
// role. A record has figures at sites for nodes alone.
func roleSites(r verdict.Record) []verdict.Figure {
	type sample struct {
		place
		run int
	}
	var order []sample
	sums, uncounted := make(map[sample]verdict.Figure), make(map[sample]bool)
	roles := rolesOf(r)
	for _, f := range r.Figures {
		at := sample{place{f.Place, f.Metric.Name}, f.Run}
		if f.Site == "" && !f.Known {
			uncounted[at] = true
		}
		for _, role := range roles.of(f.Place) {
			at.Node = role
			sum, ok := sums[at]
			if !ok {
				order, sum = append(order, at), verdict.Figure{Place: at.Place, Metric: f.Metric, Run: f.Run, Known: true}
			}
			sum.Value, sum.Rounding, sum.Known = sum.Value+f.Value, sum.Rounding+f.Rounding, sum.Known && f.Known
			sums[at] = sum
		}
	}
	all := make([]verdict.Figure, 0, len(order))
	for _, at := range order {
		sum := sums[at]
		at.Site = ""
		if uncounted[at] { // one node of the role was not
			sum.Known, sum.Value = false, 0
		}
		all = append(all, sum)
	}
	return all
}

// nodeRoles is the role of each node, by its place without the site.
type nodeRoles map[verdict.Place]string

func rolesOf(r verdict.Record) nodeRoles {
	roles := make(nodeRoles)
	for _, result := range r.Results {
		for _, run := range result.Runs {
			for _, n := range run.Nodes {
				roles[verdict.Place{Scenario: verdict.Series(run.Scenario), Path: run.Path, Node: n.Name}] = n.Role
			}
		}
	}
	return roles
}

// of returns the roles to whose figures that of a node at a site belongs.
func (r nodeRoles) of(p verdict.Place) []string {
	if p.Site == "" || isRole(p.Node) {
		return nil
	}
	p.Site = ""
	if role := r[p]; role != "" && role != verdict.RoleAll {
		return []string{verdict.RoleAll, role}
	}
	return []string{verdict.RoleAll}
}

// isRole reports whether a node's name is that of a role, whose figures are
// there already.
func isRole(name string) bool {
	return name == verdict.RoleAll || name == verdict.RolePublisher || name == verdict.RoleReceiver
}
