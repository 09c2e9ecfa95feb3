package limits

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/msgpath/msgpath/verdict"
)

// A Limit is one figure and what it should reach.
type Limit struct {
	Name   string `json:"name"`   // what is compared: "macro zerocopy without archive / raw"
	Figure string `json:"figure"` // what of it: "msg/s", "CPU time"
	Arm    string `json:"arm"`    // "macro zerocopy", whose profile tells why; "": none

	AtLeast *float64 `json:"atLeast"` // one of the two is set
	AtMost  *float64 `json:"atMost"`

	Exact bool `json:"exact"` // a count: one value is enough, and less than 1 of it is none

	Values  []float64       `json:"values"` // one for each pair or run; nil: not measured
	Median  *float64        `json:"median"`
	Low     *float64        `json:"low"` // interval of the median; nil: too few values
	High    *float64        `json:"high"`
	Verdict verdict.Verdict `json:"verdict"`
	Note    string          `json:"note"` // why it was not measured, or how it was
}

// Least returns a limit that values should not fall below, judged.
func Least(name, figure, arm string, target float64, values []float64) Limit {
	return judged(Limit{Name: name, Figure: figure, Arm: arm, AtLeast: &target, Values: values})
}

// Most returns a limit that values should not rise above, judged.
func Most(name, figure, arm string, target float64, values []float64) Limit {
	return judged(Limit{Name: name, Figure: figure, Arm: arm, AtMost: &target, Values: values})
}

// Exactly returns a limit that a count should not rise above, nor fall below 1:
// counts are exact, so that one value is enough.
func Exactly(name, figure string, most float64, values []float64) Limit {
	return judged(Limit{Name: name, Figure: figure, AtMost: &most, Values: values, Exact: true})
}

// Without returns l as it is when it could not be measured.
func (l Limit) Without(why string) Limit {
	l.Values, l.Note = nil, why
	return judged(l)
}

// judged fills in what follows from the values. A value that is not a number
// makes the limit one that was not measured.
func judged(l Limit) Limit {
	l.Median, l.Low, l.High, l.Verdict = nil, nil, nil, verdict.NotApplicable
	if len(l.Values) == 0 || slices.ContainsFunc(l.Values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		l.Values = nil
		return l
	}
	median, low, high := verdict.MedianInterval(l.Values)
	l.Median = &median
	if l.Exact {
		low, high = new(slices.Min(l.Values)), new(slices.Max(l.Values))
	}
	l.Low, l.High = low, high
	l.Verdict = l.judge()
	return l
}

func (l Limit) judge() verdict.Verdict {
	switch {
	case l.Low == nil:
		return verdict.Inconclusive
	case l.Exact && (*l.Low < 1 || *l.High > *l.AtMost):
		return verdict.Fail
	case l.AtLeast != nil && *l.Low >= *l.AtLeast, l.AtMost != nil && *l.High <= *l.AtMost:
		return verdict.Pass
	case l.AtLeast != nil && *l.High < *l.AtLeast, l.AtMost != nil && *l.Low > *l.AtMost:
		return verdict.Fail
	}
	return verdict.Inconclusive
}

// Target prints the target: "≥ 0.95".
func (l Limit) Target() string {
	if l.AtMost != nil {
		return "≤ " + number(*l.AtMost)
	}
	return "≥ " + number(*l.AtLeast)
}

// Reached returns each value as a part of the target: 1 is the target, more is
// better.
func (l Limit) Reached() (parts []float64) {
	for _, v := range l.Values {
		if l.AtMost != nil {
			parts = append(parts, *l.AtMost/v)
		} else {
			parts = append(parts, v / *l.AtLeast)
		}
	}
	return parts
}

// interval prints the interval.
func (l Limit) interval() string {
	if l.Low == nil {
		return "n/a"
	}
	return digits(*l.Low) + " to " + digits(*l.High)
}

func (l Limit) median() string {
	if l.Median == nil {
		return "n/a"
	}
	return digits(*l.Median)
}

// digits prints three or four digits.
func digits(v float64) string {
	decimals := 3
	for limit := 9.9995; decimals > 0 && math.Abs(v) >= limit; limit *= 10 {
		decimals--
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// number prints a target as it was written.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// validate reports what is wrong with a limit that was read.
func (l Limit) validate() error {
	switch {
	case l.Name == "" || l.Figure == "":
		return errors.New("a limit without a name or a figure")
	case (l.AtLeast == nil) == (l.AtMost == nil):
		return fmt.Errorf("%s, %s: want one of atLeast and atMost", l.Name, l.Figure)
	}
	if want := judged(l); want.Verdict != l.Verdict {
		return fmt.Errorf("%s, %s: verdict %q, its values say %q", l.Name, l.Figure, l.Verdict, want.Verdict)
	}
	return nil
}
