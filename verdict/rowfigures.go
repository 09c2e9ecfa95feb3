package verdict

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/msgpath/msgpath/counters"
)

// figureColumn is a column of the CSV that holds a figure of a metric.
type figureColumn struct {
	column, metric string
	scale          float64 // from the column's unit to the metric's
	perRun         bool    // the column has the sum over the messages of a run, the metric the mean
}

var figureColumns = slices.Concat([]figureColumn{
	{"wall_ms", "ns/msg", 1e6, true},
	{"msg_per_s", "msg/s", 1, false},
	{"ns_per_msg_p50", "p50-ns/msg", 1, false},
	{"ns_per_msg_p99", "p99-ns/msg", 1, false},
	{"latency_p50_ns", "latency-p50-ns", 1, false},
	{"latency_p99_ns", "latency-p99-ns", 1, false},
	{"cpu_ns_per_msg", "cpu-ns/msg", 1, false},
	{"alloc_MB", "B/msg", megabyte, true},
	{"allocs_per_msg", "allocs/msg", 1, false},
	{"peak_heap_MB", "peak-heap-B", megabyte, false},
	{"occupied_mem_delta_MB", "live-heap-B", megabyte, false},
	{"decodes_per_msg", "decodes/msg", 1, false},
	{"hashes_per_msg", "hashes/msg", 1, false},
	{"id_hashes_per_msg", "id-hashes/msg", 1, false},
	{"encodes_per_msg", "encodes/msg", 1, false},
	{"decoded_MB", "decoded-B/msg", megabyte, true},
	{"hashed_MB", "hashed-B/msg", megabyte, true},
	{"id_hashed_MB", "id-hashed-B/msg", megabyte, true},
	{"copied_MB", "copied-B/msg", megabyte, true},
}, openFigureColumns())

// readRows reads the CSV of [WriteCSV] or [WriteSeedCSV].
func readRows(format string, data []byte) (Record, error) {
	rows, err := ReadCSV(bytes.NewReader(data))
	if err != nil {
		return Record{}, err
	}
	texts, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return Record{}, fmt.Errorf("verdict: read CSV: %w", err)
	}
	record := Record{Format: format, Rows: rows}
	cols, err := columnsOf(texts[0])
	if err != nil {
		return Record{}, fmt.Errorf("verdict: read CSV header: %w", err)
	}
	seen := make(map[string]bool)
	for i := range rows {
		row := &rows[i]
		if format == FormatSeedCSV {
			row.Role, row.Run = RoleAll, runNumber(row.Scenario)
		}
		key := strings.Join([]string{row.Scenario, row.Path, row.Role}, "\x00")
		if seen[key] {
			return Record{}, fmt.Errorf("verdict: read CSV: row %d: %s, path %q, role %s is there twice", i+1, row.Scenario, row.Path, row.Role)
		}
		seen[key] = true
		if err := row.outcome(); err != nil {
			return Record{}, fmt.Errorf("verdict: read CSV: row %d: %w", i+1, err)
		}
		figures, err := rowFigures(cols, row, texts[i+1])
		if err != nil {
			return Record{}, fmt.Errorf("verdict: read CSV: row %d: %w", i+1, err)
		}
		record.Figures = append(record.Figures, figures...)
		record.addConditions(row.conditions())
	}
	silence(record.Figures)
	return record, nil
}

// conditions returns what the times of a row depend on, as far as it tells.
func (row *Row) conditions() map[string]string {
	c := map[string]string{"profile": row.Profile, "messages": strconv.Itoa(row.Messages)}
	if row.Rate != nil {
		c["window"] = openLoad(*row.Rate)
	}
	return c
}

// rowFigures returns the figures of a row that cols have and text tells. As in
// [Figures], times and memory of one role are left out rather than n/a.
func rowFigures(cols []column, row *Row, text []string) (all []Figure, err error) {
	place := Place{Series(row.Scenario), row.Path, row.Role, ""}
	for _, fc := range figureColumns {
		i := slices.IndexFunc(cols, func(c column) bool { return c.name == fc.column })
		if i < 0 {
			continue
		}
		c := cols[i]
		f := Figure{Place: place, Run: runNumber(row.Scenario)}
		f.Metric, _ = metricNamed(fc.metric)
		if v := *c.field(row).(**float64); v != nil {
			f.Known = true
			f.Value, f.Rounding = fc.measured(c, *v, text[i], row.Messages)
		}
		if !finite(f.Value) {
			return nil, fmt.Errorf("column %s: %v is too large", fc.column, *(*c.field(row).(**float64)))
		}
		if f.Metric.Class == Count || row.Role == RoleAll {
			all = append(all, f)
		}
	}
	return all, nil
}

