package limits

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/msgpath/msgpath/verdict"
)

// Kind and Version mark the JSON document of [WriteJSON].
const (
	Kind    = "msgpath-limits"
	Version = 1
)

// Document is one session in which limits were measured.
type Document struct {
	Kind          string              `json:"kind"`
	SchemaVersion int                 `json:"schemaVersion"`
	MeasuredAt    time.Time           `json:"measuredAt"`
	Environment   verdict.Environment `json:"environment"`
	Settings      verdict.Settings    `json:"settings"`
	Limits        []Limit             `json:"limits"`
	Arms          []Arm               `json:"arms"`     // what the ratios are of
	Profiles      []Profile           `json:"profiles"` // of the arms of limits that did not pass
	Invalid       []verdict.Invalid   `json:"invalid"`
	Limitations   []string            `json:"limitations"`
}

// Arm is what was measured of one arm: medians over its runs.
type Arm struct {
	Name       string  `json:"name"` // "macro zerocopy"
	Runs       int     `json:"runs"`
	Messages   int     `json:"messages"`   // a run
	Rate       float64 `json:"rate"`       // msg/s
	CPU        float64 `json:"cpu"`        // ns a message, of the process
	Allocated  float64 `json:"allocated"`  // bytes a message
	Allocs     float64 `json:"allocs"`     // allocations a message
	LiveHeap   float64 `json:"liveHeap"`   // bytes, after a collection at the end, less before the run
	Collection float64 `json:"collection"` // garbage collections a run
}

// Profile is where the CPU time of one arm goes.
type Profile struct {
	Arm   string  `json:"arm"`
	Lines []Share `json:"lines"` // largest first
}

// Share is one function's part of a profile.
type Share struct {
	Function string  `json:"function"`
	Percent  float64 `json:"percent"` // of all samples, the function itself
}

// Of returns a document about a session: environment, settings, arms and what was
// invalid. Limits are the caller's to add.
func Of(r verdict.Result) Document {
	d := Document{
		Kind: Kind, SchemaVersion: Version, MeasuredAt: r.MeasuredAt, Environment: r.Environment,
		Settings: r.Settings, Invalid: r.Invalid, Limitations: r.Limitations,
		Limits: []Limit{}, Arms: []Arm{}, Profiles: []Profile{},
	}
	for _, scenario := range r.Settings.Scenarios {
		for _, path := range r.Settings.Paths {
			if runs := runsOf(r, scenario, path); len(runs) > 0 {
				d.Arms = append(d.Arms, armOf(scenario+" "+path, runs))
			}
		}
	}
	return d
}

func armOf(name string, runs []verdict.Run) Arm {
	median := func(of func(verdict.Run) float64) float64 {
		var values []float64
		for _, run := range runs {
			values = append(values, of(run))
		}
		return verdict.Median(values)
	}
	return Arm{
		Name: name, Runs: len(runs), Messages: runs[0].Messages,
		Rate:       median(Rate),
		CPU:        median(CPU),
		Allocated:  median(func(r verdict.Run) float64 { return float64(r.AllocBytes) / float64(r.Messages) }),
		Allocs:     median(Allocs),
		LiveHeap:   median(LiveHeap),
		Collection: median(func(r verdict.Run) float64 { return float64(r.GCCollect) }),
	}
}

// Rate is the figure msg/s of a run.
func Rate(r verdict.Run) float64 { return float64(r.Messages) / (float64(r.WallNanos) / 1e9) }

// CPU is the CPU time of a run in ns a message.
func CPU(r verdict.Run) float64 { return float64(r.CPUNanos) / float64(r.Messages) }

// Allocs is how often a run allocated, a message.
func Allocs(r verdict.Run) float64 { return float64(r.Allocs) / float64(r.Messages) }

// LiveHeap is what a run left alive, bytes.
func LiveHeap(r verdict.Run) float64 { return float64(r.LiveDelta) }

// Ratios returns the figure of one arm over that of its control for each run that
// both made, in order. A ratio of figures that are not both positive is not a
// number, and makes a limit one that was not measured.
func Ratios(r verdict.Result, scenario, arm, control string, figure func(verdict.Run) float64) (ratios []float64) {
	controls := runsOf(r, scenario, control)
	for _, run := range runsOf(r, scenario, arm) {
		i := slices.IndexFunc(controls, func(c verdict.Run) bool { return c.Number == run.Number })
		if i >= 0 {
			ratios = append(ratios, ratio(figure(run), figure(controls[i])))
		}
	}
	return ratios
}

func ratio(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return math.NaN()
	}
	return a / b
}

func runsOf(r verdict.Result, scenario, path string) (runs []verdict.Run) {
	for _, run := range r.Runs {
		if verdict.Series(run.Scenario) == scenario && run.Path == path {
			runs = append(runs, run)
		}
	}
	return runs
}

// ExitCode is 3 where a run was invalid, 1 where a limit failed, 4 where there is
// none or one could not be measured, and 0 else.
func (d Document) ExitCode() int {
	has := func(v verdict.Verdict) bool {
		return slices.ContainsFunc(d.Limits, func(l Limit) bool { return l.Verdict == v })
	}
	switch {
	case len(d.Invalid) > 0:
		return verdict.ExitInvalid
	case has(verdict.Fail):
		return verdict.ExitFailed
	case len(d.Limits) == 0 || has(verdict.NotApplicable):
		return verdict.ExitUnexamined
	}
	return verdict.ExitOK
}

// WriteJSON writes d as indented JSON.
func WriteJSON(w io.Writer, d Document) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(d); err != nil {
		return fmt.Errorf("limits: write JSON: %w", err)
	}
	return nil
}

// Read reads what [WriteJSON] wrote. A verdict that does not follow from the values
// is an error.
func Read(r io.Reader) (d Document, err error) {
	in := json.NewDecoder(r)
	in.DisallowUnknownFields()
	if err := in.Decode(&d); err != nil {
		return d, fmt.Errorf("limits: read: %w", err)
	}
	if d.Kind != Kind || d.SchemaVersion != Version {
		return d, fmt.Errorf("limits: read: kind %q, version %d: want %q, %d", d.Kind, d.SchemaVersion, Kind, Version)
	}
	var errs []error
	for _, l := range d.Limits {
		errs = append(errs, l.validate())
	}
	if err := errors.Join(errs...); err != nil {
		return d, fmt.Errorf("limits: read: %w", err)
	}
	return d, nil
}
