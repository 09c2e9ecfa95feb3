package gate

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/verdict"
)

// slackBudget is looser than [measuredRun] wherever a budget can be.
const slackBudget = `# µ: text before a number is counted in characters
version: 1
limits:
  - {name: "µé", metric: decodes/msg, hard: {min: 1, max: 9}}    # both ways
  - metric: hashes/msg
    hard:
      equal: "5" # quoted
    soft: {max: 3}
  - {metric: copied-B/msg, hard: {max: 100 kB}, change: {max: 0}}
  - {metric: B/msg, hard: {max: 500 kB}}
  - {metric: ns/msg, soft: {max: 90 µs}}

tables:
  - node: B
    metrics: [decodes/msg, hashes/msg]
    sites:
      relay.handler:   [2,   0]   # aligned
      relay.validator: [1,   1]
`

func measuredRun(t *testing.T) verdict.Record {
	t.Helper()
	return record(
		figures(t, "macro baseline all", "decodes/msg", 6, 6), figures(t, "macro envelope all", "decodes/msg", 3, 3),
		figures(t, "macro baseline all", "hashes/msg", 4, 4),
		figures(t, "macro baseline all", "copied-B/msg", 65_000.5),
		figures(t, "macro baseline all", "B/msg", 142_926, 142_951),
		figures(t, "macro baseline all", "ns/msg", 50_000, 51_000, 52_000, 53_000, 54_000, 55_000),
		figures(t, "macro baseline B relay.handler", "decodes/msg", 1), figures(t, "macro baseline B relay.handler", "hashes/msg", 0),
		figures(t, "macro baseline B relay.validator", "decodes/msg", 1), figures(t, "macro baseline B relay.validator", "hashes/msg", 0),
	)
}

func TestRatchet(t *testing.T) {
	counts := []string{
		"{min: 1, max: 9}", "{min: 3, max: 6}", `"5" # quoted`, `"4" # quoted`, "{max: 100 kB}", "{max: 65.0005 kB}",
		"[2,   0]", "[1,   0]", "[1,   1]", "[1,   0]",
	}
	tests := []struct {
		name    string
		options Options
		changed []string // pairs of old and new
	}{
		{"counts", Options{}, counts},
		{"all", Options{All: true, Margin: 5}, append([]string{"{max: 500 kB}", "{max: 151 kB}", "{max: 90 µs}", "{max: 57.8 µs}"}, counts...)},
		{"all, no margin", Options{All: true}, append([]string{"{max: 500 kB}", "{max: 143 kB}", "{max: 90 µs}", "{max: 55 µs}"}, counts...)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := measuredRun(t)
			got, err := Ratchet("b.yaml", []byte(slackBudget), run, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer(tt.changed...).Replace(slackBudget)
			if diff := cmp.Diff(want, string(got.Text)); diff != "" {
				t.Errorf("text differs (-want +got):\n%s", diff)
			}
			if got.ExitCode() != verdict.ExitOK {
				t.Errorf("exit code %d: %+v", got.ExitCode(), got.Report)
			}
			again, err := Ratchet("b.yaml", got.Text, run, tt.options)
			if err != nil || len(again.Changes) > 0 || !bytes.Equal(again.Text, got.Text) {
				t.Errorf("a second time: %v, %+v", err, again.Changes)
			}
			if tt.name == "all" {
				equal(t, "ratchet.txt", written(t, func(b *bytes.Buffer) error { return WriteTightening(b, got) }))
			}
		})
	}
}

