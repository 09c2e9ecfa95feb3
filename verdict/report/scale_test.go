package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/scale"
)

// grown returns a scale of every row, with costs of known exponents.
func grown() *scale.Result {
	r := scale.Result{
		Kind: scale.Kind, SchemaVersion: scale.SchemaVersion, MeasuredAt: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC),
		Environment: verdict.Environment{Commit: "0123456789abcdef0123", Counting: true},
		Settings:    scale.Settings{Runs: 3, Seed: 42, Hash: "blake3", Archive: "sqlite::memory:"},
		Skipped:     []scale.Skipped{{Row: "messages", X: 20000, Reason: "it takes some 12.0 GB of memory"}},
		Rows: []scale.Row{
			grownRow("messages", "messages", 180e3, 0.03, []int{1000, 3000, 10000}),
			grownRow("messages-1kB", "messages of 1 kB", 45e3, 0, []int{1000, 3000, 10000, 30000, 100000}, "raw"),
			grownRow("payload", "bytes of payload", 500, 0.62, []int{1000, 5000, 15000, 50000, 150000}, "raw"),
			grownRow("window", "messages in flight", 190e3, -0.04, []int{1, 2, 8, 32, 128}, "raw"),
			grownRow("topics", "topics", 190e3, 0.01, []int{1, 4, 16, 64}),
			grownRow("peers", "peers of the receiver", 180e3, 0.8, []int{1, 2, 4, 8, 16}),
			grownRow("gomaxprocs", "processors", 180e3, 0.1, []int{1, 2}, "raw"),
		},
	}
	r.Rows[5].Note = "gossipsub keeps at most 12 peers in a mesh"
	archive := grownRow("archive", "rows in the archive", 20e3, 0.05, []int{10000, 30000, 100000, 300000, 1000000})
	archive.Event, archive.Counts, archive.Series[0].Path = "insert", false, "sqlite:FILE"
	r.Rows = append(r.Rows, archive)
	return &r
}

// grownRow returns a row of path zerocopy and others, each a third cheaper.
func grownRow(name, unit string, factor, exponent float64, values []int, others ...string) scale.Row {
	row := scale.Row{Name: name, Unit: unit, Held: "1000 messages, window 32", Event: "message", Counts: true}
	for i, path := range append([]string{"zerocopy"}, others...) {
		s := scale.Series{Path: path}
		for k, x := range values {
			cpu := factor * math.Pow(float64(x), exponent) * math.Pow(0.66, float64(i))
			p := scale.Point{X: x}
			for number := range 3 {
				spread := 1 + 0.06*float64(number-1)*float64(1+k%2)
				run := scale.Run{Events: 1000, PerSecond: 1e9 / cpu, CPUNanos: cpu * spread, AllocBytes: 78e3, LiveBytes: 14e6, Encodes: new(1.0)}
				if path == "zerocopy" {
					run.Copies, run.Written, run.Mesh = new(1.0), new(65042.0), new(1)
				}
				p.Runs = append(p.Runs, run)
			}
			s.Points = append(s.Points, p)
		}
		row.Series = append(row.Series, s)
	}
	return row
}

func TestScalePlot(t *testing.T) {
	p, err := ScalePlot(*grown())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<svg xmlns=`, "payload", "0.62 ± 0.00", "−0.04", "How cost grows"} {
		if !strings.Contains(p.SVG, want) {
			t.Errorf("the plot has no %q", want)
		}
	}
	for _, want := range []string{"payload zerocopy 0.62 ± 0.00", "gomaxprocs raw n/a", "archive sqlite:FILE 0.05"} {
		if !strings.Contains(p.Alt, want) {
			t.Errorf("%q does not say %q", p.Alt, want)
		}
	}
	equal(t, "scale.md", []byte(p.Text))
}

// A row without a point, or with one, is a chart that says so and no panic.
func TestScalePlotOfLittle(t *testing.T) {
	r := grown()
	r.Rows = r.Rows[:2]
	r.Rows[0].Series[0].Points = nil
	r.Rows[1].Series[0].Points = r.Rows[1].Series[0].Points[:1]
	r.Rows[1].Series[1].Points = nil
	p, err := ScalePlot(*r)
	if err != nil || !strings.Contains(p.SVG, notAvailable) {
		t.Error("no n/a on the plot", err)
	}
}

// A slope is the same on paper in all charts: their scales have the same height
// in powers of ten, which holds all that is drawn.
func TestTrendsShareOneHeight(t *testing.T) {
	var s trends
	for _, row := range grown().Rows {
		s.trends = append(s.trends, newTrend(row))
	}
	high := s.powersHigh()
	for _, of := range s.trends {
		chart := newPlot()
		of.scale(chart, high)
		if got := math.Log10(chart.Y.Max / chart.Y.Min); math.Abs(got-high) > 1e-9 {
			t.Errorf("%s is %g powers of ten high, want %g", of.title, got, high)
		}
		if least, most := of.ends(); least < chart.Y.Min || most > chart.Y.Max {
			t.Errorf("%s draws %g to %g on a scale of %g to %g", of.title, least, most, chart.Y.Min, chart.Y.Max)
		}
	}
}
