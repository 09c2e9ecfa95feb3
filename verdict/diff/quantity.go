package diff

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

const notAvailable = "n/a"

// number prints a count: three decimals, none for what is large.
func number(v float64) string {
	if math.Abs(v) >= 1e5 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// digits prints about four digits.
func digits(v float64) string {
	decimals := 2
	switch a := math.Abs(v); {
	case a >= 999.95:
		decimals = 0
	case a >= 99.995:
		decimals = 1
	case a > 0 && a < 0.05:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// scaled prints a quantity of a base unit with the prefix that suits it.
func scaled(v float64, unit string, prefixes []string) string {
	i := 0
	for i+1 < len(prefixes) && math.Abs(v) >= 999.95 {
		v, i = v/1000, i+1
	}
	return digits(v) + " " + prefixes[i] + unit
}

var (
	bytePrefixes = []string{"", "k", "M", "G", "T"}
	nanoUnits    = []string{"ns", "µs", "ms", "s"}
)

// quantity prints a figure in what its unit is of, without what it is per.
func quantity(v *float64, unit, class string) string {
	if v == nil {
		return notAvailable
	}
	base, _, _ := strings.Cut(unit, "/")
	switch {
	case base == "B" || strings.HasSuffix(base, "-B"):
		return scaled(*v, "B", bytePrefixes)
	case base == "ns" || strings.HasSuffix(base, "-ns"):
		return scaled(*v, "", nanoUnits)
	case class == "count":
		return number(*v)
	}
	return digits(*v)
}

// percent prints a relative difference.
func percent(v *float64) string {
	if v == nil {
		return notAvailable
	}
	return fmt.Sprintf("%+.1f %%", *v)
}

// difference prints the relative difference, or the absolute one where BEFORE is
// not positive.
func difference(r Row) string {
	switch {
	case r.Delta == nil:
		return notAvailable
	case *r.Delta == 0:
		return "="
	case r.Percent != nil && *r.Percent != 0:
		return percent(r.Percent)
	case *r.Delta > 0:
		return "+" + quantity(r.Delta, r.Unit, r.Class)
	}
	return quantity(r.Delta, r.Unit, r.Class)
}

// changeText prints by how much a count changed: "+1.000 hash/msg", and of bytes
// "+65.00 MB/1000 msg".
func changeText(delta float64, m verdict.Metric) string {
	base, per, cut := strings.Cut(m.Name, "/")
	if cut {
		per = "/" + per
	}
	sign := ""
	if delta >= 0 {
		sign = "+"
	}
	switch event := strings.ReplaceAll(m.Event(), "_", " "); {
	case isBytes(m.Name) && per == "/msg":
		return fmt.Sprintf("%s%s MB/1000 msg", sign, megabytes(delta/1000)) // 1000 messages, 10^6 bytes
	case isBytes(m.Name) || base == "B":
		return sign + scaled(delta, "B", bytePrefixes) + per
	case event != "":
		return sign + number(delta) + " " + event + per
	}
	return sign + number(delta) + " " + m.Name
}

func megabytes(v float64) string {
	if math.Abs(v) < 0.1 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