// Nothing changes where a limit stands in the way.
func TestRatchetRefuses(t *testing.T) {
	lost := measuredRun(t)
	lost.Results = []verdict.Result{{Invalid: []verdict.Invalid{{Scenario: "macro", Path: "raw", Number: 1, Reason: "lost"}}}}
	tests := []struct {
		name, limit string
		run         verdict.Record
		want        int
	}{
		{"worse than max", "metric: decodes/msg, hard: {max: 5}", measuredRun(t), verdict.ExitFailed},
		{"worse than equal", "metric: hashes/msg, hard: {equal: 3}", measuredRun(t), verdict.ExitFailed},
		{"equal of places that differ", "metric: decodes/msg, hard: {equal: 9}", measuredRun(t), verdict.ExitFailed},
		{"below min", "metric: decodes/msg, hard: {min: 4}", measuredRun(t), verdict.ExitFailed},
		{"invalid", "metric: decodes/msg, hard: {max: 9}", lost, verdict.ExitInvalid},
		{"unmatched", "path: nowhere, metric: decodes/msg, hard: {max: 9}", measuredRun(t), verdict.ExitUnexamined},
		{"n/a", "metric: decodes/msg, hard: {max: 9}", record(unknown(figures(t, "macro baseline all", "decodes/msg", 0))), verdict.ExitInvalid},
		{"only a change", "metric: decodes/msg, change: {max: 9}", measuredRun(t), verdict.ExitUnexamined},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "version: 1\nlimits:\n  - {metric: copied-B/msg, path: '*', hard: {max: 100 kB}}\n  - {" + tt.limit + "}\n"
			if tt.name == "only a change" || tt.name == "n/a" {
				text = "version: 1\nlimits: [{" + tt.limit + "}]"
			}
			got, err := Ratchet("b.yaml", []byte(text), tt.run, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got.ExitCode() != tt.want || string(got.Text) != text || len(got.Changes) > 0 {
				t.Errorf("exit code %d, want %d; changes %+v", got.ExitCode(), tt.want, got.Changes)
			}
		})
	}
}

// A bound stays where nothing tells what it should be.
func TestRatchetLeavesBounds(t *testing.T) {
	run := record(
		figures(t, "macro baseline all", "decodes/msg", 6, 6), figures(t, "macro envelope all", "decodes/msg", 3, 3),
		figures(t, "macro baseline all", "B/msg", 5), figures(t, "macro baseline all", "ns/msg", 1, 2, 3, 4, 5),
	)
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"places differ":       {"limits: [{metric: decodes/msg, soft: {equal: 9}}]", verdict.ExitOK},
		"already tighter":     {"limits: [{metric: decodes/msg, soft: {max: 2}}]", verdict.ExitOK},
		"other settings":      {"settings: {messages: 20}\nlimits: [{metric: B/msg, hard: {max: 9}}]", verdict.ExitUnexamined},
		"too few times":       {"limits: [{metric: ns/msg, hard: {max: 99, min: 0}}]", verdict.ExitUnexamined},
		"a change":            {"limits: [{metric: B/msg, hard: {max: 5}, change: {max: 9}}]", verdict.ExitOK},
		"measured to a digit": {"limits: [{metric: decodes/msg, hard: {max: 6.000000000000001}}]", verdict.ExitOK},
	} {
		text := "version: 1\n" + tt.text
		got, err := Ratchet("b.yaml", []byte(text), run, Options{All: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.ExitCode() != tt.want || len(got.Changes) > 0 || string(got.Text) != text {
			t.Errorf("%s: exit code %d, changes %+v", name, got.ExitCode(), got.Changes)
		}
	}
}

func TestRatchetErrors(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		options    Options
		want       string
	}{
		{"no budget", "version: 1", Options{}, "b.yaml:1:1: has no limit"},
		{"margin", slackBudget, Options{Margin: 100}, "margin 100 %"},
		{"not a number", slackBudget, Options{Margin: math.NaN()}, "margin NaN %"},
		{
			"escaped", "version: 1\nlimits: [{metric: hashes/msg, hard: {max: \"\\x35\"}}]",
			Options{},
			`b.yaml:2:43: cannot replace "5" where it is written in another form`,
		},
	} {
		_, err := Ratchet("b.yaml", []byte(tt.text), measuredRun(t), tt.options)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// Of any budget and any run: what was tightened passes the run it was tightened
// to, changes nothing a second time, and lets through no run that the budget
// before it stopped, but for one that counts less where equality was asked.
func TestRatchetProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, run := drawBudget(rt), drawRun(t, rt)
		options := Options{All: rapid.Bool().Draw(rt, "all"), Margin: float64(rapid.IntRange(0, 20).Draw(rt, "margin"))}
		got, err := Ratchet("b.yaml", []byte(text), run, options)
		if err != nil {
			rt.Fatal(err)
		}
		if got.ExitCode() != verdict.ExitOK {
			if len(got.Changes) > 0 || string(got.Text) != text {
				rt.Fatalf("refused, and changed: %+v", got.Changes)
			}
			return
		}
		after, err := Parse("b.yaml", got.Text)
		if err != nil {
			rt.Fatal(err)
		}
		if code := Judge(after, run, nil).ExitCode(); code != verdict.ExitOK {
			rt.Fatalf("the run does not pass what was tightened to it: exit code %d\n%s", code, got.Text)
		}
		again, err := Ratchet("b.yaml", got.Text, run, options)
		if err != nil || len(again.Changes) > 0 {
			rt.Fatalf("a second time: %v, %+v", err, again.Changes)
		}
		neverLooser(rt, text, after, drawRun(t, rt))
	})
}

