package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// OpenLoop is what a run measured whose messages were sent at intended times,
// however long the receiver took. Message i of a run at rate R is intended at the
// start plus i/R. A message that could not be sent then waited, and its latency
// from the intended time shows that; that from the send does not.
type OpenLoop struct {
	Missed      uint64     `json:"missed" jsonschema:"messages that were sent more than one interval of the rate after their intended time"`
	Application Latencies  `json:"application" jsonschema:"until the receiver's application was called"`
	Commit      *Latencies `json:"commit,omitempty" jsonschema:"until the archive had committed; absent where there is no archive"`
}

// Latencies are of the same messages, from either beginning.
type Latencies struct {
	Intended Quantiles `json:"intended" jsonschema:"from the intended send time"`
	Sent     Quantiles `json:"sent" jsonschema:"from the moment in which publishing was called"`
}

// Quantiles are of one time per message, in ns.
type Quantiles struct {
	Messages int   `json:"messages" jsonschema:"messages of which there is a time"`
	P50      int64 `json:"p50" jsonschema:"median, ns"`
	P90      int64 `json:"p90" jsonschema:"90th percentile, ns"`
	P99      int64 `json:"p99" jsonschema:"99th percentile, ns"`
	P999     int64 `json:"p999" jsonschema:"99.9th percentile, ns"`
	Max      int64 `json:"max" jsonschema:"longest, ns"`
}

// Beginnings and ends of a [Distribution].
const (
	FromIntended  = "intended"
	FromSent      = "sent"
	ToApplication = "application"
	ToCommit      = "commit"
)

// Distribution is the latencies of one path in an open loop, of all messages of
// all its runs together.
type Distribution struct {
	Scenario string `json:"scenario" jsonschema:"scenario, without the number of a run"`
	Path     string `json:"path" jsonschema:"path"`
	From     string `json:"from" jsonschema:"intended: the intended send time; sent: the moment in which publishing was called"`
	To       string `json:"to" jsonschema:"application: until the receiver's application was called; commit: until the archive had committed"`
	Runs     int    `json:"runs" jsonschema:"runs"`

	Quantiles Quantiles `json:"quantiles" jsonschema:"of all runs together"`
	Points    []Point   `json:"points" jsonschema:"latency by percentile, ascending, from the least to the longest"`
}

// Point is one step of a distribution.
type Point struct {
	Percentile float64 `json:"percentile" jsonschema:"0 to 100"`
	Nanos      int64   `json:"nanos" jsonschema:"latency at this percentile, ns"`
	Count      int     `json:"count" jsonschema:"messages that took as long or less"`
}

// openSeries are the four latencies of a run in an open loop, in the order in
// which they are told.
var openSeries = []struct {
	name string // before the quantile, in names of columns; with hyphens, of metrics
	of   func(*OpenLoop) *Quantiles
}{
	{"intended", func(o *OpenLoop) *Quantiles { return &o.Application.Intended }},
	{"sent", func(o *OpenLoop) *Quantiles { return &o.Application.Sent }},
	{"intended_commit", func(o *OpenLoop) *Quantiles {
		if o.Commit == nil {
			return nil
		}
		return &o.Commit.Intended
	}},
	{"sent_commit", func(o *OpenLoop) *Quantiles {
		if o.Commit == nil {
			return nil
		}
		return &o.Commit.Sent
	}},
}

// quantileNames are those of [Quantiles], in order.
var quantileNames = []string{"p50", "p90", "p99", "p999", "max"}

func (q Quantiles) values() [5]int64 { return [5]int64{q.P50, q.P90, q.P99, q.P999, q.Max} }

// RowLatencies are the quantiles of the four latencies of [OpenLoop] in ns, by
// beginning and end as in the columns of the CSV: intended, sent, intended to the
// commit, sent to the commit; each p50, p90, p99, p99.9 and the longest.
type RowLatencies [4][5]*float64

func (row *Row) setOpenLoop(r Result, o *OpenLoop) {
	row.Rate, row.Missed = known(r.Settings.Rate), known(float64(o.Missed))
	for i, series := range openSeries {
		if q := series.of(o); q != nil {
			for j, v := range q.values() {
				row.Latencies[i][j] = known(float64(v))
			}
		}
	}
}

// openColumns follow the other columns of a result that was measured in an open
// loop.
var openColumns = newOpenColumns()

