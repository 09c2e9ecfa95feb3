package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// throughput returns the figure of messages per second.
func (l *ledger) throughput() figure {
	f := figure{
		name: "throughput", title: "Throughput",
		reading: "Each dot is a run, the tick their median. Times are those of one machine in one session: compare them within a session only.",
	}
	var said []string
	for _, scenario := range l.scenarios() {
		s := strip{title: scenario, about: l.same(scenario, l.runCount), unit: "messages per second", head: "median", group: len(l.sides)}
		g := grid{
			Caption: "Messages per second, " + scenario,
			Head:    []string{"path", "median", "of runs", "CPU µs/msg", "runs"},
		}
		for _, of := range l.subjects(scenario) {
			rate := l.whole(of, scenario, "msg/s")
			s.rows = append(s.rows, l.dotRow(of, rate.text(quantity), dots{values: rate, tone: l.tone(of)}))
			cpu := l.whole(of, scenario, "cpu-ns/msg").scaled(1e3)
			g.Rows = append(g.Rows, gridRow{Name: l.name(of), Cells: []string{
				rate.text(quantity), rate.spread(), cpu.text(quantity), l.runCount(of, scenario),
			}})
			said = append(said, fmt.Sprintf("%s %s %s", scenario, l.name(of), rate.text(quantity)))
		}
		s.mark, s.what = l.ceiling(scenario)
		f.sketch, f.grids = append(f.sketch, s), append(f.grids, g)
	}
	f.summary = "Median messages per second: " + strings.Join(said, "; ") + "."
	return f
}

// ceiling returns the throughput of the path raw in the side that is judged, and
// nothing where it decodes or hashes: another project may call any path so.
func (l *ledger) ceiling(scenario string) (*float64, string) {
	raw := subject{len(l.sides) - 1, ceiling}
	rate := l.whole(raw, scenario, "msg/s")
	works := func(metric string) bool { return slices.Max(append(l.whole(raw, scenario, metric), 0)) > 0 }
	if !rate.known() || works("decodes/msg") || works("hashes/msg") {
		return nil, ""
	}
	median := rate.median()
	return &median, "raw ceiling"
}

// dotRow returns the row of a subject; with a figure that is not known it has no
// dots.
func (l *ledger) dotRow(s subject, note string, figures ...dots) row {
	r := row{name: l.name(s), note: note}
	for _, d := range figures {
		if d.values.known() {
			r.dots = append(r.dots, d)
		}
	}
	return r
}

// latency returns the figure of latency percentiles.
func (l *ledger) latency() figure {
	f := figure{
		name: "latency", title: "Latency",
		reading: "From publish until a receiver was done with the message, whatever the scenario takes for that, on a logarithmic scale. Filled dots are the median of a run's messages, rings their 99th percentile; ticks are medians over runs, joined by a line.",
	}
	var said []string
	for _, scenario := range l.scenarios() {
		s := strip{title: scenario, about: l.same(scenario, l.messages), unit: "milliseconds, logarithmic", head: "p50 / p99", group: len(l.sides), log: true}
		g := grid{
			Caption: "Latency in milliseconds, " + scenario,
			Head:    []string{"path", "p50", "of runs", "p99", "of runs", "n"},
		}
		for _, of := range l.subjects(scenario) {
			p50 := l.whole(of, scenario, "latency-p50-ns").scaled(1e6)
			p99 := l.whole(of, scenario, "latency-p99-ns").scaled(1e6)
			note := p50.text(quantity) + " / " + p99.text(quantity)
			s.rows = append(s.rows, l.dotRow(of, note, dots{values: p50, tone: l.tone(of)}, dots{values: p99, hollow: true, tone: l.tone(of)}))
			g.Rows = append(g.Rows, gridRow{Name: l.name(of), Cells: []string{
				p50.text(quantity), p50.spread(), p99.text(quantity), p99.spread(), l.messages(of, scenario),
			}})
			said = append(said, fmt.Sprintf("%s %s %s (n %s)", scenario, l.name(of), note, l.messages(of, scenario)))
		}
		f.sketch, f.grids = append(f.sketch, s), append(f.grids, g)
	}
	f.summary = "Median and 99th percentile in milliseconds: " + strings.Join(said, "; ") + "."
	return f
}

// same prints what all subjects of a scenario have alike, and nothing where they
// differ: the table has it then.
func (l *ledger) same(scenario string, of func(subject, string) string) string {
	first := ""
	for _, s := range l.subjects(scenario) {
		if text := of(s, scenario); first == "" {
			first = text
		} else if text != first {
			return ""
		}
	}
	return "n = " + first
}

// messages prints how many messages the percentiles of a subject are of.
func (l *ledger) messages(s subject, scenario string) string {
	runs := l.runs(s, scenario)
	if len(runs) == 0 {
		return notAvailable
	}
	return fmt.Sprintf("%d × %s", len(runs), count(float64(runs[0].Messages)))
}

// runCount prints how many runs a subject has.
func (l *ledger) runCount(s subject, scenario string) string {
	return strconv.Itoa(len(l.runs(s, scenario)))
}