// neverLooser compares both budgets by another run.
func neverLooser(rt *rapid.T, text string, after Budget, other verdict.Record) {
	before, err := Parse("b.yaml", []byte(text))
	if err != nil {
		rt.Fatal(err)
	}
	old, tightened := Judge(before, other, nil).Lines, Judge(after, other, nil).Lines
	for i, l := range old {
		equal := before.Limits[i].Ranges[0].Equal != nil
		if severity(tightened[i].Verdict) < severity(l.Verdict) && !equal {
			rt.Fatalf("%s %s was %s and is %s (%s)", l.At, l.Bound, l.Verdict, tightened[i].Verdict, tightened[i].Bound)
		}
	}
}

// drawBudget draws one range for each of some metrics.
func drawBudget(rt *rapid.T) string {
	var b strings.Builder
	b.WriteString("version: 1\nlimits:\n")
	for i := range rapid.IntRange(1, 4).Draw(rt, "limits") {
		metric := rapid.SampledFrom([]string{"decodes/msg", "copied-B/msg", "B/msg", "ns/msg", "msg/s"}).Draw(rt, "metric")
		low := rapid.IntRange(0, 30).Draw(rt, "low")
		high := low + rapid.IntRange(0, 60).Draw(rt, "high")
		bounds := rapid.SampledFrom([]string{
			fmt.Sprintf("max: %d", high), fmt.Sprintf("min: %d", low),
			fmt.Sprintf("min: %d, max: %d", low, high), fmt.Sprintf("equal: %d", high),
		}).Draw(rt, "bounds")
		kind := rapid.SampledFrom([]string{"hard", "soft"}).Draw(rt, "kind")
		fmt.Fprintf(&b, "  - {name: n%d, metric: %s, %s: {%s}}\n", i, metric, kind, bounds)
	}
	return b.String()
}

// drawRun draws samples of every metric that [drawBudget] knows at two places,
// enough for an interval in every second run.
func drawRun(t *testing.T, rt *rapid.T) verdict.Record {
	var all [][]verdict.Figure
	n := rapid.SampledFrom([]int{1, 6}).Draw(rt, "samples")
	for _, path := range []string{"baseline", "zerocopy"} {
		for _, metric := range []string{"decodes/msg", "copied-B/msg", "B/msg", "ns/msg", "msg/s"} {
			value := rapid.Map(rapid.IntRange(0, 120), func(i int) float64 { return float64(i) / 3 })
			all = append(all, figures(t, "macro "+path+" all", metric, rapid.SliceOfN(value, n, n).Draw(rt, metric)...))
		}
	}
	return record(all...)
}
