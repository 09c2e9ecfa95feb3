package scale

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// fewest is the number of points from which a line can be wrong.
const fewest = 3

// Fit is cost = Factor × x^Exponent, fitted to the points of one series. What
// cannot be told of so few points is nil: "n/a".
type Fit struct {
	Figure   string   `json:"figure"`        // name of the cost
	Points   int      `json:"points"`        // values of x it was fitted to
	Exponent *float64 `json:"exponent"`      // 0: the cost does not depend on x; 1: it grows as x does
	Error    *float64 `json:"standardError"` // of the exponent
	R2       *float64 `json:"r2"`            // share of the variance that the line explains; null where there is none
	Factor   *float64 `json:"factor"`        // cost at x = 1, in the figure's unit
}

// FitPoints fits a figure's medians by least squares of their logarithms. With
// fewer than three points, or where a median is missing or not above 0, the fit
// has no exponent.
func FitPoints(f Figure, points []Point) Fit {
	fit := Fit{Figure: f.Name, Points: len(points)}
	var x, y []float64
	for _, p := range points {
		s, ok := p.Spread(f)
		if !ok || s.Median <= 0 {
			return fit
		}
		x, y = append(x, math.Log(float64(p.X))), append(y, math.Log(s.Median))
	}
	if len(x) < fewest || slices.Min(x) == slices.Max(x) {
		return fit
	}
	alpha, beta := stat.LinearRegression(x, y, nil, false)
	fit.Exponent, fit.Factor = &beta, new(math.Exp(alpha))
	fit.Error = new(slopeError(x, y, alpha, beta))
	if r2 := stat.RSquared(x, y, nil, alpha, beta); !math.IsNaN(r2) && !math.IsInf(r2, 0) {
		fit.R2 = &r2
	}
	return fit
}

// slopeError returns the standard error of a slope with two parameters fitted.
func slopeError(x, y []float64, alpha, beta float64) float64 {
	mean := stat.Mean(x, nil)
	var residual, width float64
	for i := range x {
		d := y[i] - alpha - beta*x[i]
		residual += d * d
		width += (x[i] - mean) * (x[i] - mean)
	}
	return math.Sqrt(residual / float64(len(x)-2) / width)
}

// At returns the fitted cost at x, and false where there is no fit.
func (f Fit) At(x float64) (float64, bool) {
	if f.Exponent == nil || f.Factor == nil {
		return 0, false
	}
	return *f.Factor * math.Pow(x, *f.Exponent), true
}

// Fit returns the fit of a cost, without an exponent where there is none.
func (s Series) Fit(f Figure) Fit {
	for _, fit := range s.Fits {
		if fit.Figure == f.Name {
			return fit
		}
	}
	return Fit{Figure: f.Name}
}

// Fitted returns r with all fits made of its points.
func (r Result) Fitted() Result {
	r.Rows = slices.Clone(r.Rows)
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Series = slices.Clone(row.Series)
		for k := range row.Series {
			s := &row.Series[k]
			s.Fits = make([]Fit, 0, len(Costs()))
			for _, cost := range Costs() {
				s.Fits = append(s.Fits, FitPoints(cost, s.Points))
			}
		}
	}
	return r
}
