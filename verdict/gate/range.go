package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// Range is the values that a limit allows: one, or those from Min to Max, which
// are nil where that side is open.
type Range struct {
	Kind            Kind
	Equal, Min, Max *Quantity
}

// slack is how far two numbers may lie apart, relative to them, and be equal: a
// number that went through another unit or through percent is not the same in
// its last digit.
const slack = 1e-12

// interval is a closed range of values of a metric.
type interval struct{ low, high float64 }

// around returns the values that a range allows beside a base. The base of an
// absolute range does not matter.
func (r Range) around(base float64) interval {
	at := func(q *Quantity, open float64) float64 {
		switch {
		case q == nil:
			return open
		case !r.Kind.relative():
			return q.Value
		case q.Percent:
			return base + math.Abs(base)*q.Value/100
		}
		return base + q.Value
	}
	if r.Equal != nil {
		return interval{at(r.Equal, 0), at(r.Equal, 0)}
	}
	return interval{at(r.Min, math.Inf(-1)), at(r.Max, math.Inf(1))}
}

// excess returns how far a value lies outside, by more than it was rounded, and
// 0 or less if it is inside: then how far from the nearest bound.
func (i interval) excess(value, rounding float64) float64 {
	over := math.Max(value-i.high, i.low-value)
	tolerance := rounding + slack*math.Abs(value)
	if over > 0 && over <= tolerance {
		return 0
	}
	return over
}

// compare judges all values of v at once.
func (i interval) compare(v interval) verdict.Verdict {
	switch {
	case v.open():
		return verdict.Inconclusive
	case i.excess(v.low, 0) <= 0 && i.excess(v.high, 0) <= 0:
		return verdict.Pass
	case i.below(v) || i.above(v):
		return verdict.Fail
	}
	return verdict.Inconclusive
}

// open reports whether nothing is known of the ends.
func (i interval) open() bool { return math.IsInf(i.low, -1) && math.IsInf(i.high, 1) }

// below and above report whether all of v lies on one side of i.
func (i interval) below(v interval) bool { return v.high < i.low-slack*math.Abs(i.low) }

func (i interval) above(v interval) bool { return v.low > i.high+slack*math.Abs(i.high) }

// text prints a range of a metric, as "≥ 4, ≤ 6" and "≤ base +2 %".
func (r Range) text(metric string) string {
	var parts []string
	for i, q := range []*Quantity{r.Equal, r.Min, r.Max} {
		if q != nil {
			parts = append(parts, []string{"=", "≥", "≤"}[i]+" "+r.bound(*q, metric))
		}
	}
	text := strings.Join(parts, ", ")
	if r.Kind.soft() {
		return "soft " + text
	}
	return text
}

func (r Range) bound(q Quantity, metric string) string {
	switch {
	case !r.Kind.relative():
		return show(q.Value, metric, dimensionOf(metric) == events)
	case q.Percent:
		return fmt.Sprintf("base %+g %%", q.Value)
	}
	sign := "+"
	if q.Value < 0 {
		sign = "-"
	}
	return "base " + sign + show(math.Abs(q.Value), metric, dimensionOf(metric) == events)
}
