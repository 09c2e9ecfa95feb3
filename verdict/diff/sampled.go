package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"

	"github.com/msgpath/msgpath/verdict"
)

// alpha is the chance of a false alarm that all judged figures share.
const alpha = 0.01

// leastEffect is the relative difference that a time or memory figure must pass:
// one that is certain and smaller says more of how it was measured than of the code.
const leastEffect = 0.01

// floorRuns is how many runs of a side a noise floor needs: two in each half.
const floorRuns = 4

// byRunRuns is the most runs of a side that are also told apart.
const byRunRuns = 3

// withinFloor is the reason of what is [Inconclusive] whatever its p.
const withinFloor = "within the noise floor"

// judgedUnits are the times and memory figures of a [verdict.Result] that are
// judged, at [verdict.RoleAll].
var judgedUnits = []string{"msg/s", "cpu-ns/msg", "B/msg", "allocs/msg"}

// compareMedians gives the difference of medians. The verdict on it comes later,
// when it is known how many there are.
func (c *comparer) compareMedians(r *compared) {
	if len(r.before.points) == 0 || len(r.after.points) == 0 {
		r.Answer = NotAvailable
		return
	}
	r.Answer = NotJudged
	if b, a := r.Row.Before.Median, r.Row.After.Median; b != nil && a != nil {
		r.setDelta(*a-*b, *b)
	}
	r.ByRun = byRun(r.before, r.after)
	if other := differing(c.conditions, r.metric); len(other) > 0 {
		r.Answer, r.Reason = NotComparable, strings.Join(other, "; ")
	}
}

// judgedUnit reports whether figures of a unit are judged: few of ours, all of
// others'.
func judgedUnit(unit string) bool {
	ours := slices.ContainsFunc(verdict.Metrics(), func(m verdict.Metric) bool { return m.Name == unit })
	return !ours || slices.Contains(judgedUnits, unit)
}

// byRun compares runs of one number where there are few.
func byRun(before, after *samples) (deltas []RunDelta) {
	n := max(len(before.points), len(after.points))
	if n < 2 || n > byRunRuns {
		return nil
	}
	for _, b := range before.points {
		for _, a := range after.points {
			if p := finite(100 * (a.value - b.value) / b.value); a.run == b.run && b.value > 0 && p != nil {
				deltas = append(deltas, RunDelta{Run: a.run, Percent: *p})
			}
		}
	}
	return deltas
}

// oneAfterTheOther is the reason of what is [Inconclusive] only when it would fail.
const oneAfterTheOther = "measured one after the other, not by turns"

// judge answers for the judged times and memory figures, all together.
func judge(rows []*compared, strict, turns bool) {
	var family []*compared
	for _, r := range rows {
		if r.Judged && r.Answer == NotJudged {
			family = append(family, r)
		}
	}
	floors := noiseFloors(rows)
	p, least := make([]float64, len(family)), make([]float64, len(family))
	for i, r := range family {
		p[i] = uTest(r.before.values(), r.after.values())
		least[i] = leastP(len(r.before.points), len(r.after.points))
	}
	p, least = holm(p), holm(least)
	for i, r := range family {
		if floor, known := floors[noiseKey{seriesOf(r.Place()), r.Unit}]; known {
			r.Floor = finite(100 * floor)
		}
		r.P = finite(p[i])
		r.decide(least[i], len(family))
		switch told := r.Answer == Worse || r.Answer == Better; {
		case strict && told && !turns:
			r.Answer, r.Reason = Inconclusive, oneAfterTheOther
		case strict && r.Answer == Worse:
			r.Fails = exitWorse
		}
	}
}

func uTest(before, after []float64) float64 {
	b := benchmath.NewSample(before, &benchmath.DefaultThresholds)
	a := benchmath.NewSample(after, &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Compare(b, a).P
}

// leastP returns the least p that a two-sided U test of so many samples can have:
// that of samples which do not overlap.
func leastP(n1, n2 int) float64 {
	a, _ := math.Lgamma(float64(n1 + n2 + 1))
	b, _ := math.Lgamma(float64(n1 + 1))
	c, _ := math.Lgamma(float64(n2 + 1))
	return min(1, 2*math.Exp(b+c-a))
}

// holm corrects p values for their number (Holm, "A simple sequentially rejective
// multiple test procedure", 1979).
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected, largest := make([]float64, len(p)), 0.0
	for rank, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(p)-rank)))
		corrected[i] = largest
	}
	return corrected
}

