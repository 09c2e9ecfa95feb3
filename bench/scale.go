package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/scale"
)

// DefaultScaleRuns is how often each value of a scale is measured on each path.
const DefaultScaleRuns = 3

// ScaleOptions say what of [Scale] to run. The zero value is all of it.
type ScaleOptions struct {
	Only  []string // names of rows, as ScaleRows returns them; none: all
	Quick bool     // a tenth of the messages and fewer values: to try it, not to learn from it
	Runs  int      // of each value on each path; 0: DefaultScaleRuns
	Seed  uint64   // of the workload; 0: DefaultSeed

	// Folder is where the row of the archive makes its databases and removes them:
	// on the disk that is to be measured. "": where temporary files go.
	Folder string

	CommandLine []string   // told in the result
	LogLevel    slog.Level // of the nodes
	LogTo       io.Writer  // their log; nil: discarded
	Progress    io.Writer  // as Options.Progress
}

// Validate reports everything wrong with o.
func (o ScaleOptions) Validate() error {
	var errs []error
	names := ScaleRows()
	for i, name := range o.Only {
		if !slices.Contains(names, name) {
			errs = append(errs, fmt.Errorf("bench: scale: row %q: want %s", name, strings.Join(names, ", ")))
		}
		if slices.Contains(o.Only[:i], name) {
			errs = append(errs, fmt.Errorf("bench: scale: row %q is given twice", name))
		}
	}
	if o.Runs < 0 {
		errs = append(errs, fmt.Errorf("bench: scale: %d runs", o.Runs))
	}
	return errors.Join(errs...)
}

func (o ScaleOptions) withDefaults() ScaleOptions {
	if o.Runs == 0 {
		o.Runs = DefaultScaleRuns
	}
	if o.Seed == 0 {
		o.Seed = DefaultSeed
	}
	return o
}

// ScaleRows returns the names of all that is varied, in the order of measuring.
func ScaleRows() (names []string) {
	for _, d := range dimensions() {
		names = append(names, d.name)
	}
	return append(names, archiveRow)
}

// Scale measures how the cost of a message grows with each of [ScaleRows], one
// after the other. All values of a row are measured once before any is measured
// again, in turn upwards and downwards, so that what drifts weighs on all alike.
// A run that is not valid is in the result's Invalid; a value for which the
// machine has not the memory is in Skipped. The error is for options that are
// wrong, for what is not the doing of a run, and for the end of ctx, which leaves
// nothing.
func Scale(ctx context.Context, o ScaleOptions) (scale.Result, error) {
	if err := o.Validate(); err != nil {
		return scale.Result{}, err
	}
	s, err := newScaling(o.withDefaults())
	if err != nil {
		return scale.Result{}, err
	}
	defer s.progress.Done()
	for _, d := range s.dimensions {
		if err := s.measure(ctx, d); err != nil {
			return scale.Result{}, fmt.Errorf("bench: scale: row %s: %w", d.name, err)
		}
	}
	if s.wants(archiveRow) {
		if err := s.measureArchive(ctx); err != nil {
			return scale.Result{}, fmt.Errorf("bench: scale: row %s: %w", archiveRow, err)
		}
	}
	return s.result.Fitted(), nil
}

// scaling is one call of Scale.
type scaling struct {
	options    ScaleOptions
	dimensions []dimension // with the values that are measured
	result     scale.Result
	progress   *Progress
}

func newScaling(o ScaleOptions) (*scaling, error) {
	environment, err := ReadEnvironment(o.CommandLine, strings.ToLower(o.LogLevel.String()))
	if err != nil {
		return nil, err
	}
	s := &scaling{options: o}
	s.result = scale.Result{
		Kind: scale.Kind, SchemaVersion: scale.SchemaVersion, MeasuredAt: time.Now().UTC(), Environment: environment,
		Settings: scale.Settings{Quick: o.Quick, Runs: o.Runs, Seed: o.Seed, Hash: message.Blake3.String(), Archive: DefaultArchive},
	}
	steps := 0
	for _, d := range dimensions() {
		if !s.wants(d.name) {
			continue
		}
		if d, err = s.affordable(d); err != nil {
			return nil, err
		}
		s.dimensions = append(s.dimensions, d)
		steps += len(d.values(o.Quick)) * len(d.paths()) * o.Runs
	}
	if s.wants(archiveRow) {
		steps += len(archiveMarks(o.Quick)) * o.Runs
	}
	s.limit()
	s.progress = NewProgress(o.Progress, steps)
	s.reserve()
	return s, nil
}

func (s *scaling) wants(row string) bool {
	return len(s.options.Only) == 0 || slices.Contains(s.options.Only, row)
}

// limit says what the result does not show.
func (s *scaling) limit() {
	s.result.Limitations = []string{
		"All nodes share one process, one machine and its loopback device: CPU and memory of a message are those of the publisher, the receiver and the peers behind it together.",
		"A fit describes the values that were measured, in one session on one machine, and promises nothing beyond them.",
	}
	if s.options.Quick {
		s.result.Limitations = append(s.result.Limitations, "Quick: a tenth of the messages and fewer values. Exponents of times are of no use.")
	}
	if !counters.Enabled {
		s.result.Limitations = append(s.result.Limitations, "This build does not count: encodes are n/a.")
	}
}

