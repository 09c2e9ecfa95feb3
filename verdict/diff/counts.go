package diff

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/msgpath/msgpath/verdict"
)

// compareCount compares exactly: the ends of the samples, whatever their number.
func (c *comparer) compareCount(r *compared) {
	b, a := r.before, r.after
	if b.na > 0 || a.na > 0 {
		c.notCounted(r)
		return
	}
	least, most := minOf(a)-minOf(b), maxOf(a)-maxOf(b)
	slack := b.rounding + a.rounding
	if slack > 0 { // and what floating point adds to it
		slack += 1e-9 * max(math.Abs(maxOf(a)), math.Abs(maxOf(b)))
	}
	least, most = beyond(least, slack), beyond(most, slack)
	r.setDelta(most, maxOf(b))
	if most == 0 {
		r.setDelta(least, minOf(b))
	}
	r.Reason = varies(r.Row)
	if isBytes(r.Unit) && len(c.workload) > 0 {
		r.Answer, r.Reason = NotComparable, strings.Join(c.workload, ", ")
		return
	}
	r.Answer = countAnswer(least, most, r.Higher)
	c.edge(r, slack)
	if r.Answer == Worse || r.Answer == Appeared && !r.Higher {
		r.Fails = exitWorse
	}
}

// notCounted answers where runs of a side have no count. It fails if the other
// side has one: a number that is not there passes nothing.
func (c *comparer) notCounted(r *compared) {
	r.Answer = NotAvailable
	b, a := len(r.before.points) > 0 && r.before.na == 0, len(r.after.points) > 0 && r.after.na == 0
	switch {
	case b:
		r.Reason, r.Fails = "counts are n/a "+After, exitInvalid
	case a:
		r.Reason, r.Fails = "counts are n/a "+Before, exitInvalid
	default:
		r.Reason = "on both sides"
	}
}

// beyond returns a difference, 0 for one that rounding explains.
func beyond(delta, slack float64) float64 {
	if math.Abs(delta) <= slack {
		return 0
	}
	return delta
}

func countAnswer(least, most float64, higher bool) Answer {
	if higher {
		least, most = -least, -most
	}
	switch {
	case least > 0 || most > 0:
		return Worse
	case least < 0 || most < 0:
		return Better
	}
	return Same
}

// edge tells apart what was 0 or is 0 now.
func (c *comparer) edge(r *compared, slack float64) {
	was, is := maxOf(r.before) > slack, maxOf(r.after) > slack
	switch {
	case r.Answer == Same:
	case !was && is:
		r.Answer = Appeared
	case was && !is && r.Answer == Better:
		r.Answer = Gone
		if r.Site != "" && slices.Contains(c.after.declared, r.Site) {
			r.Reason = "nothing is counted there any more"
		}
	}
}

// setDelta sets the difference to a figure that was base.
func (r *Row) setDelta(delta, base float64) {
	r.Delta, r.Percent = finite(delta), nil
	if base > 0 {
		r.Percent = finite(100 * delta / base)
	}
}

// finite returns a number, nil for one that no document can hold.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// varies says which side has samples that differ.
func varies(r Row) string {
	var parts []string
	for _, s := range []struct {
		name string
		Sample
	}{{Before, r.Before}, {After, r.After}} {
		if s.N > 0 && *s.Min != *s.Max {
			parts = append(parts, fmt.Sprintf("varies %s-%s %s", number(*s.Min), number(*s.Max), s.name))
		}
	}
	return strings.Join(parts, ", ")
}

// isBytes reports whether a unit is of counted bytes, which the workload decides.
func isBytes(unit string) bool {
	base, _, _ := strings.Cut(unit, "/")
	return strings.HasSuffix(base, "-B")
}

func minOf(s *samples) float64 { return slices.Min(s.values()) }
func maxOf(s *samples) float64 { return slices.Max(s.values()) }

// sample describes the samples of a side.
func (c *comparer) sample(s *samples) Sample {
	if s == nil || len(s.points) == 0 {
		out := Sample{}
		if s != nil {
			out.NA = s.na
		}
		return out
	}
	sum := benchmath.AssumeNothing.Summary(benchmath.NewSample(s.values(), &benchmath.DefaultThresholds), c.confidence)
	out := Sample{N: len(s.points), NA: s.na, Min: finite(minOf(s)), Median: finite(sum.Center), Max: finite(maxOf(s))}
	if s.metric.Class != verdict.Count {
		out.Low, out.High = finite(sum.Lo), finite(sum.Hi)
	}
	if out.Low == nil || out.High == nil {
		out.Low, out.High = nil, nil
	}
	return out
}
