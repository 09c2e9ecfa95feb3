package bench

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/limits"
)

// A Ratio is a figure of one arm by that of another: the median over the runs of
// a session, of each run's own ratio, since what two arms of one run share of the
// machine's moods cancels.
type Ratio struct {
	Median float64 `json:"median"`

	// Low and High are the ends of a 95 % confidence interval of the median. They
	// are nil for fewer than six runs, which cannot have one.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// String prints the ratio and its interval with two decimals.
func (r Ratio) String() string {
	if r.Low == nil {
		return fmt.Sprintf("%.2f (n/a)", r.Median)
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", r.Median, *r.Low, *r.High)
}

// ratioOf returns the median of ratios, of which there is one at least.
func ratioOf(ratios []float64) (r Ratio) {
	r.Median, r.Low, r.High = verdict.MedianInterval(ratios)
	return r
}

// A Comparison is of two arms of macro, run by run.
type Comparison struct {
	Runs    int `json:"runs"`    // compared: both arms were valid
	Invalid int `json:"invalid"` // runs of the first arm that lost a message

	Rate     Ratio `json:"rate"`     // messages a second
	CPU      Ratio `json:"cpu"`      // process time a message
	Allocs   Ratio `json:"allocs"`   // allocations a message
	PeakHeap Ratio `json:"peakHeap"` // largest Go heap
}

// CompareArms compares an arm with another, its base. Without a pair of valid runs
// the ratios are 0.
func CompareArms(r verdict.Result, arm, base string) Comparison {
	ratios := func(figure func(verdict.Run) float64) []float64 { return limits.Ratios(r, Macro, arm, base, figure) }
	rates := ratios(limits.Rate)
	c := Comparison{Runs: len(rates)}
	for _, i := range r.Invalid {
		if i.Path == arm {
			c.Invalid++
		}
	}
	if len(rates) > 0 {
		c.Rate, c.CPU, c.Allocs = ratioOf(rates), ratioOf(ratios(limits.CPU)), ratioOf(ratios(limits.Allocs))
		c.PeakHeap = ratioOf(ratios(func(r verdict.Run) float64 { return float64(r.PeakHeap) }))
	}
	return c
}

// An Effect is what one value of an option does, by the option's default.
type Effect struct {
	Option  string `json:"option"`
	Default string `json:"default"`
	Value   string `json:"value"`
	Path    string `json:"path"`
	Comparison
}

// WriteEffects writes a table of what [Effects] finds in a result, as Markdown or
// for a terminal. It returns an error where there is nothing to write of.
func WriteEffects(w io.Writer, r verdict.Result, markdown bool) error {
	effects := Effects(r)
	if len(effects) == 0 {
		return fmt.Errorf("bench: write effects: the result has none of the options %v", TransportOptions())
	}
	t := table.NewWriter()
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"option", "default", "value", "path", "msg/s", "CPU/msg", "allocs/msg", "peak heap", "runs"})
	for _, e := range effects {
		t.AppendRow(e.row())
	}
	render := t.Render
	if markdown {
		render = t.RenderMarkdown
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s\n", render(), wrapped(describeEffects(r)))
	return err
}

// wrapped breaks a text into lines of at most 100 columns, which WrapSoft pads.
func wrapped(s string) string {
	const width = 100
	var lines []string
	for line := range strings.SplitSeq(text.WrapSoft(s, width), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

func (e Effect) row() table.Row {
	runs := fmt.Sprint(e.Runs)
	if e.Invalid > 0 {
		runs += fmt.Sprintf(", %d invalid", e.Invalid)
	}
	if e.Runs == 0 {
		return table.Row{e.Option, e.Default, e.Value, e.Path, "n/a", "n/a", "n/a", "n/a", runs}
	}
	return table.Row{e.Option, e.Default, e.Value, e.Path, e.Rate, e.CPU, e.Allocs, e.PeakHeap, runs}
}

// describeEffects says how the table is read, and what the ratios are ratios of.
func describeEffects(r verdict.Result) string {
	said := fmt.Sprintf("Ratios to the default of the option, of the same path and run: median and its 95 %% interval. "+
		"An interval that holds 1.00 shows no effect; the rows of option %q show what noise does. "+
		"%d messages of %s a run, window %d, %s, %d cores, load %.1f at the start.",
		again.name, r.Settings.Messages, r.Settings.Profile, r.Settings.Window, r.Environment.Go, r.Environment.Cores, r.Environment.Load1)
	for _, path := range again.paths() {
		var rates, cpus []float64
		for _, run := range r.Runs {
			if isDefault(run.Path, path) {
				rates, cpus = append(rates, limits.Rate(run)), append(cpus, limits.CPU(run)/1e3)
			}
		}
		if len(rates) > 0 {
			said += fmt.Sprintf(" By default %s does %.0f msg/s at %.0f µs CPU a message (medians of %d runs).",
				path, verdict.Median(rates), verdict.Median(cpus), len(rates))
		}
	}
	return said
}

// isDefault reports whether an arm is the default of any option on a path.
func isDefault(arm, path string) bool {
	for _, t := range tunables() {
		if arm == t.armName(path, choice{name: t.standard}) {
			return true
		}
	}
	return false
}
