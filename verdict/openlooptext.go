package verdict

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
)

// openLoopTable returns the latencies of a scenario in an open loop, "" where there
// are none: all runs of a path together, those from the intended time above those
// from the send.
func openLoopTable(r Result, scenario string) string {
	t := newTable()
	t.AppendHeader(table.Row{"path", "latency, ms", "p50", "p90", "p99", "p99.9", "max", "missed"})
	last, rows := "", 0
	for _, d := range r.Distributions {
		if d.Scenario != scenario {
			continue
		}
		path, missed := "", ""
		if d.Path != last {
			path, missed = d.Path, r.missed(scenario, d.Path)
			if rows > 0 {
				t.AppendSeparator()
			}
		}
		row := table.Row{path, d.From + " to " + d.To}
		for _, v := range d.Quantiles.values() {
			row = append(row, short(float64(v)/1e6))
		}
		t.AppendRow(append(row, missed))
		last, rows = d.Path, rows+1
	}
	if rows == 0 {
		return ""
	}
	alignRight(t, 3, 8)
	return fmt.Sprintf("%s, open loop at %v messages/s, all runs together:\n%s\n", scenario, r.Settings.Rate, t.Render())
}

// missed prints how many messages of a path were sent late, of how many.
func (r Result) missed(scenario, path string) string {
	var missed uint64
	messages := 0
	for _, run := range r.Runs {
		if Series(run.Scenario) == scenario && run.Path == path && run.OpenLoop != nil {
			missed, messages = missed+run.OpenLoop.Missed, messages+run.Messages
		}
	}
	return fmt.Sprintf("%d of %d", missed, messages)
}
