package peers

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/verdict"
)

// WriteTable writes what a result of [Arms] says, an arm a line: medians over runs
// and, in the last two columns, by how much the arm is faster than its base of
// [Bases] and what more CPU time it takes, as ratios.
func WriteTable(w io.Writer, r verdict.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "arm\truns\tmsg/s\tCPU µs/msg\tallocs/msg\tlatency p50 ms\tmsg/s by zerocopy\tCPU by zerocopy")
	for _, arm := range r.Settings.Paths {
		fmt.Fprintf(t, "%s\t%s\n", arm, line(r, arm))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("peers: write table: %w", err)
	}
	return nil
}

func line(r verdict.Result, arm string) string {
	runs := runsOf(r, arm)
	if len(runs) == 0 {
		return "0\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a"
	}
	per := func(figure func(verdict.Run) float64) float64 {
		var values []float64
		for _, run := range runs {
			values = append(values, figure(run))
		}
		return verdict.Median(values)
	}
	rate := per(func(r verdict.Run) float64 { return float64(r.Messages) / float64(r.WallNanos) * 1e9 })
	cpu := per(func(r verdict.Run) float64 { return float64(r.CPUNanos) / float64(r.Messages) / 1e3 })
	allocs := per(func(r verdict.Run) float64 { return float64(r.Allocs) / float64(r.Messages) })
	return fmt.Sprintf("%d\t%.0f\t%.0f\t%.0f\t%s\t%s", len(runs), rate, cpu, allocs, latency(runs), ratios(r, arm))
}

// latency returns the median of the medians in ms.
func latency(runs []verdict.Run) string {
	var values []float64
	for _, run := range runs {
		if run.LatencyP50 == nil {
			return "n/a"
		}
		values = append(values, float64(*run.LatencyP50)/1e6)
	}
	return fmt.Sprintf("%.1f", verdict.Median(values))
}

func ratios(r verdict.Result, arm string) string {
	base, ok := Bases[arm]
	if !ok {
		return "1\t1"
	}
	c := bench.CompareArms(r, arm, base)
	if c.Runs == 0 {
		return "n/a\tn/a"
	}
	return fmt.Sprintf("%v\t%v", c.Rate, c.CPU)
}

func runsOf(r verdict.Result, arm string) (runs []verdict.Run) {
	for _, run := range r.Runs {
		if run.Path == arm {
			runs = append(runs, run)
		}
	}
	return runs
}
