package gate

import (
	"math"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// change judges the difference to the base.
func (j judgement) change(r Range, s *series, values []float64) outcome {
	if j.base == nil {
		return outcome{at: s, verdict: verdict.NotApplicable, detail: "n/a: a change, and there is no base"}
	}
	old := j.baseOf(s)
	if old == nil {
		return outcome{at: s, verdict: verdict.Inconclusive, detail: "the base lacks it", baseless: true}
	}
	before, known := old.values()
	if !known {
		return outcome{at: s, verdict: verdict.NotApplicable, detail: "n/a in the base, and a number is required"}
	}
	if other := differences(s.metric, j.run, *j.base); len(other) > 0 {
		return outcome{at: s, verdict: verdict.Inconclusive, detail: "not comparable: " + strings.Join(other, "; ")}
	}
	switch s.metric.Class {
	case verdict.Count:
		return endsChange(r, s, old)
	case verdict.Time:
		return middleChange(r, s, values, before)
	}
	base := verdict.Median(before)
	o := eachSample(r, s, values, base)
	o.base = &base
	return o
}

// endsChange judges the change of a count: of its greatest sample from the base's
// greatest, and of its least from the base's least. So a run holds against itself
// however its samples vary, and a sample beyond all of the base is seen.
func endsChange(r Range, s, old *series) outcome {
	most, least := endChange(r, s, old, slices.Max[[]float64], "greatest"), endChange(r, s, old, slices.Min[[]float64], "least")
	if least.worse(most) {
		return least
	}
	return most
}

// endChange judges the change of one end of the samples.
func endChange(r Range, s, old *series, end func([]float64) float64, which string) outcome {
	now, _ := s.values()
	before, _ := old.values()
	base, rounding := end(before), s.rounding()+old.rounding()
	allowed := r.around(base)
	o := outcome{at: s, value: end(now), shown: true, base: &base, verdict: verdict.Pass}
	o.outside = allowed.excess(o.value, rounding)
	if o.outside <= 0 {
		return o
	}
	o.verdict = verdict.Fail
	for _, v := range now {
		if allowed.excess(v, rounding) > 0 {
			o.rejected++
		}
	}
	if len(slices.Compact(slices.Clone(now))) > 1 || len(slices.Compact(slices.Clone(before))) > 1 {
		o.detail = "samples vary: the " + which + " of both are compared"
	}
	return o
}

// middleChange judges the change of a median by both intervals.
func middleChange(r Range, s *series, values, before []float64) outcome {
	base := verdict.Median(before)
	o := middle(s, values)
	o.base, o.verdict = &base, r.compareChange(intervalOf(values), intervalOf(before))
	o.outside = r.around(base).excess(o.value, 0)
	if o.verdict == verdict.Inconclusive {
		o.detail = undecided(min(len(values), len(before)))
	}
	return o
}

// baseOf returns the series of the base at the place of s, nil if there is none.
// A node of which the base lists sites did nothing at one that it does not list.
func (j judgement) baseOf(s *series) *series {
	if before := j.before.at[place{s.Place, s.metric.Name}]; before != nil {
		return before
	}
	return j.before.zeros(s)
}

// compareChange judges a change between two intervals: it is decided only where
// every pair of values decides alike.
func (r Range) compareChange(now, before interval) verdict.Verdict {
	if before.open() || now.open() {
		return verdict.Inconclusive
	}
	least, most := r.around(before.low), r.around(before.high)
	switch {
	case least.compare(now) == verdict.Pass && most.compare(now) == verdict.Pass:
		return verdict.Pass
	case least.above(now) && most.above(now), least.below(now) && most.below(now):
		return verdict.Fail
	}
	return verdict.Inconclusive
}

// emptied returns the places that the base has and the run does not list because
// nothing happened there.
func (j judgement) emptied(l Limit) (all []*series) {
	for _, s := range j.before.matching(l) {
		if zeros := j.emptiedAt(s); zeros != nil {
			all = append(all, zeros)
		}
	}
	return all
}

// emptiedAt returns zeros in the place of a series of the base, nil if the run has
// it, does not declare its site, or says nothing of sites there.
func (j judgement) emptiedAt(s *series) *series {
	declared, known := j.run.Declared()
	if j.now.has(s) || known && !slices.Contains(declared, s.Site) {
		return nil
	}
	return j.now.zeros(s)
}

// vanished returns the places that the base has and the run lacks.
func (j judgement) vanished(l Limit) (all []outcome) {
	for _, s := range j.before.matching(l) {
		if !j.now.has(s) && j.emptiedAt(s) == nil {
			all = append(all, outcome{
				verdict: verdict.Fail, at: s, outside: math.Inf(1), detail: "the base has it, the run does not",
			})
		}
	}
	return all
}
