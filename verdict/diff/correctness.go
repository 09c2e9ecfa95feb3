package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	views := make(map[series]int)
	s.Reproduce = reproduce(r.Results)
	for _, result := range r.Results {
		if !slices.ContainsFunc(s.Commands, func(c []string) bool { return slices.Equal(c, result.Environment.CommandLine) }) {
			s.Commands = append(s.Commands, result.Environment.CommandLine)
		}
		for _, run := range result.Runs {
			views[series{verdict.Series(run.Scenario), run.Path}] += run.ViewsChecked
		}
	}
	for of, checked := range views {
		s.Views = append(s.Views, Views{of.scenario, of.path, checked})
	}
	slices.SortFunc(s.Views, func(a, b Views) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Scenario, b.Scenario))
	})
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

// reproduce returns the lines that make all results. Several of one commit that
// one command made are made alike.
func reproduce(results []verdict.Result) (lines []string) {
	seen := make(map[string]bool)
	for _, result := range results {
		again := verdict.Reproduce(result)
		if key := strings.Join(again, "\n"); !seen[key] {
			seen[key] = true
			lines = append(lines, again...)
		}
	}
	return lines
}

// checked returns how many shared messages of a scenario and path were looked at
// again, and false where the files do not have these.
func (s Side) checked(scenario, path string) (int, bool) {
	i := slices.IndexFunc(s.Views, func(v Views) bool { return v.Scenario == scenario && v.Path == path })
	if i < 0 {
		return 0, false
	}
	return s.Views[i].Checked, true
}

// viewsCauses returns a cause for each scenario and path whose test for payloads
// that change under a consumer ran BEFORE and did not AFTER.
func (c *Comparison) viewsCauses() (all []Cause) {
	for _, was := range c.Before.Views {
		if is, there := c.After.checked(was.Scenario, was.Path); was.Checked > 0 && there && is == 0 {
			text := fmt.Sprintf("(aliasing test looked at %d messages %s, at none %s)", was.Checked, Before, After)
			all = append(all, Cause{Kind: CauseMissing, Scenario: was.Scenario, Path: was.Path, Text: text})
		}
	}
	return all
}

// viewsNotes says where the test ran AFTER alone, as where BEFORE is a document of
// the first schema version, which does not know it.
func (c *Comparison) viewsNotes() []string {
	var names []string
	for _, is := range c.After.Views {
		if was, there := c.Before.checked(is.Scenario, is.Path); is.Checked > 0 && there && was == 0 {
			names = append(names, pair(is.Scenario, is.Path))
		}
	}
	if names == nil {
		return nil
	}
	return []string{fmt.Sprintf("aliasing test did not run or is not known %s: %s", Before, few(names))}
}
