package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

const notAvailable = "n/a"

// A sample is one figure over the runs of a series, ascending. An empty one is
// "n/a", which is not 0.
type sample []float64

func newSample(values []float64) sample {
	return slices.Sorted(slices.Values(values))
}

func (s sample) known() bool { return len(s) > 0 }

func (s sample) median() float64 { return verdict.Median(s) }

// scaled returns the sample in a unit that is so many of the first.
func (s sample) scaled(per float64) sample {
	out := make(sample, len(s))
	for i, v := range s {
		out[i] = v / per
	}
	return out
}

// text prints the median.
func (s sample) text(format func(float64) string) string {
	if !s.known() {
		return notAvailable
	}
	return format(s.median())
}

// exact prints a count, which is the same in every run, and both ends with a
// mark where it is not.
func (s sample) exact() string {
	if !s.known() {
		return notAvailable
	}
	low, high := s[0], s[len(s)-1]
	if low != high {
		return count(low) + "–" + count(high) + " !"
	}
	return count(low)
}

// spread prints the least and the most.
func (s sample) spread() string {
	if !s.known() {
		return notAvailable
	}
	return quantity(s[0]) + "–" + quantity(s[len(s)-1])
}

// count prints a whole number as one, and any other with three decimals, so that
// 6 is exactly 6.
func count(v float64) string {
	if v == math.Trunc(v) {
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return grouped(strconv.FormatFloat(v, 'f', 3, 64))
}

// quantity prints three digits, more only before the point.
func quantity(v float64) string {
	decimals := 0
	if size := math.Abs(v); size > 0 {
		const roundsUp = 1.0005 // 9.996 is printed as 10.0
		decimals = min(6, max(0, 2-int(math.Floor(math.Log10(size*roundsUp)))))
	}
	return grouped(strconv.FormatFloat(v, 'f', decimals, 64))
}

// plain prints a round number as short as it is.
func plain(v float64) string {
	const digits = 6 // fewer than the errors of adding up steps
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return quantity(v)
	}
	return grouped(strconv.FormatFloat(rounded, 'f', -1, 64))
}

// grouped puts a comma between groups of three digits and a true minus before
// them.
func grouped(s string) string {
	s, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	if negative {
		whole = "−" + whole
	}
	return whole
}

// change prints by how much a figure changed from a base, in percent, and nothing
// where it did not or is not known.
func change(base, now sample) string {
	switch {
	case !base.known() || !now.known() || base.median() == now.median():
		return ""
	case base.median() == 0:
		return "from 0"
	}
	percent, decimals := 100*(now.median()/base.median()-1), 1
	if math.Abs(percent) >= 99.95 {
		decimals = 0
	}
	return signed(strconv.FormatFloat(percent, 'f', decimals, 64)) + " %"
}

// signed prints a number with its sign.
func signed(s string) string {
	if strings.HasPrefix(s, "-") {
		return grouped(s)
	}
	return "+" + grouped(s)
}