func newOpenColumns() []column {
	all := []column{
		{name: "rate_per_s", field: func(r *Row) any { return &r.Rate }, decimals: 3},
		{name: "missed", field: func(r *Row) any { return &r.Missed }},
	}
	for i, series := range openSeries {
		for j, quantile := range quantileNames {
			all = append(all, column{name: series.name + "_" + quantile + "_ns", field: func(r *Row) any { return &r.Latencies[i][j] }})
		}
	}
	return all
}

// OpenHeader returns the names of the columns that follow those of [Header] where
// the result is of an open loop.
func OpenHeader() []string { return header(openColumns) }

// columnsFor returns the columns of r's CSV.
func columnsFor(r Result) []column {
	if r.Settings.Rate > 0 {
		return slices.Concat(columns, openColumns)
	}
	return columns
}

// openMetrics are the metrics that only runs in an open loop have.
func openMetrics() []metric {
	all := []metric{whole("missed", func(l benchLine) *float64 { return l.row.Missed })}
	for i, series := range openSeries {
		for j, quantile := range quantileNames {
			all = append(all, whole(openMetric(series.name, quantile), func(l benchLine) *float64 { return l.row.Latencies[i][j] }))
		}
	}
	for i := range all {
		all[i].open = true
	}
	return all
}

// openMetric returns the unit of a quantile, as "intended-commit-p99-ns".
func openMetric(series, quantile string) string {
	return strings.ReplaceAll(series, "_", "-") + "-" + quantile + "-ns"
}

func openFigureColumns() []figureColumn {
	all := []figureColumn{{"missed", "missed", 1, false}}
	for _, series := range openSeries {
		for _, quantile := range quantileNames {
			all = append(all, figureColumn{series.name + "_" + quantile + "_ns", openMetric(series.name, quantile), 1, false})
		}
	}
	return all
}

// load says in what loop r was measured, as a condition of its times.
func (s Settings) load() string {
	if s.Rate > 0 {
		return openLoad(s.Rate)
	}
	return fmt.Sprint(s.Window)
}

func openLoad(rate float64) string { return fmt.Sprintf("open loop at %v msg/s", rate) }

func (p *problems) openLoop(where string, run Run, rate float64) {
	p.check((run.OpenLoop != nil) == (rate > 0), "%s: has an open loop: %v, the settings a rate of %v", where, run.OpenLoop != nil, rate)
	if run.OpenLoop == nil {
		return
	}
	p.check(run.OpenLoop.Missed <= uint64(max(0, run.Messages)), "%s: %d of %d messages missed their time", where, run.OpenLoop.Missed, run.Messages)
	for _, series := range openSeries {
		if q := series.of(run.OpenLoop); q != nil {
			p.quantiles(where+": latency "+series.name, *q)
			p.check(q.Messages == run.Messages, "%s: latency %s: is of %d messages, the run has %d", where, series.name, q.Messages, run.Messages)
		}
	}
}

func (p *problems) quantiles(where string, q Quantiles) {
	v := q.values()
	p.check(slices.IsSorted(v[:]) && v[0] >= 0, "%s: %v is not ascending from 0", where, v)
}

func (p *problems) distribution(where string, d Distribution) {
	p.check(d.From == FromIntended || d.From == FromSent, "%s: from %q", where, d.From)
	p.check(d.To == ToApplication || d.To == ToCommit, "%s: to %q", where, d.To)
	p.check(d.Runs >= 1, "%s: is of %d runs", where, d.Runs)
	p.check(len(d.Points) > 0, "%s: has no points", where)
	p.quantiles(where, d.Quantiles)
	last := Point{}
	for i, point := range d.Points {
		ascending := point.Percentile >= last.Percentile && point.Nanos >= last.Nanos && point.Count >= last.Count
		p.check(ascending && point.Percentile <= 100 && point.Count > 0, "%s: points[%d] is %v after %v", where, i, point, last)
		last = point
	}
	p.check(last.Count == d.Quantiles.Messages, "%s: its points are of %d messages, its quantiles of %d", where, last.Count, d.Quantiles.Messages)
}

// distributions checks those of r.
func (p *problems) distributions(r Result) {
	seen := make(map[string]bool)
	p.check(len(r.Distributions) == 0 || r.Settings.Rate > 0, "there are distributions and no rate")
	for i, d := range r.Distributions {
		where := fmt.Sprintf("distributions[%d] (%s, path %s, %s to %s)", i, d.Scenario, d.Path, d.From, d.To)
		key := strings.Join([]string{d.Scenario, d.Path, d.From, d.To}, "\x00")
		p.check(!seen[key], "%s: is there twice", where)
		seen[key] = true
		p.distribution(where, d)
	}
}
