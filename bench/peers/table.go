package peers

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/limits"
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
	all := limits.Of(r).Arms
	i := slices.IndexFunc(all, func(a limits.Arm) bool { return a.Name == bench.Macro+" "+arm })
	if i < 0 {
		return "0\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a"
	}
	a := all[i]
	return fmt.Sprintf("%d\t%.0f\t%.0f\t%.0f\t%s\t%s", a.Runs, a.Rate, a.CPU/1e3, a.Allocs, latency(r, arm), ratios(r, arm))
}

// latency returns the median of an arm's medians in ms.
func latency(r verdict.Result, arm string) string {
	var values []float64
	for _, run := range r.Runs {
		if run.Path != arm {
			continue
		}
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
