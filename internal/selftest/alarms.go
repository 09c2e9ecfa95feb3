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

// everyPath is the number of comparisons of one path's times for each comparison
// of the counts of all.
const everyPath = 50

// alarms is what comparing like with like came to.
type alarms struct {
	compared      int // with enough runs for times to be judged
	every         int // of all scenarios and paths, for their counts
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
	all := small()
	all.Runs = 2
	for i := range n + n/everyPath {
		step()
		if i%everyPath == everyPath-1 {
			a.every++
			err = a.compare(ctx, all)
		} else {
			a.compared++
			err = a.compare(ctx, o)
		}
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

// compare runs once and compares the odd with the even runs.
func (a *alarms) compare(ctx context.Context, o bench.Options) error {
	result, err := bench.Run(ctx, o)
	if err != nil {
		return err
	}
	if !result.Verified {
		return fmt.Errorf("selftest: compare like with like: a run is invalid: %+v", result.Invalid)
	}
	before, after := halves(result)
	switch {
	case diff.Compare(before, after, diff.Options{}).ExitCode != verdict.ExitOK:
		a.counts++
	case diff.Compare(before, after, diff.Options{StrictTimes: true}).ExitCode != verdict.ExitOK:
		a.times++
	}
	return nil
}

// halves returns the odd and the even runs as if they were two results.
func halves(r verdict.Result) (odd, even verdict.Record) {
	var sides [2]verdict.Result
	for i := range sides {
		sides[i] = r
		sides[i].Runs = nil
	}
	for _, run := range r.Runs {
		side := &sides[(run.Number+1)%2]
		run.Number = (run.Number + 1) / 2
		run.Scenario = verdict.RunName(verdict.Series(run.Scenario), run.Number)
		side.Runs = append(side.Runs, run)
	}
	return verdict.NewRecord("odd runs", sides[0]), verdict.NewRecord("even runs", sides[1])
}
