package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// compareCount compares exactly: the ends of the samples, whatever their number,
// and what lies between.
func (c *comparer) compareCount(r *compared) {
	b, a := r.before, r.after
	if len(b.points) == 0 || len(a.points) == 0 {
		notCounted(r)
		return
	}
	slack := b.rounding + a.rounding
	if slack > 0 { // and what floating point adds to it
		slack += 1e-9 * max(math.Abs(maxOf(a)), math.Abs(maxOf(b)))
	}
	shifts := shiftsOf(b.values(), a.values(), slack)
	r.setDelta(shifts[0].by, shifts[0].from)
	for _, s := range shifts {
		if s.by != 0 {
			r.setDelta(s.by, s.from)
			break
		}
	}
	r.Reason = varies(r.Row)
	if a.shareNA() > b.shareNA() {
		r.Answer, r.Fails = NotAvailable, exitInvalid
		r.Reason = fmt.Sprintf("counts are n/a in %d of %d runs %s, in %d of %d %s",
			len(a.na), a.runs(), After, len(b.na), b.runs(), Before)
		return
	}
	if other := differing(c.conditions, r.metric); len(other) > 0 {
		r.Answer, r.Reason = NotComparable, strings.Join(other, "; ")
		return
	}
	r.Answer = countAnswer(shifts, r.Higher)
	c.edge(r, slack)
	if r.Answer == Worse || r.Answer == Appeared && !r.Higher {
		r.Fails = exitWorse
	}
}

// notCounted answers where no run of a side has a count. It fails if the other
// side has one: a number that is not there passes nothing.
func notCounted(r *compared) {
	r.Answer = NotAvailable
	b, a := len(r.before.points) > 0, len(r.after.points) > 0
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

// shift is by how much samples moved at one of their ranks, and from where.
type shift struct{ by, from float64 }

// shiftsOf returns by how much the largest sample moved, the least, and what lies
// between: of sides with as many samples each of them, the largest first; else the
// mean.
func shiftsOf(before, after []float64, slack float64) []shift {
	b, a := slices.Sorted(slices.Values(before)), slices.Sorted(slices.Values(after))
	at := func(was, is, slack float64) shift { return shift{beyond(is-was, slack), was} }
	all := []shift{at(b[len(b)-1], a[len(a)-1], slack), at(b[0], a[0], slack)}
	if len(b) != len(a) {
		was, is := mean(b), mean(a)
		return append(all, at(was, is, slack+1e-12*max(math.Abs(was), math.Abs(is))))
	}
	for i := range b {
		all = append(all, at(b[i], a[i], slack))
	}
	slices.SortStableFunc(all[2:], func(x, y shift) int { return cmp.Compare(math.Abs(y.by), math.Abs(x.by)) })
	return all
}

// mean returns the mean of finite numbers, which is one.
func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

func countAnswer(shifts []shift, higher bool) Answer {
	answer := Same
	for _, s := range shifts {
		switch {
		case s.by != 0 && (s.by > 0) != higher:
			return Worse
		case s.by != 0:
			answer = Better
		}
	}
	return answer
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

// isBytes reports whether a unit is of counted bytes.
func isBytes(unit string) bool {
	base, _, _ := strings.Cut(unit, "/")
	return strings.HasSuffix(base, "-B")
}

func minOf(s *samples) float64 { return slices.Min(s.values()) }
func maxOf(s *samples) float64 { return slices.Max(s.values()) }

// newSample describes the samples of a side.
func newSample(s *samples) Sample {
	if s == nil || len(s.points) == 0 {
		out := Sample{}
		if s != nil {
			out.NA = len(s.na)
		}
		return out
	}
	median, low, high := verdict.MedianInterval(s.values())
	out := Sample{N: len(s.points), NA: len(s.na), Min: finite(minOf(s)), Median: finite(median), Max: finite(maxOf(s))}
	if s.metric.Class != verdict.Count {
		out.Low, out.High = low, high
	}
	return out
}
