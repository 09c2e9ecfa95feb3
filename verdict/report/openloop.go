package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// openLoops returns the scenarios that any side measured in an open loop.
func (l *ledger) openLoops() []string {
	return slices.DeleteFunc(l.scenarios(), func(scenario string) bool {
		return !slices.ContainsFunc(l.sides, func(side Side) bool {
			return slices.ContainsFunc(side.Result.Distributions, func(d verdict.Distribution) bool { return d.Scenario == scenario })
		})
	})
}

// distribution returns a latency of a subject, false if it was not measured.
func (l *ledger) distribution(s subject, scenario, from, to string) (verdict.Distribution, bool) {
	for _, d := range l.sides[s.side].Result.Distributions {
		if d.Scenario == scenario && d.Path == s.path && d.From == from && d.To == to {
			return d, true
		}
	}
	return verdict.Distribution{}, false
}

// beginnings are those of latencies, with the line that each has.
var beginnings = []lineName{
	{name: verdict.FromIntended, tone: blue},
	{name: verdict.FromSent, tone: blue, dashes: dash},
}

// openLoop returns the figure of latencies by percentile.
func (l *ledger) openLoop() figure {
	f := figure{
		name: "openloop", title: "Latency by percentile",
		reading: "Messages were sent at intended times, whatever the receiver did. Solid lines are latencies from the intended time until the receiver's application was called, dashed ones from the moment of the send: where they part, messages waited before they could be sent. Dots and rings are the 99th percentiles. All runs of a path together.",
	}
	f.sketch = append(f.sketch, lineKey{
		{"from the intended time", beginnings[0].tone, nil},
		{"from the send", beginnings[1].tone, beginnings[1].dashes},
	})
	var said []string
	for _, scenario := range l.openLoops() {
		s := spectra{title: scenario, unit: "milliseconds, both scales logarithmic"}
		g := grid{
			Caption: "Latency of an open loop in milliseconds, " + scenario,
			Head:    []string{"path", "p50", "p90", "p99", "p99.9", "max", "n", "sent late"},
		}
		for _, of := range l.subjects(scenario) {
			s.cells = append(s.cells, l.spectrum(of, scenario))
			g.Rows = append(g.Rows, l.openLoopRows(of, scenario)...)
			said = append(said, fmt.Sprintf("%s %s %s", scenario, l.name(of), l.bothP99(of, scenario)))
		}
		f.sketch, f.grids = append(f.sketch, s), append(f.grids, g)
	}
	f.summary = "99th percentile in milliseconds until the application was called, from the intended time / from the send: " + strings.Join(said, "; ") + "."
	return f
}

// spectrum returns the chart of a subject.
func (l *ledger) spectrum(of subject, scenario string) spectrum {
	chart := spectrum{title: l.name(of), note: "p99 " + l.bothP99(of, scenario)}
	for _, b := range beginnings {
		if d, ok := l.distribution(of, scenario, b.name, verdict.ToApplication); ok {
			chart.lines = append(chart.lines, spectrumLine{
				steps: steps(d), mark: step{100, milliseconds(d.Quantiles.P99)}, tone: l.tone(of), dashes: b.dashes,
			})
		}
	}
	return chart
}

// milliseconds returns a time for a logarithmic scale, where 0 is the least that
// there is.
func milliseconds(nanos int64) float64 { return float64(max(nanos, 1)) / 1e6 }

// steps returns a distribution in milliseconds. The longest is one of all
// messages.
func steps(d verdict.Distribution) (all []step) {
	most := float64(d.Quantiles.Messages)
	for _, p := range d.Points {
		slower := most
		if p.Percentile < 100 {
			slower = min(most, 1/(1-p.Percentile/100))
		}
		all = append(all, step{slower, milliseconds(p.Nanos)})
	}
	return all
}

// bothP99 prints the 99th percentiles from either beginning in milliseconds.
func (l *ledger) bothP99(of subject, scenario string) string {
	var both []string
	for _, b := range beginnings {
		text := notAvailable
		if d, ok := l.distribution(of, scenario, b.name, verdict.ToApplication); ok {
			text = quantity(float64(d.Quantiles.P99) / 1e6)
		}
		both = append(both, text)
	}
	return strings.Join(both, " / ")
}

// openLoopRows returns a line for each latency of a subject.
func (l *ledger) openLoopRows(of subject, scenario string) (rows []gridRow) {
	late, messages := uint64(0), 0
	for _, run := range l.runs(of, scenario) {
		if run.OpenLoop != nil {
			late, messages = late+run.OpenLoop.Missed, messages+run.Messages
		}
	}
	for _, to := range []string{verdict.ToApplication, verdict.ToCommit} {
		for _, b := range beginnings {
			d, ok := l.distribution(of, scenario, b.name, to)
			if !ok {
				continue
			}
			q := d.Quantiles
			r := gridRow{Name: l.name(of), Note: b.name + " to " + to}
			for _, v := range []int64{q.P50, q.P90, q.P99, q.P999, q.Max} {
				r.Cells = append(r.Cells, quantity(float64(v)/1e6))
			}
			r.Cells = append(r.Cells, count(float64(q.Messages)), fmt.Sprintf("%s of %s", count(float64(late)), count(float64(messages))))
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		na := notAvailable
		rows = []gridRow{{Name: l.name(of), Cells: []string{na, na, na, na, na, na, na}}}
	}
	return rows
}
