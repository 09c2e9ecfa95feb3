package verdict

import (
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchmath"
)

// arm is the runs of one scenario on one path, in order.
type arm struct {
	path string
	runs []Run
}

// arms returns the runs of one scenario by path, paths in order of appearance.
func arms(runs []Run, scenario string) (out []arm) {
	for _, run := range runs {
		if Series(run.Scenario) != scenario {
			continue
		}
		i := slices.IndexFunc(out, func(a arm) bool { return a.path == run.Path })
		if i < 0 {
			i, out = len(out), append(out, arm{path: run.Path})
		}
		out[i].runs = append(out[i].runs, run)
	}
	return out
}

// scenarios returns the scenarios that ran, in order of appearance.
func scenarios(runs []Run) (names []string) {
	for _, run := range runs {
		if name := Series(run.Scenario); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// spread is the middle and the ends of a sample.
type spread struct{ median, min, max float64 }

// spreadOf returns the spread of one figure over runs, and false where there is
// no run or any run lacks the figure.
func spreadOf(runs []Run, figure func(Run) *float64) (spread, bool) {
	var values []float64
	for _, run := range runs {
		v := figure(run)
		if v == nil {
			return spread{}, false
		}
		values = append(values, *v)
	}
	if len(values) == 0 {
		return spread{}, false
	}
	return spread{Median(values), slices.Min(values), slices.Max(values)}, true
}

// Median returns the middle of values, of an even number the mean of the two in
// the middle. Without a value it is not a number.
func Median(values []float64) float64 {
	median, _, _ := MedianInterval(values)
	return median
}

// Confidence is that of the interval of [MedianInterval].
const Confidence = 0.95

// MedianInterval returns the median of values, as [Median] does, and the ends of
// its interval by order statistics: nil where the values are too few for one.
func MedianInterval(values []float64) (median float64, low, high *float64) {
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, Confidence)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return s.Center, nil, nil
	}
	return s.Center, &s.Lo, &s.Hi
}

// ends prints the least and the most of a sample.
func ends(runs []Run, figure func(Run) *float64) string {
	s, ok := spreadOf(runs, figure)
	if !ok {
		return notAvailable
	}
	return short(s.min) + "-" + short(s.max)
}

// median prints a median alone.
func median(runs []Run, figure func(Run) *float64) string {
	s, ok := spreadOf(runs, figure)
	if !ok {
		return notAvailable
	}
	return short(s.median)
}

// exact prints a figure that is the same in every run, and both ends with a
// mark where it is not.
func exact(runs []Run, decimals int, figure func(Run) *float64) string {
	s, ok := spreadOf(runs, figure)
	if !ok {
		return notAvailable
	}
	low, high := fixed(s.min, decimals), fixed(s.max, decimals)
	if s.min != s.max {
		return low + "-" + high + " !"
	}
	return low
}

// short prints about three digits, more only before the point.
func short(v float64) string {
	switch {
	case v >= 99.95 || v <= -99.95:
		return fixed(v, 0)
	case v >= 9.995 || v <= -9.995:
		return fixed(v, 1)
	}
	return fixed(v, 2)
}

func fixed(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
