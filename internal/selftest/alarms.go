package selftest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/diff"
)

// samples is how many runs each side of a comparison of like with like has.
const samples = 6

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

// chunk is how many comparisons one process runs for. Making a libp2p host
// leaves about 11 kB behind in caches of package reflect, which slows down the
// collections of each later run.
const chunk = 50

// A runner returns so many runs of micro on path zerocopy.
type runner func(ctx context.Context, runs int) (verdict.Result, error)

// compareLike runs the same code over and over, and compares every second run
// with those between.
func compareLike(ctx context.Context, n int, run runner, step func()) (a alarms, err error) {
	all := small()
	all.Runs = 2
	for a.compared < n {
		part := min(chunk, n-a.compared)
		step()
		result, err := run(ctx, part*2*samples)
		if err != nil {
			return a, err
		}
		for i := range part {
			if err := a.compare(block(result, i)); err != nil {
				return a, err
			}
			a.compared++
		}
		if result, err = bench.Run(ctx, all); err != nil {
			return a, err
		}
		if err := a.compare(result); err != nil {
			return a, err
		}
		a.every++
	}
	return a, nil
}

// block returns the runs of one comparison, numbered from 1.
func block(r verdict.Result, i int) verdict.Result {
	runs := slices.Clone(r.Runs[i*2*samples : (i+1)*2*samples])
	for j := range runs {
		runs[j].Number = j + 1
		runs[j].Scenario = verdict.RunName(verdict.Series(runs[j].Scenario), j+1)
	}
	r.Runs = runs
	return r
}

// compare compares the odd with the even runs.
func (a *alarms) compare(result verdict.Result) error {
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

// inProcess runs in a process of its own, this program.
func (s *selftest) inProcess(ctx context.Context, runs int) (verdict.Result, error) {
	program, err := os.Executable()
	if err != nil {
		return verdict.Result{}, fmt.Errorf("selftest: %w", err)
	}
	out := filepath.Join(s.tmp, "like")
	arguments := []string{"bench", "micro", "--path=zerocopy", "--archive=memory", fmt.Sprintf("--runs=%d", runs), "--out=" + out}
	if err := command(ctx, s.tmp, program, append(arguments, smallFlags...)...); err != nil {
		return verdict.Result{}, err
	}
	file, err := os.Open(filepath.Join(out, "bench.json"))
	if err != nil {
		return verdict.Result{}, fmt.Errorf("selftest: %w", err)
	}
	defer file.Close()
	return verdict.ReadJSON(file)
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