// decide answers for one figure among so many.
func (r *compared) decide(least float64, among int) {
	b, a := r.Row.Before, r.Row.After
	constant := *b.Min == *b.Max && *a.Min == *a.Max
	switch {
	case constant && *b.Min == *a.Min && b.N > 1 && a.N > 1:
		r.Answer = Same
	case least >= alpha:
		enough := enoughSamples(among)
		r.Answer = Insufficient
		r.Reason = fmt.Sprintf("%d+%d samples cannot decide among %d comparisons; %d+%d could", b.N, a.N, among, enough, enough)
	case r.Floor == nil:
		r.Answer, r.Reason = Insufficient, fmt.Sprintf("no noise floor: it needs %d runs of a side", floorRuns)
	case r.Percent != nil && math.Abs(*r.Percent) <= *r.Floor:
		r.Answer, r.Reason = Inconclusive, fmt.Sprintf("%s of %.1f %%", withinFloor, *r.Floor)
	case r.Percent != nil && math.Abs(*r.Percent) < 100*leastEffect:
		r.Answer, r.Reason = Inconclusive, fmt.Sprintf("less than %.0f %%", 100*leastEffect)
	case *r.P >= alpha || r.Delta == nil:
		r.Answer, r.Reason = Inconclusive, chance(*r.P, among)
	case (*r.Delta > 0) == r.Higher:
		r.Answer, r.Reason = Better, chance(*r.P, among)
	default:
		r.Answer, r.Reason = Worse, chance(*r.P, among)
	}
}

// chance says how likely a difference like this is without a cause.
func chance(p float64, among int) string {
	text := fmt.Sprintf("p = %.3f", p)
	if p < 0.0005 {
		text = "p < 0.001"
	}
	if among > 1 {
		text += fmt.Sprintf(", corrected for %d comparisons", among)
	}
	return text
}

// enoughSamples returns how many samples of each side could decide among k
// comparisons.
func enoughSamples(k int) int {
	for n := 2; ; n++ {
		if float64(k)*leastP(n, n) < alpha {
			return n
		}
	}
}

// noiseKey is what a noise floor is of.
type noiseKey struct {
	series
	unit string
}

// noiseFloors returns the relative difference between two halves of the runs of
// one side, the larger one of both sides. The halves alternate, so that what drifts is in
// both, and both ran the same code.
func noiseFloors(rows []*compared) map[noiseKey]float64 {
	floors := make(map[noiseKey]float64)
	for _, r := range rows {
		if !r.Judged {
			continue
		}
		for _, s := range []*samples{r.before, r.after} {
			if noise, ok := noiseOf(s); ok {
				k := noiseKey{seriesOf(r.Place()), r.Unit}
				floors[k] = max(floors[k], noise)
			}
		}
	}
	return floors
}

func noiseOf(s *samples) (noise float64, ok bool) {
	if s == nil || len(s.points) < floorRuns {
		return 0, false
	}
	var halves [2][]float64
	for i, p := range s.points {
		halves[i%2] = append(halves[i%2], p.value)
	}
	a, b := verdict.Median(halves[0]), verdict.Median(halves[1])
	if a == b {
		return 0, true
	}
	noise = math.Abs(a-b) / min(math.Abs(a), math.Abs(b))
	return noise, finite(noise) != nil
}

// byTurns reports whether the sides were measured by turns rather than one after
// the other, nil where the files do not say.
func byTurns(before, after verdict.Record) *bool {
	if len(before.Results) == 0 || len(after.Results) == 0 {
		return nil
	}
	b0, b1 := measured(before)
	a0, a1 := measured(after)
	turns := !b1.Before(a0) && !a1.Before(b0)
	return &turns
}

// measured returns the start of the first and of the last session.
func measured(r verdict.Record) (first, last time.Time) {
	first, last = r.Results[0].MeasuredAt, r.Results[0].MeasuredAt
	for _, result := range r.Results {
		if at := result.MeasuredAt; at.Before(first) {
			first = at
		} else if at.After(last) {
			last = at
		}
	}
	return first, last
}
