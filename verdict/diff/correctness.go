package diff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/msgpath/msgpath/verdict"
)

// sideOf returns where a side's figures are from, and how far its runs can be
// trusted.
func sideOf(name string, r verdict.Record) Side {
	s := Side{
		Name: name, Files: r.Files, Invalid: r.Invalid(), Machine: r.Conditions,
		Commits: saidOf(r, "commit"), Seeds: saidOf(r, "seed"),
	}
	for _, row := range r.Rows {
		if row.Role == verdict.RoleAll && row.Verified != nil {
			s.outcome(row)
		}
	}
	views := make(map[string]int)
	for _, result := range r.Results {
		if !slices.ContainsFunc(s.Commands, func(c []string) bool { return slices.Equal(c, result.Environment.CommandLine) }) {
			s.Commands = append(s.Commands, result.Environment.CommandLine)
		}
		for _, run := range result.Runs {
			views[run.Path] += run.ViewsChecked
		}
	}
	for _, path := range slices.Sorted(maps.Keys(views)) {
		s.Views = append(s.Views, Views{path, views[path]})
	}
	slices.SortStableFunc(s.Invalid, func(a, b verdict.Invalid) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Path, b.Path))
	})
	return s
}

// outcome adds that of one run.
func (s *Side) outcome(row verdict.Row) {
	s.Runs++
	if *row.Verified {
		s.Verified++
	}
	if row.Published == nil || row.Delivered == nil {
		return
	}
	if s.Published == nil {
		s.Published, s.Delivered = new(float64), new(float64)
	}
	*s.Published += *row.Published
	*s.Delivered += *row.Delivered
}

// saidOf returns the different values of a condition.
func saidOf(r verdict.Record, name string) (values []string) {
	for _, c := range r.Conditions {
		if v := c[name]; v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}