// measured returns the figure that a column tells, and how far it may lie beside
// what was measured. A number of events that its decimals leave no doubt of is
// exact. Decimals that were taken away, as a spreadsheet does with zeros at the
// end, do not make a figure less exact.
func (fc figureColumn) measured(c column, v float64, text string, messages int) (value, rounding float64) {
	_, fraction, _ := strings.Cut(text, ".")
	rounding = 0.5 * math.Pow10(-max(c.decimals, len(fraction)))
	if c.events && rounding*float64(messages) <= 0.5 {
		return math.Round(v*float64(messages)) / float64(messages), 0
	}
	scale := fc.scale
	if fc.perRun {
		scale /= float64(messages)
	}
	return v * scale, rounding * scale
}

// runNumber returns the number of a run, from its name.
func runNumber(runName string) int {
	suffix := strings.TrimPrefix(runSuffix.FindString(runName), "_run")
	if n, err := strconv.Atoi(suffix); err == nil {
		return n
	}
	return 1
}

// silence makes counts n/a that are 0 at every place of a run.
func silence(figures []Figure) {
	type run struct {
		scenario, path string
		number         int
	}
	counted := make(map[run]bool)
	for _, f := range figures {
		if f.Metric.Class == Count && f.Known && f.Value != 0 {
			counted[run{f.Scenario, f.Path, f.Run}] = true
		}
	}
	for i, f := range figures {
		if f.Metric.Class == Count && !counted[run{f.Scenario, f.Path, f.Run}] {
			figures[i].Value, figures[i].Known, figures[i].Rounding = 0, false, 0
		}
	}
}

// totalMetrics are the metrics of the sites CSV: totals of a run, in the order
// of countColumns.
func totalMetrics() []Metric {
	names := []string{
		"decodes", "decoded-B", "hashes", "hashed-B", "id-hashes", "id-hashed-B", "encodes", "encoded-B", "copies", "copied-B",
	}
	all := make([]Metric, len(names))
	for i, name := range names {
		all[i] = Metric{Name: name + perRun, Class: Count}
	}
	return all
}

// Endings of the names of metrics that are counts.
const (
	perRun     = "/run"
	perMessage = "/msg"
)

// nodeRun is one node in one run.
type nodeRun struct{ scenario, path, node string }

// readSiteRows reads the CSV of [WriteSites]. A site that a node lacks and
// another has is 0: only sites where something happened have a line.
func readSiteRows(data []byte) (Record, error) {
	rows, err := ReadSites(bytes.NewReader(data))
	if err != nil {
		return Record{}, err
	}
	var nodes []nodeRun
	var sites []string
	counts := make(map[nodeRun]map[string]counters.Counts) // nil for a node that was not counted
	for i, row := range rows {
		at := nodeRun{row.Scenario, row.Path, row.Node}
		bySite, seen := counts[at]
		if !seen {
			nodes = append(nodes, at)
			if row.Counts != nil {
				bySite = make(map[string]counters.Counts)
			}
			counts[at] = bySite
		}
		_, twice := bySite[row.Site]
		if twice || seen && (bySite == nil || row.Counts == nil) {
			return Record{}, fmt.Errorf("verdict: read sites: row %d: %s, path %s, node %s, site %s contradicts an earlier row",
				i+1, row.Scenario, row.Path, row.Node, row.Site)
		}
		if row.Counts != nil {
			bySite[row.Site], sites = *row.Counts, append(sites, row.Site)
		}
	}
	slices.Sort(sites)
	sites = slices.Compact(sites)
	record := Record{Format: FormatSites}
	for _, at := range nodes {
		record.Figures = append(record.Figures, at.figures(counts[at], sites)...)
	}
	silence(record.Figures)
	return record, nil
}

// figures returns the totals of a node and of each of its sites.
func (at nodeRun) figures(bySite map[string]counters.Counts, sites []string) []Figure {
	place, run := Place{Series(at.scenario), at.path, at.node, ""}, runNumber(at.scenario)
	if bySite == nil {
		return uncountedFigures(place, run, sites)
	}
	var sum counters.Counts
	for _, c := range bySite {
		sum = sum.Add(c)
	}
	all := totalsAt(place, run, &sum)
	for _, site := range sites {
		c := bySite[site]
		place.Site = site
		all = append(all, totalsAt(place, run, &c)...)
	}
	return all
}

// uncountedFigures returns the figures of a node that was not counted: n/a at
// every site, so that no run is left out where others have a number.
func uncountedFigures(place Place, run int, sites []string) (all []Figure) {
	for _, place.Site = range append([]string{""}, sites...) {
		all = append(all, totalsAt(place, run, nil)...)
	}
	return all
}

func totalsAt(place Place, run int, counts *counters.Counts) (all []Figure) {
	for i, m := range totalMetrics() {
		f := Figure{Place: place, Metric: m, Run: run}
		if counts != nil {
			f.Known, f.Value = true, float64(*countColumns[i].field(counts))
		}
		all = append(all, f)
	}
	return all
}
