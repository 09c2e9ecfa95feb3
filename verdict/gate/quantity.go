package gate

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A Quantity is a number as it stands in a budget.
type Quantity struct {
	Value   float64 // in the metric's own unit, or percent of the base
	Percent bool

	At   Position // where the number begins
	text string   // as it is written
	unit string   // what is written behind the number
}

// dimension is what a metric is measured in.
type dimension int

const (
	events dimension = iota
	bytesOf
	nanos
)

// scales are the units that may stand behind a number.
var scales = map[string]struct {
	of    dimension
	scale float64
}{
	"B": {bytesOf, 1}, "kB": {bytesOf, 1e3}, "MB": {bytesOf, 1e6}, "GB": {bytesOf, 1e9},
	"ns": {nanos, 1}, "µs": {nanos, 1e3}, "us": {nanos, 1e3}, "ms": {nanos, 1e6}, "s": {nanos, 1e9},
}

var (
	byteMetric = regexp.MustCompile(`\bB(/|$)`)
	timeMetric = regexp.MustCompile(`\bns(/|$)`)
	quantity   = regexp.MustCompile(`^([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)( ?)(%|[A-Za-zµ]*)$`)
)

// dimensionOf reads the unit out of a metric's name, as in "copied-B/msg".
func dimensionOf(metric string) dimension {
	switch {
	case byteMetric.MatchString(metric):
		return bytesOf
	case timeMetric.MatchString(metric):
		return nanos
	}
	return events
}

// parseQuantity reads a number with a unit that suits the metric, or with a
// percent sign.
func parseQuantity(s, metric string) (Quantity, error) {
	m := quantity.FindStringSubmatch(s)
	if m == nil {
		return Quantity{}, fmt.Errorf("%q is no number", s)
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return Quantity{}, fmt.Errorf("%q is out of range", s)
	}
	q := Quantity{Value: value, text: s, unit: m[2] + m[3], Percent: m[3] == "%"}
	if q.Percent || m[3] == "" {
		return q, nil
	}
	unit, ok := scales[m[3]]
	if !ok {
		return Quantity{}, fmt.Errorf("%q has the unknown unit %q: known are B, kB, MB, GB, ns, µs, ms, s and %%", s, m[3])
	}
	if unit.of != dimensionOf(metric) {
		return Quantity{}, fmt.Errorf("%q has a unit that does not suit %s", s, metric)
	}
	q.Value *= unit.scale
	if math.IsInf(q.Value, 0) {
		return Quantity{}, fmt.Errorf("%q is out of range", s)
	}
	return q, nil
}

// rewrite returns the text of q with another value, in the same unit.
func (q Quantity) rewrite(value float64) string {
	if unit, ok := scales[strings.TrimSpace(q.unit)]; ok {
		value /= unit.scale
	}
	return strconv.FormatFloat(value, 'f', -1, 64) + q.unit
}

// show prints a value of a metric: counts exactly, the rest with five digits and
// in a unit that fits.
func show(value float64, metric string, exact bool) string {
	if exact {
		return strconv.FormatFloat(value, 'g', 12, 64)
	}
	steps := map[dimension][]string{
		bytesOf: {"GB", "MB", "kB", "B"}, nanos: {"s", "ms", "µs", "ns"},
	}[dimensionOf(metric)]
	for _, unit := range steps {
		if scale := scales[unit].scale; math.Abs(value) >= scale {
			return strconv.FormatFloat(value/scale, 'g', 5, 64) + " " + unit
		}
	}
	return strconv.FormatFloat(value, 'g', 5, 64)
}
