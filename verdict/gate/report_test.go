package gate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

// What makes a run worthless goes before what it says, and a failed limit before
// one that examined nothing.
func TestExitCode(t *testing.T) {
	const pass, fail, warn, unmatched, na = "  - {metric: decodes/msg, hard: {max: 9}}\n",
		"  - {metric: decodes/msg, hard: {max: 1}}\n", "  - {metric: decodes/msg, soft: {max: 1}}\n",
		"  - {metric: decodes/msg, path: nowhere, hard: {max: 9}}\n", "  - {metric: hashes/msg, hard: {max: 9}}\n"
	inconclusive := "  - {metric: ns/msg, hard: {max: 9}}\n"
	valid := record(
		figures(t, "macro baseline all", "decodes/msg", 6), figures(t, "macro baseline all", "ns/msg", 5),
		unknown(figures(t, "macro baseline all", "hashes/msg", 0)),
	)
	tests := []struct {
		name         string
		limits       string
		invalid      bool
		want, strict int
	}{
		{"pass", pass, false, 0, 0},
		{"warn", pass + warn, false, 0, 1},
		{"inconclusive", pass + inconclusive, false, 0, 1},
		{"nothing but inconclusive", inconclusive + inconclusive, false, 4, 1},
		{"warn and inconclusive", warn + inconclusive, false, 0, 1},
		{"fail", pass + fail, false, 1, 1},
		{"unmatched", pass + unmatched, false, 4, 4},
		{"warn and unmatched", warn + unmatched, false, 4, 1},
		{"fail and unmatched", fail + unmatched, false, 1, 1},
		{"n/a and fail", na + fail, false, 3, 3},
		{"n/a and unmatched", na + unmatched, false, 3, 3},
		{"invalid", pass, true, 3, 3},
		{"invalid and fail", fail, true, 3, 3},
		{"invalid and unmatched", unmatched, true, 3, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := valid
			if tt.invalid {
				run.Results = []verdict.Result{{Invalid: []verdict.Invalid{{Scenario: "macro", Path: "raw", Number: 1, Reason: "lost"}}}}
			}
			report := Judge(parsed(t, tt.limits), run, nil)
			if got := report.ExitCode(); got != tt.want {
				t.Errorf("exit code %d, want %d", got, tt.want)
			}
			report.Strict = true
			if got := report.ExitCode(); got != tt.strict {
				t.Errorf("strict: exit code %d, want %d", got, tt.strict)
			}
		})
	}
	if got := Judge(Budget{}, valid, nil).ExitCode(); got != verdict.ExitUnexamined {
		t.Errorf("no limit: exit code %d, want %d", got, verdict.ExitUnexamined)
	}
}

func TestInvalidRuns(t *testing.T) {
	valid := func() verdict.Result {
		return result([]counters.SiteCounts{site("relay.handler", 2)}, []counters.SiteCounts{site("relay.handler", 2)})
	}
	budget := parsed(t, "  - {metric: decodes/msg, hard: {equal: 2}}")
	tests := []struct {
		name   string
		change func(*verdict.Result)
		want   string
	}{
		{"valid", func(*verdict.Result) {}, ""},
		{"lost a message", func(r *verdict.Result) {
			r.Verified, r.Invalid = false, []verdict.Invalid{{Scenario: "macro_run2", Path: "baseline", Number: 2, Reason: "1 of 2 messages was lost"}}
		}, "the run: macro_run2 of path baseline is invalid: 1 of 2 messages was lost"},
		{"run not verified", func(r *verdict.Result) { r.Verified, r.Runs[0].Verified = false, false }, "the run: macro of path baseline is not verified"},
		{"result not verified", func(r *verdict.Result) { r.Verified = false }, "the run is not verified"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := valid()
			tt.change(&r)
			report := Judge(budget, verdict.NewRecord("run.json", r), nil)
			if got := strings.Join(report.Invalid, "\n"); got != tt.want || (report.ExitCode() == verdict.ExitInvalid) != (tt.want != "") {
				t.Errorf("invalid %q, exit code %d; want %q", got, report.ExitCode(), tt.want)
			}
			base := verdict.NewRecord("base.json", r)
			report = Judge(budget, verdict.NewRecord("run.json", valid()), &base)
			if got, want := strings.Join(report.Invalid, "\n"), strings.ReplaceAll(tt.want, "the run", "the base"); got != want {
				t.Errorf("base: invalid %q, want %q", got, want)
			}
		})
	}
}

// everything returns a report with each verdict.
func everything(t *testing.T) Report {
	t.Helper()
	r := result(
		[]counters.SiteCounts{site("relay.handler", 2)},
		[]counters.SiteCounts{site("relay.handler", 4), site("relay.validator", 2)},
	)
	run, base := verdict.NewRecord("out/bench.json", r), verdict.NewRecord("base.json", r)
	run.Notes = []string{"out/bench.json has schema version 9, this program knows 2: what it does not know was left out"}
	run.Figures = append(run.Figures, figures(t, "macro baseline all", "cpu-ns/msg", 1_250_000)...)
	run.Figures = append(run.Figures, unknown(figures(t, "micro baseline all", "hashes/msg", 0))...)
	budget, err := Parse("bench/budgets/all.yaml", []byte(`version: 1
limits:
  - name: a relayed message is decoded at least twice on the old path
    path: baseline
    metric: decodes/msg
    hard: {min: 2, max: 4}
  - {site: relay.handler, node: B, metric: decodes/msg, hard: {equal: 1}, reason: the handler decodes once, owner: relay}
  - metric: decodes/msg
    soft: {max: 3}
    change: {max: 0%}
    reason: >
      a reason that is so long that it has to be broken, because whoever wrote it had a great deal
      to say about what was measured, when, on which machine, and with which of all the settings
  - {metric: cpu-ns/msg, hard: {max: 1.5 ms}, owner: relay}
  - {scenario: micro, metric: hashes/msg, hard: {max: 2}}
  - {path: basline, metric: copied-B/msg, hard: {max: 65 kB}}
tables:
  - name: sites of B
    node: B
    metrics: [decodes/msg, hashes/msg]
    sites:
      relay.handler: [1, 0]
      "*":           [1, 0]
`))
	if err != nil {
		t.Fatal(err)
	}
	return Judge(budget, run, &base)
}

func TestWriteText(t *testing.T) {
	report := everything(t)
	text := written(t, func(b *bytes.Buffer) error { return WriteText(b, report) })
	equal(t, "report.txt", text)
	report.Invalid = []string{"the run: macro_run2 of path baseline is invalid: 1 of 1000 messages was not delivered to B, and so on and on"}
	equal(t, "invalid.txt", written(t, func(b *bytes.Buffer) error { return WriteText(b, report) }))
	for line := range strings.SplitSeq(string(text), "\n") {
		if n := utf8.RuneCountInString(line); n > width {
			t.Errorf("%d columns, want at most %d: %s", n, width, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("space at the end of %q", line)
		}
	}
}

func TestWriteJSON(t *testing.T) {
	report := everything(t)
	text := written(t, func(b *bytes.Buffer) error { return WriteJSON(b, report) })
	equal(t, "report.json", text)
	var back Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if verdicts(back) != verdicts(report) {
		t.Errorf("read back: %s, want %s", verdicts(back), verdicts(report))
	}
	empty := written(t, func(b *bytes.Buffer) error { return WriteJSON(b, Report{}) })
	if strings.Contains(string(empty), "null") {
		t.Errorf("an empty report has a null: %s", empty)
	}
}
