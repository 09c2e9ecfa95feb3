package selftest

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/diff"
)

// samples is how many runs each side of a comparison of like with like has.
const samples = 6

// alarms is what comparing like with like came to.
type alarms struct {
	compared      int
	counts, times int // comparisons that called something worse
}

// rate is a share with its exact (Clopper-Pearson) 95 % interval.
type rate struct{ share, low, high float64 }

func rateOf(k, n int) rate {
	const tail = 0.025
	r := rate{share: float64(k) / float64(n), low: 0, high: 1}
	if k > 0 {
		r.low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		r.high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return r
}

// compareLike runs the same code over and over, and compares every second run
// with those between.
func compareLike(ctx context.Context, n int, step func()) (a alarms, err error) {
	o := small()
	o.Scenarios, o.Paths, o.Runs = []string{bench.Micro}, []string{"zerocopy"}, 2*samples
	o.Archive = "memory" // the cheapest to open
	for range n {
		step()
		result, err := bench.Run(ctx, o)
		if err != nil {
			return a, err
		}
		if !result.Verified {
			return a, fmt.Errorf("selftest: compare like with like: a run is invalid: %+v", result.Invalid)
		}
		before, after := halves(result)
		a.compared++
		if diff.ExitCode(diff.Compare(before, after, diff.Options{})) != verdict.ExitOK {
			a.counts++
		} else if diff.ExitCode(diff.Compare(before, after, diff.Options{StrictTimes: true})) != verdict.ExitOK {
			a.times++
		}
	}
	return a, nil
}

// halves returns the odd and the even runs as if they were two results.
func halves(r verdict.Result) (odd, even verdict.Record) {
	var sides [2]verdict.Result
	for i, run := range r.Runs {
		run.Number = i/2 + 1
		run.Scenario = verdict.RunName(verdict.Series(run.Scenario), run.Number)
		sides[i%2].Runs = append(sides[i%2].Runs, run)
	}
	for i, runs := range sides {
		sides[i] = r
		sides[i].Runs = runs.Runs
	}
	return verdict.NewRecord("odd runs", sides[0]), verdict.NewRecord("even runs", sides[1])
}
