package scale

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// costs returns points of one run each, with cost factor × x^exponent × noise(i).
func costs(factor, exponent float64, values []int, noise func(i int) float64) (points []Point) {
	for i, x := range values {
		cpu := factor * math.Pow(float64(x), exponent) * noise(i)
		points = append(points, Point{X: x, Runs: []Run{{Events: 1, PerSecond: 1e9 / cpu, CPUNanos: cpu}}})
	}
	return points
}

func exactly(int) float64 { return 1 }

// rising returns a generator of ascending values of x.
func rising(least int) *rapid.Generator[[]int] {
	return rapid.Custom(func(t *rapid.T) (values []int) {
		x := 0
		for range rapid.IntRange(least, 8).Draw(t, "values") {
			x = x*rapid.IntRange(1, 4).Draw(t, "times") + rapid.IntRange(1, 100).Draw(t, "plus")
			values = append(values, x)
		}
		return values
	})
}

// Without noise the exponent is found, and nothing is left to explain.
func TestFitFindsTheExponent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factor, exponent := rapid.Float64Range(1, 1e6).Draw(t, "factor"), rapid.Float64Range(-2, 2).Draw(t, "exponent")
		points := costs(factor, exponent, rising(3).Draw(t, "x"), exactly)
		for _, f := range []Figure{CPU, Time} {
			fit := FitPoints(f, points)
			if fit.Exponent == nil || math.Abs(*fit.Exponent-exponent) > 1e-6 || *fit.Error > 1e-6 || fit.Points != len(points) {
				t.Fatalf("%s: %+v of exponent %g", f.Name, fit, exponent)
			}
			if at, ok := fit.At(float64(points[0].X)); !ok || math.Abs(at/points[0].Runs[0].CPUNanos-1) > 1e-6 {
				t.Fatalf("at the first x %g, %v, want %g", at, ok, points[0].Runs[0].CPUNanos)
			}
			if exponent > 0.01 && (fit.R2 == nil || *fit.R2 < 0.999) {
				t.Fatalf("R² %v", fit.R2)
			}
		}
	})
}

// With noise the exponent is found within a few of its standard errors, about as
// often as that says, and the error grows as the noise does.
func TestFitIsAsSureAsItSays(t *testing.T) {
	values := []int{1, 2, 4, 8, 16, 32, 64, 128}
	random := rand.New(rand.NewPCG(1, 2))
	const trials = 2000
	within, errors := 0, 0.0
	for range trials {
		fit := FitPoints(CPU, costs(50e3, 0.7, values, func(int) float64 { return math.Exp(0.1 * random.NormFloat64()) }))
		const t95 = 2.447 // of Student's t with 6 degrees of freedom
		if math.Abs(*fit.Exponent-0.7) < t95**fit.Error {
			within++
		}
		errors += *fit.Error / trials
	}
	if share := float64(within) / trials; share < 0.93 || share > 0.97 {
		t.Errorf("the exponent was within the interval of 95 %% in %.1f %% of trials", 100*share)
	}
	// The x are 0, 1, …, 7 times ln 2 from the first: their squares about the mean are 42 ln²2.
	if want := 0.1 / math.Sqrt(42*math.Ln2*math.Ln2); math.Abs(errors/want-1) > 0.1 {
		t.Errorf("mean standard error %g, want about %g", errors, want)
	}
}

// A fixed part beside a part that grows has an exponent between theirs.
func TestFitOfASumLiesBetween(t *testing.T) {
	var points []Point
	for _, x := range []int{1000, 5000, 15_000, 50_000, 150_000} {
		points = append(points, Point{X: x, Runs: []Run{{Events: 1, PerSecond: 1, CPUNanos: 30e3 + 2*float64(x)}}})
	}
	fit := FitPoints(CPU, points)
	if *fit.Exponent < 0.2 || *fit.Exponent > 0.8 || *fit.R2 > 0.99 {
		t.Errorf("%+v", fit)
	}
}

func TestFitOfTooLittleIsNotAvailable(t *testing.T) {
	two := costs(1, 1, []int{1, 2}, exactly)
	none := costs(1, 1, []int{1, 2, 4}, exactly)
	none[1].Runs = nil
	negative := costs(1, 1, []int{1, 2, 4}, exactly)
	for name, tt := range map[string]struct {
		figure Figure
		points []Point
	}{
		"no point": {CPU, nil}, "two points": {CPU, two}, "a point without a run": {CPU, none},
		"not above 0": {Live, negative}, "not measured": {Encodes, negative},
	} {
		fit := FitPoints(tt.figure, tt.points)
		if fit.Exponent != nil || fit.Error != nil || fit.R2 != nil || fit.String() != "n/a" {
			t.Errorf("%s: %+v %s", name, fit, fit)
		}
		if _, ok := fit.At(1); ok {
			t.Errorf("%s has a cost", name)
		}
	}
}

// The median is fitted: one run that was disturbed changes nothing.
func TestFitIsOfMedians(t *testing.T) {
	points := costs(10, 0.5, []int{1, 10, 100}, exactly)
	for i := range points {
		same := points[i].Runs[0]
		points[i].Runs = append(points[i].Runs, same, Run{Events: 1, PerSecond: 1, CPUNanos: 1e9})
	}
	if fit := FitPoints(CPU, points); math.Abs(*fit.Exponent-0.5) > 1e-9 {
		t.Errorf("exponent %g", *fit.Exponent)
	}
}