// affordable leaves out the values for which the machine has not the memory, and
// says so.
func (s *scaling) affordable(d dimension) (dimension, error) {
	free, err := mem.VirtualMemory()
	if err != nil {
		return d, fmt.Errorf("bench: scale: read free memory: %w", err)
	}
	fits := func(x int) bool { return s.shape(d, x).memory() <= free.Available }
	for _, x := range d.values(s.options.Quick) {
		if !fits(x) {
			s.result.Skipped = append(s.result.Skipped, scale.Skipped{Row: d.name, X: x, Reason: fmt.Sprintf(
				"it takes some %.1f GB of memory and the machine has %.1f GB free", float64(s.shape(d, x).memory())/1e9, float64(free.Available)/1e9)})
		}
	}
	keep := func(all []int) []int {
		return slices.DeleteFunc(slices.Clone(all), func(x int) bool { return !fits(x) })
	}
	d.full, d.quick = keep(d.full), keep(d.quick)
	return d, nil
}

// reserve maps the pages of the archive in memory once for all rows: later it is
// too late.
func (s *scaling) reserve() {
	pages := 0
	for _, d := range s.dimensions {
		for _, x := range d.values(s.options.Quick) {
			pages = max(pages, s.shape(d, x).archivePages())
		}
	}
	s.result.Limitations = append(s.result.Limitations, reserveArchive(pages)...)
}

// measure measures one row.
func (s *scaling) measure(ctx context.Context, d dimension) error {
	row := scale.Row{Name: d.name, Unit: d.unit, Held: d.held(s.options.Quick), Event: "message", Counts: true, Note: d.note}
	for _, path := range d.paths() {
		row.Series = append(row.Series, scale.Series{Path: path})
	}
	values := slices.Clone(d.values(s.options.Quick))
	runs := make(map[string]map[int][]scale.Run)
	for number := 1; number <= s.options.Runs; number++ {
		for _, x := range values {
			if err := s.measureValue(ctx, d, x, number, runs); err != nil {
				return err
			}
		}
		slices.Reverse(values)
	}
	for i := range row.Series {
		row.Series[i].Points = points(d.values(s.options.Quick), runs[row.Series[i].Path])
	}
	s.result.Rows = append(s.result.Rows, row)
	return nil
}

// points returns a point for each value that has a run.
func points(values []int, runs map[int][]scale.Run) (all []scale.Point) {
	for _, x := range values {
		if len(runs[x]) > 0 {
			all = append(all, scale.Point{X: x, Runs: runs[x]})
		}
	}
	return all
}

// measureValue makes one run of a value on each path, in turn forwards and
// backwards.
func (s *scaling) measureValue(ctx context.Context, d dimension, x, number int, runs map[string]map[int][]scale.Run) error {
	paths := d.paths()
	if number%2 == 0 {
		slices.Reverse(paths)
	}
	for _, path := range paths {
		s.progress.Step(fmt.Sprintf("%s %d %s, run %d", d.name, x, path, number))
		run, invalid, err := s.run(ctx, s.shape(d, x), path)
		switch {
		case err != nil:
			return err
		case invalid != "":
			s.result.Invalid = append(s.result.Invalid, scale.Invalid{Row: d.name, X: x, Path: path, Number: number, Reason: invalid})
			continue
		}
		if runs[path] == nil {
			runs[path] = make(map[int][]scale.Run)
		}
		runs[path][x] = append(runs[path][x], run)
	}
	return nil
}

// run makes one run, and says why if it is not valid.
func (s *scaling) run(ctx context.Context, set shape, path string) (run scale.Run, invalid string, err error) {
	arm, traffic := set.arm(path)
	o := set.options(s.options)
	result, err := RunArms(ctx, o, []Arm{arm})
	if err != nil {
		return run, "", err
	}
	for _, l := range result.Limitations[len(limitations(o)):] { // of this run: those of all are said already
		if !slices.Contains(s.result.Limitations, l) {
			s.result.Limitations = append(s.result.Limitations, l)
		}
	}
	if len(result.Invalid) > 0 {
		return run, result.Invalid[0].Reason, nil
	}
	return scaleRun(result.Runs[0], traffic()), "", nil
}

// scaleRun returns what a run says of growth.
func scaleRun(run verdict.Run, traffic *Traffic) scale.Run {
	n := float64(run.Messages)
	out := scale.Run{
		Events: run.Messages, PerSecond: n / (float64(run.WallNanos) / 1e9),
		CPUNanos: float64(run.CPUNanos) / n, AllocBytes: float64(run.AllocBytes) / n, LiveBytes: float64(run.LiveDelta),
	}
	var encodes uint64
	counted := len(run.Nodes) > 0
	for _, node := range run.Nodes {
		counted = counted && node.Sites != nil
		encodes += counters.Total(node.Sites).Encodes
	}
	if traffic != nil {
		encodes += traffic.Encodes
		out.Copies, out.Mesh = new(float64(traffic.Copies)/n), &traffic.Mesh
		if traffic.Copies > 0 {
			out.Written = new(float64(traffic.Bytes) / float64(traffic.Copies))
		}
	}
	if counted {
		out.Encodes = new(float64(encodes) / n)
	}
	return out
}
