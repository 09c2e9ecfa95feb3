package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/msgpath/msgpath/verdict"
)

// partial answers for what is in fewer of the runs of its scenario and path than
// it was: it vanished as what is in none of them did. A total over such a part is
// not less work.
func (c *comparer) partial(rows []*compared) {
	vanished := make(map[series]bool)
	for _, r := range rows {
		if r.before == nil || r.after == nil || r.metric.Class != verdict.Count || r.Fails == exitInvalid {
			continue
		}
		b, a := c.presence(c.before, r, r.before), c.presence(c.after, r, r.after)
		if a.share() >= b.share() {
			continue
		}
		r.lacks = c.partOf(r)
		r.Answer, r.Fails = Missing, exitWorse
		r.Reason = fmt.Sprintf("%s is in %d of %d runs %s, in %d of %d %s", r.lacks, a.in, a.of, After, b.in, b.of, Before)
		vanished[seriesOf(r.Place())] = true
	}
	for _, r := range rows {
		if less := r.Answer == Better || r.Answer == Gone; less && vanished[seriesOf(r.Place())] && r.Node == verdict.RoleAll {
			r.Answer, r.Reason = NotComparable, "a part of it is not in all runs "+After
		}
	}
}

// presence is in how many of its runs a row is.
type presence struct{ in, of int }

func (p presence) share() float64 { return float64(p.in) / float64(max(1, p.of)) }

func (c *comparer) presence(s *side, r *compared, all *samples) presence {
	of := len(s.runs[runsKeyOf(key{r.Place(), r.Unit})])
	return presence{min(all.runs(), of), of}
}

// partOf returns the widest thing that is in as few runs as a row.
func (c *comparer) partOf(r *compared) string {
	node := c.after.samples[key{nodeOf(r.Place()), r.Unit}]
	switch {
	case r.Site != "" && node != nil && node.runs() > r.after.runs():
		return scopeSite
	case c.unitOnly(r):
		return scopeUnit
	}
	return scopeNode
}

// unitOnly reports whether another unit of the same place is in more runs.
func (c *comparer) unitOnly(r *compared) bool {
	for k, s := range c.after.samples {
		if k.Place == r.Place() && s.runs() > r.after.runs() {
			return true
		}
	}
	return false
}

// fewerRuns returns a note for each pair of numbers of runs of which AFTER has
// fewer.
func (c *comparer) fewerRuns() (notes []string) {
	of := make(map[[2]int][]string)
	var pairs [][2]int
	for k, runs := range c.before.runs {
		numbers := [2]int{len(runs), len(c.after.runs[k])}
		name := pair(k.scenario, k.path)
		if numbers[1] == 0 || numbers[1] >= numbers[0] || slices.Contains(of[numbers], name) {
			continue
		}
		if of[numbers] == nil {
			pairs = append(pairs, numbers)
		}
		of[numbers] = append(of[numbers], name)
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	for _, p := range pairs {
		slices.Sort(of[p])
		notes = append(notes, fmt.Sprintf("%d runs %s, %d %s: %s", p[0], Before, p[1], After, few(of[p])))
	}
	return notes
}
