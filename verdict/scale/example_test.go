package scale_test

import (
	"fmt"

	"github.com/msgpath/msgpath/verdict/scale"
)

// The CPU time of a message that grows with the square root of what is varied.
func Example() {
	var points []scale.Point
	for x, nanos := range map[int]float64{1: 10_000, 4: 20_000, 16: 40_000} {
		points = append(points, scale.Point{X: x, Runs: []scale.Run{{Events: 1000, PerSecond: 1e9 / nanos, CPUNanos: nanos}}})
	}
	fit := scale.FitPoints(scale.CPU, points)
	fmt.Println("exponent", fit)
	cost, _ := fit.At(64)
	fmt.Printf("at 64, if it goes on like that: %.0f µs\n", cost/1e3)
	// Output:
	// exponent 0.50 ± 0.00
	// at 64, if it goes on like that: 80 µs
}
