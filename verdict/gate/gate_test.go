package gate

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/internal/golden"
	"github.com/msgpath/msgpath/verdict"
)

// equal compares got with testdata/name.
func equal(t *testing.T, name string, got []byte) {
	t.Helper()
	golden.Equal(t, filepath.Join("testdata", name), got)
}

// figures returns one sample for each value of a metric at a place, which is
// "scenario path node" or "scenario path node site".
func figures(t *testing.T, place, metric string, values ...float64) (all []verdict.Figure) {
	t.Helper()
	words := append(strings.Fields(place), "")
	for i, v := range values {
		all = append(all, verdict.Figure{
			Place:  verdict.Place{Scenario: words[0], Path: words[1], Node: words[2], Site: words[3]},
			Metric: metricNamed(t, metric), Run: i + 1, Value: v, Known: true,
		})
	}
	return all
}

func metricNamed(t *testing.T, name string) verdict.Metric {
	t.Helper()
	for _, m := range verdict.Metrics() {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no metric %s", name)
	return verdict.Metric{}
}

// record returns a record of figures, on one machine.
func record(figures ...[]verdict.Figure) verdict.Record {
	r := verdict.Record{Files: []string{"run.txt"}, Conditions: []map[string]string{{
		"cpu": "AMD EPYC", "go": "go1.26.6", "gomaxprocs": "2", "profile": "1kB@100", "messages": "1000", "counting": "true",
	}}}
	for _, f := range figures {
		r.Figures = append(r.Figures, f...)
	}
	return r
}

// with returns a record under another condition.
func with(r verdict.Record, name, value string) verdict.Record {
	other := map[string]string{name: value}
	for k, v := range r.Conditions[0] {
		if k != name {
			other[k] = v
		}
	}
	r.Conditions = []map[string]string{other}
	return r
}

// unknown returns figures that are n/a.
func unknown(figures []verdict.Figure) []verdict.Figure {
	for i := range figures {
		figures[i].Value, figures[i].Known = 0, false
	}
	return figures
}

// parsed returns the budget with these items of limits, or with what follows
// them.
func parsed(t *testing.T, limits string) Budget {
	t.Helper()
	b, err := Parse("budget.yaml", []byte("version: 1\nlimits:\n"+limits))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// verdicts returns the verdicts of a report, in order.
func verdicts(r Report) string {
	var all []string
	for _, l := range r.Lines {
		all = append(all, string(l.Verdict))
	}
	return strings.Join(all, " ")
}

// written returns what a writer writes.
func written(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := write(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
