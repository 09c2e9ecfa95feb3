package scale

import (
	"slices"

	"github.com/msgpath/msgpath/verdict"
)

// A Figure is one thing that every run has a number of, or none.
type Figure struct {
	Name string // as a fit calls it: "cpu"
	Unit string // "ns"; of an event where it is a cost of one
	of   func(Run) *float64
}

// The figures. Time, CPU, Alloc and Live are costs; Live is of a whole run.
var (
	Rate    = Figure{"rate", "1/s", func(r Run) *float64 { return &r.PerSecond }}
	Time    = Figure{"time", "ns", func(r Run) *float64 { return new(1e9 / r.PerSecond) }}
	CPU     = Figure{"cpu", "ns", func(r Run) *float64 { return &r.CPUNanos }}
	Alloc   = Figure{"alloc", "B", func(r Run) *float64 { return &r.AllocBytes }}
	Live    = Figure{"live", "B", func(r Run) *float64 { return &r.LiveBytes }}
	Encodes = Figure{"encodes", "", func(r Run) *float64 { return r.Encodes }}
	Copies  = Figure{"copies", "", func(r Run) *float64 { return r.Copies }}
	Written = Figure{"written", "B", func(r Run) *float64 { return r.Written }}
)

var figures = []Figure{Rate, CPU, Alloc, Live, Encodes, Copies, Written}

// Costs returns the figures that an exponent is fitted to, CPU first.
func Costs() []Figure { return []Figure{CPU, Time, Alloc, Live} }

// A Spread is the middle and the ends of a figure over the runs of a point.
type Spread struct{ Median, Min, Max float64 }

// Spread returns a figure's spread, and false where a run does not have it.
func (p Point) Spread(f Figure) (Spread, bool) {
	var values []float64
	for _, r := range p.Runs {
		v := f.of(r)
		if v == nil {
			return Spread{}, false
		}
		values = append(values, *v)
	}
	if len(values) == 0 {
		return Spread{}, false
	}
	return Spread{verdict.Median(values), slices.Min(values), slices.Max(values)}, true
}
