package diff

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/verdict"
)

// drawMetrics are of every class and direction, ours and others'.
var drawMetrics = []verdict.Metric{
	{Name: "decodes/msg", Class: verdict.Count},
	{Name: "decoded-B/msg", Class: verdict.Count},
	{Name: "hits", Class: verdict.Count, Higher: true},
	{Name: "B/msg", Class: verdict.Memory},
	{Name: "live-heap-B", Class: verdict.Memory},
	{Name: "msg/s", Class: verdict.Time, Higher: true},
	{Name: "ns/op", Class: verdict.Time},
}

// drawValue draws what is measured in life and at the ends of what can be.
func drawValue(t *rapid.T, label string) float64 {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{0, 0, 1, 2, 3, 1e-300, 1e308, math.MaxFloat64, -5}),
		rapid.Float64Range(0, 1e6),
		rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64),
	).Draw(t, label)
}

// drawRecord draws figures at few places, so that two records have many in common.
func drawRecord(t *rapid.T, label string) verdict.Record {
	r := verdict.Record{Files: []string{label}, Format: rapid.SampledFrom([]string{verdict.FormatJSON, verdict.FormatCSV}).Draw(t, label+" format")}
	for range rapid.IntRange(0, 12).Draw(t, label+" keys") {
		at := verdict.Place{
			Scenario: rapid.SampledFrom([]string{"micro", "macro"}).Draw(t, "scenario"),
			Path:     rapid.SampledFrom([]string{"", "zerocopy"}).Draw(t, "path"),
			Node:     rapid.SampledFrom([]string{verdict.RoleAll, verdict.RoleReceiver, "B"}).Draw(t, "node"),
			Site:     rapid.SampledFrom([]string{"", "", "relay.x"}).Draw(t, "site"),
		}
		m := rapid.SampledFrom(drawMetrics).Draw(t, "metric")
		for run := range rapid.IntRange(1, 8).Draw(t, "runs") {
			f := verdict.Figure{Place: at, Metric: m, Run: run + 1, Known: rapid.IntRange(0, 9).Draw(t, "known") > 0}
			if f.Known {
				f.Value = drawValue(t, "value")
			}
			if m.Class == verdict.Count {
				f.Value = math.Abs(f.Value)
			}
			r.Figures = append(r.Figures, f)
		}
	}
	if rapid.Bool().Draw(t, "says conditions") {
		r.Conditions = []map[string]string{{"cpu": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "cpu"), "profile": "p"}}
	}
	return r
}

// A record against itself has nothing that is worse, better, missing or new.
func TestItselfIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t, "record")
		c := Compare(r, r, Options{StrictTimes: true})
		known := false
		for _, row := range c.Rows {
			if row.changed() || row.Delta != nil && *row.Delta != 0 {
				t.Fatalf("%+v", row)
			}
			known = known || row.Class == "count" && row.Before.N > 0
		}
		if len(c.Causes) > 0 && known {
			t.Fatalf("causes %q", causeStrings(c))
		}
		if known && (c.ExitCode != 0 || c.Verdict != "SAME") {
			t.Fatalf("%s, exit code %d", c.Verdict, c.ExitCode)
		}
		if len(r.Figures) == 0 && c.ExitCode != 4 {
			t.Fatalf("of nothing: exit code %d, want 4", c.ExitCode)
		}
	})
}

// opposites are what an answer is the other way round. A count of which one sample
// rises while another falls is worse both ways. One that is in fewer runs, or n/a in
// more, is so one way only, and the other way is compared.
var opposites = map[Answer][]Answer{
	Same: {Same, Missing, NotAvailable}, Better: {Worse, Missing, NotAvailable}, Worse: {Better, Worse, Missing, NotAvailable, NotComparable},
	Appeared: {Gone, Missing, NotAvailable, NotComparable}, Gone: {Appeared, Missing, NotAvailable},
	Missing:       {New, Missing, NotAvailable, Same, Better, Worse, Appeared, Gone, NotComparable},
	New:           {Missing, NotAvailable},
	NotAvailable:  {NotAvailable, New, Missing, Same, Better, Worse, Appeared, Gone, NotComparable},
	NotComparable: {NotComparable, Missing, NotAvailable, Worse, Appeared},
	Insufficient:  {Insufficient}, Inconclusive: {Inconclusive, Better, Worse}, NotJudged: {NotJudged}, Skipped: {Skipped},
}

// higherOpposites are those of a count of which more is better: none of it left is
// worse, not gone.
var higherOpposites = map[Answer][]Answer{Appeared: {Worse, Missing, NotAvailable, NotComparable}, Worse: {Better, Worse, Appeared, Missing, NotAvailable, NotComparable}}

// Both ways round differences have opposite signs and answers fit.
func TestBothWaysAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRecord(t, "a"), drawRecord(t, "b")
		forth, back := Compare(a, b, Options{}), Compare(b, a, Options{})
		if len(forth.Rows) != len(back.Rows) {
			t.Fatalf("%d rows forth, %d back", len(forth.Rows), len(back.Rows))
		}
		for i, f := range forth.Rows {
			g := back.Rows[i]
			if f.Place() != g.Place() || f.Unit != g.Unit {
				t.Fatalf("%+v against %+v", f, g)
			}
			if (f.Delta == nil) != (g.Delta == nil) || f.Delta != nil && *f.Delta != -*g.Delta {
				t.Fatalf("delta %v forth, %v back: %+v", f.Delta, g.Delta, f)
			}
			want, special := higherOpposites[f.Answer]
			if !special || !f.Higher || f.Class != "count" {
				want = opposites[f.Answer]
			}
			if !slices.Contains(want, g.Answer) {
				t.Fatalf("%s forth, %s back: %+v", f.Answer, g.Answer, f)
			}
		}
	})
}

// notFinite finds a number that is none, but not in a word.
var notFinite = regexp.MustCompile(`(?i)(^|[^a-z])[-+]?(nan|inf|infinity|∞)([^a-z]|$)`)

// Whatever is compared, each format can be written and every number is one.
func TestEveryNumberIsFinite(t *testing.T) {
	for _, bad := range []string{"a,NaN,b", "+Inf %", "-inf", "∞"} {
		if !notFinite.MatchString(bad) {
			t.Fatalf("the pattern does not find %q", bad)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		c := Compare(drawRecord(t, "a"), drawRecord(t, "b"), Options{StrictTimes: rapid.Bool().Draw(t, "strict")})
		for format, write := range writers {
			var out bytes.Buffer
			if err := write(&out, c); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if found := notFinite.Find(out.Bytes()); found != nil {
				t.Fatalf("%s has %q", format, found)
			}
		}
		if c.ExitCode < 0 || c.ExitCode > 4 || c.ExitCode == 2 {
			t.Fatalf("exit code %d", c.ExitCode)
		}
	})
}

// A count that rises by any amount, of any record, is exit code 1.
func TestAnyRiseFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.IntRange(1, 4).Draw(t, "runs")
		before := record(fixture(runs))
		after := record(fixture(runs))
		var counts []int
		for i, f := range after.Figures {
			if f.Metric.Class == verdict.Count && f.Known {
				counts = append(counts, i)
			}
		}
		i := rapid.SampledFrom(counts).Draw(t, "figure")
		after.Figures[i].Value += rapid.SampledFrom([]float64{0.001, 1, 1000}).Draw(t, "rise")
		c := Compare(before, after, Options{})
		if c.ExitCode != 1 || len(c.Causes) == 0 {
			t.Fatalf("exit code %d, causes %q after %s", c.ExitCode, causeStrings(c), fmt.Sprint(after.Figures[i]))
		}
	})
}
