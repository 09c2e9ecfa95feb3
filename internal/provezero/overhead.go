package provezero

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/msgpath/msgpath/verdict"
)

// MinPairs is the fewest pairs for which an interval is worth printing.
const MinPairs = 15

// An Overhead is what to measure.
type Overhead struct {
	Dir     string // of the module; "" is the working directory
	Command string // main package of msgpath
	Pairs   int    // of runs, at least [MinPairs]
}

// An overhead is a measurement under way.
type overhead struct {
	Overhead
	tool goTool
	args []string // of the benchmark
}

// A ratio is a median of ratios with its interval.
type ratio struct {
	median, low, high float64
	pairs             int
}

func (r ratio) String() string {
	return fmt.Sprintf("counting / production CPU time per message: %.4f (95 %% interval %.4f to %.4f, %d pairs)",
		r.median, r.low, r.high, r.pairs)
}

// Measure runs the benchmark of both builds in pairs and prints the ratio of
// their CPU times on stdout, each pair's on progress. Its errors are those that
// [ExitCode] tells apart.
func Measure(ctx context.Context, m Overhead, stdout, progress io.Writer) error {
	ratios, err := Ratios(ctx, m, progress)
	if err != nil {
		return err
	}
	r, err := summarize(ratios)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, r)
	return err
}

// Ratios runs the benchmark of both builds in pairs and returns, for each, the CPU
// time per message of the counting build over that of the production build.
func Ratios(ctx context.Context, m Overhead, progress io.Writer) ([]float64, error) {
	if m.Pairs < MinPairs {
		return nil, fmt.Errorf("provezero: %w: %d pairs, want at least %d", ErrUsage, m.Pairs, MinPairs)
	}
	tmp, err := os.MkdirTemp("", "provezero")
	if err != nil {
		return nil, fmt.Errorf("provezero: make directory: %w", err)
	}
	defer os.RemoveAll(tmp)
	o := overhead{
		Overhead: m, tool: goTool{dir: m.Dir, tmp: tmp},
		args: []string{"bench", "micro", "--path", "zerocopy", "--runs", "5", "--json", "-"},
	}
	return o.measure(ctx, progress)
}

// measure runs production and counting builds in pairs: AB BA AB …, so that
// what drifts weighs on both alike.
func (o overhead) measure(ctx context.Context, progress io.Writer) ([]float64, error) {
	production, err := o.tool.link(ctx, build{}, o.Command, "msgpath-production")
	if err != nil {
		return nil, err
	}
	counting, err := o.tool.link(ctx, build{tags: tag}, o.Command, "msgpath-counting")
	if err != nil {
		return nil, err
	}
	var ratios []float64
	for i := range o.Pairs {
		r, err := o.pair(ctx, production, counting, i%2 == 1)
		if err != nil {
			return nil, err
		}
		ratios = append(ratios, r)
		fmt.Fprintf(progress, "overhead: pair %d of %d: %.4f\n", i+1, o.Pairs, r)
	}
	return ratios, nil
}

// pair returns the CPU time per message of the counting over the production
// build.
func (o overhead) pair(ctx context.Context, production, counting string, countingFirst bool) (float64, error) {
	order := []string{production, counting}
	if countingFirst {
		order = []string{counting, production}
	}
	nanos := make(map[string]float64, len(order))
	for _, path := range order {
		n, err := o.bench(ctx, path)
		if err != nil {
			return 0, err
		}
		nanos[path] = n
	}
	return nanos[counting] / nanos[production], nil
}

// bench runs one build once and returns its CPU time per message in ns. Its exit
// status is not looked at where it wrote a verified result: a build that does
// not count passes no gate.
func (o overhead) bench(ctx context.Context, path string) (float64, error) {
	cmd := exec.CommandContext(ctx, path, o.args...)
	cmd.Dir = o.tool.tmp
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("provezero: run benchmark: %w", err)
	}
	nanos, parseErr := nanosPerMessage(stdout.Bytes())
	if parseErr != nil {
		return 0, fmt.Errorf("provezero: run benchmark: %w (exit: %v)\n%s", parseErr, err, stderr.Bytes())
	}
	return nanos, nil
}

// nanosPerMessage returns the CPU time per message in a result, the median of
// its runs: a process's first run pays for what later ones find ready.
func nanosPerMessage(data []byte) (float64, error) {
	var r verdict.Result
	if err := json.Unmarshal(data, &r); err != nil {
		return 0, fmt.Errorf("%w: decode result: %w", ErrInvalid, err)
	}
	if r.Kind != verdict.Kind || r.SchemaVersion != verdict.SchemaVersion {
		return 0, fmt.Errorf("%w: result of kind %q, version %d", ErrInvalid, r.Kind, r.SchemaVersion)
	}
	if len(r.Runs) == 0 || len(r.Invalid) > 0 {
		return 0, fmt.Errorf("%w: %d valid runs, %d invalid", ErrInvalid, len(r.Runs), len(r.Invalid))
	}
	var nanos []float64
	for _, run := range r.Runs {
		if !run.Verified || run.Messages <= 0 || run.CPUNanos <= 0 {
			return 0, fmt.Errorf("%w: %s: %d messages in %d ns of CPU time, verified %v",
				ErrInvalid, run.Scenario, run.Messages, run.CPUNanos, run.Verified)
		}
		nanos = append(nanos, float64(run.CPUNanos)/float64(run.Messages))
	}
	return verdict.Median(nanos), nil
}

// summarize returns the median of ratios and its interval, by order statistics.
func summarize(ratios []float64) (ratio, error) {
	if len(ratios) < MinPairs {
		return ratio{}, fmt.Errorf("provezero: %w: %d pairs, want at least %d", ErrNothing, len(ratios), MinPairs)
	}
	median, low, high := verdict.MedianInterval(ratios)
	return ratio{median, *low, *high, len(ratios)}, nil
}
