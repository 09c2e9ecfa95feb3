package gate

import (
	"fmt"
	"slices"
	"strings"
)

// suggest returns ": did you mean …?", or "" where no name is near.
func suggest(name string, names []string) string {
	if best := nearest(name, names); best != "" {
		return fmt.Sprintf(": did you mean %q?", best)
	}
	return ""
}

// nearest returns the name that takes the fewest changes to become, and "" where
// that would change more than half of it.
func nearest(name string, names []string) (best string) {
	least := max(len([]rune(name))/2, 1) + 1
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance returns how many characters have to be inserted, removed or replaced
// to make b of a.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, d := range to {
			replaced := diagonal
			if c != d {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

// explain says why no figure matches a limit: the first of its patterns that
// leaves nothing, with what it could have been.
func (c collection) explain(l Limit) string {
	left := slices.Clone(c.all)
	for _, step := range []struct {
		what, pattern string
		of            func(*series) string
	}{
		{"scenario", l.Scenario, func(s *series) string { return s.Scenario }},
		{"path", l.Path, func(s *series) string { return s.Path }},
		{"node or role", l.Node, func(s *series) string { return s.Node }},
		{"site", l.Site, func(s *series) string { return s.Site }},
		{"metric", l.Metric, func(s *series) string { return s.metric.Name }},
	} {
		if step.what == "site" && l.Site == "" {
			left = slices.DeleteFunc(left, func(s *series) bool { return s.Site != "" })
			continue
		}
		var names []string
		for _, s := range left {
			names = append(names, step.of(s))
		}
		rest := slices.DeleteFunc(slices.Clone(left), func(s *series) bool { return !matches(step.pattern, step.of(s)) })
		if len(rest) == 0 {
			return fmt.Sprintf("no %s here is called %q%s", step.what, step.pattern, alternatives(step.pattern, distinct(names)))
		}
		left = rest
	}
	return "nothing was measured there"
}

// fewNames is how many names are listed where none is near.
const fewNames = 8

// alternatives returns what a name could have been.
func alternatives(name string, names []string) string {
	near := suggest(name, names)
	if near == "" && len(names) > 0 && len(names) <= fewNames {
		return ": there are " + strings.Join(names, ", ")
	}
	return near
}

// distinct returns names in order, each once, without the empty one.
func distinct(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	slices.Sort(names)
	return slices.Compact(names)
}
