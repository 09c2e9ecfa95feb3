package gate

import (
	"strings"
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

func TestJudgeOneRange(t *testing.T) {
	decodes := func(v ...float64) []verdict.Figure { return figures(t, "macro baseline all", "decodes/msg", v...) }
	times := func(v ...float64) []verdict.Figure { return figures(t, "macro baseline all", "ns/msg", v...) }
	rounded := decodes(4.0004)
	rounded[0].Rounding = 0.0005
	tests := []struct {
		name, bounds string
		figures      []verdict.Figure
		want         verdict.Verdict
		value        float64
		outside      int
	}{
		{"equal", "hard: {equal: 4}", decodes(4, 4), verdict.Pass, 4, 0},
		{"one sample is enough", "hard: {equal: 4}", decodes(4), verdict.Pass, 4, 0},
		{"one sample differs", "hard: {equal: 4}", decodes(4, 4, 5, 4), verdict.Fail, 5, 1},
		{"the counter call is gone", "hard: {equal: 1}", decodes(0, 0), verdict.Fail, 0, 2},
		{"min holds at the bound", "hard: {min: 4}", decodes(4, 6), verdict.Pass, 4, 0},
		{"min", "hard: {min: 4}", decodes(3, 6), verdict.Fail, 3, 1},
		{"max holds at the bound", "hard: {max: 6}", decodes(4, 6), verdict.Pass, 6, 0},
		{"max", "hard: {max: 6}", decodes(6, 6.001), verdict.Fail, 6.001, 1},
		{"both, below", "hard: {min: 4, max: 6}", decodes(3, 5, 5), verdict.Fail, 3, 1},
		{"both, above", "hard: {min: 4, max: 6}", decodes(5, 7, 8), verdict.Fail, 8, 2},
		{"soft", "soft: {max: 6}", decodes(7), verdict.Warn, 7, 1},
		{"printed with three decimals", "hard: {equal: 4}", rounded, verdict.Pass, 4.0004, 0},
		{"counts differ in the third decimal", "hard: {equal: 4}", decodes(4.001), verdict.Fail, 4.001, 1},
		{"n/a", "hard: {max: 6}", unknown(decodes(0, 0)), verdict.NotApplicable, 0, 0},
		{"n/a in one sample", "hard: {max: 6}", append(decodes(1), unknown(decodes(0))...), verdict.NotApplicable, 0, 0},
		{"n/a is not soft", "soft: {max: 6}", unknown(decodes(0)), verdict.NotApplicable, 0, 0},

		{"times inside", "hard: {max: 10}", times(1, 2, 3, 4, 5, 6), verdict.Pass, 3.5, 0},
		{"times outside", "hard: {max: 10}", times(11, 12, 13, 14, 15, 16), verdict.Fail, 13.5, 6},
		{"times on both sides", "hard: {max: 5}", times(1, 2, 3, 4, 5, 6), verdict.Inconclusive, 3.5, 0},
		{"too few times", "hard: {max: 10}", times(1, 2, 3, 4, 5), verdict.Inconclusive, 3, 0},
		{"too few times, all outside", "hard: {max: 10}", times(100, 200), verdict.Inconclusive, 150, 0},
		{"one time too few, all outside", "hard: {max: 10}", times(11, 12, 13, 14, 15), verdict.Inconclusive, 13, 0},
		{"one time too few, all above min", "hard: {min: 10}", times(11, 12, 13, 14, 15), verdict.Inconclusive, 13, 0},
		{"soft times outside", "soft: {min: 20}", times(11, 12, 13, 14, 15, 16), verdict.Warn, 13.5, 6},
		{"one slow run of many", "hard: {max: 10}", times(1, 2, 3, 4, 5, 6, 7, 8, 9, 900), verdict.Pass, 5.5, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			budget := parsed(t, "  - {metric: '"+tt.figures[0].Metric.Name+"', "+tt.bounds+"}")
			report := Judge(budget, record(tt.figures), nil)
			if len(report.Lines) != 1 {
				t.Fatalf("%d lines, want 1", len(report.Lines))
			}
			l := report.Lines[0]
			if l.Verdict != tt.want || l.Outside != tt.outside || l.Samples != len(tt.figures) || l.Places != 1 {
				t.Errorf("%s, %d of %d samples outside at %d places; want %s, %d of %d at 1",
					l.Verdict, l.Outside, l.Samples, l.Places, tt.want, tt.outside, len(tt.figures))
			}
			if tt.want == verdict.NotApplicable {
				if l.Value != nil {
					t.Errorf("value %v of what is n/a", *l.Value)
				}
			} else if l.Value == nil || *l.Value != tt.value {
				t.Errorf("value %v, want %v", l.Value, tt.value)
			}
		})
	}
}

// The memory of one run outside is outside, whatever the middle is.
func TestJudgeMemoryByEverySample(t *testing.T) {
	run := record(figures(t, "micro zerocopy all", "B/msg", 1800, 1800, 70_000))
	report := Judge(parsed(t, "  - {metric: B/msg, hard: {max: 2 kB}}"), run, nil)
	if got := verdicts(report); got != "FAIL" || report.Lines[0].Outside != 1 {
		t.Errorf("%s with %d outside, want FAIL with 1", got, report.Lines[0].Outside)
	}
}

// A limit of several places shows the worst of them.
func TestJudgeShowsTheWorstPlace(t *testing.T) {
	run := record(
		figures(t, "micro zerocopy all", "copies/msg", 0, 0), figures(t, "macro zerocopy all", "copies/msg", 0, 2),
		figures(t, "macro zerocopy A", "copies/msg", 9), figures(t, "macro baseline all", "copies/msg", 9),
		figures(t, "other zerocopy all", "copies/msg", 1, 1),
	)
	l := Judge(parsed(t, "  - {path: zerocopy, metric: copies/msg, hard: {equal: 0}}"), run, nil).Lines[0]
	if got := l.Where.String(); l.Verdict != verdict.Fail || got != "macro zerocopy all" || *l.Value != 2 {
		t.Errorf("%s: %v at %s, want FAIL: 2 at macro zerocopy all", l.Verdict, *l.Value, got)
	}
	if l.Places != 3 || l.Samples != 6 || l.Outside != 3 {
		t.Errorf("%d places, %d samples, %d outside; want 3, 6, 3", l.Places, l.Samples, l.Outside)
	}
}

// result returns a verified result of one macro run with two nodes.
func result(a, b []counters.SiteCounts) verdict.Result {
	return verdict.Result{
		Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion, Verified: true,
		Environment: verdict.Environment{Counting: true, Sites: []string{"relay.handler", "relay.validator", "storesync.storesync"}},
		Settings:    verdict.Settings{Messages: 2, PayloadBytes: 2000, Profile: "1kB@100"},
		Runs: []verdict.Run{{
			Scenario: "macro", Path: "baseline", Number: 1, Messages: 2, WallNanos: 1, Published: 2, Verified: true,
			Nodes: []verdict.Node{
				{Name: "A", Role: verdict.RolePublisher, Sites: a},
				{
					Name: "B", Role: verdict.RoleReceiver, Delivered: 2, Sites: b,
					Lines: []counters.SiteLines{{Site: "relay.handler", Event: "decode", At: []string{"relay/handle.go:7"}}},
				},
			},
		}},
	}
}

func site(name string, decodes uint64) counters.SiteCounts {
	return counters.SiteCounts{Site: name, Counts: counters.Counts{Decodes: decodes}}
}

// A role is judged at a site by the sum over its nodes; a declared site at which
// nothing happened is 0, and a place that nobody declared is nothing.
func TestJudgeSites(t *testing.T) {
	run := verdict.NewRecord("run.json", result(
		[]counters.SiteCounts{site("relay.handler", 2)},
		[]counters.SiteCounts{site("relay.handler", 4), site("relay.validator", 2)},
	))
	tests := []struct {
		limit, want string
	}{
		{"site: relay.handler, node: all, metric: decodes/msg, hard: {equal: 3}", "PASS"},
		{"site: relay.handler, node: A, metric: decodes/msg, hard: {equal: 1}", "PASS"},
		{"site: relay.handler, node: publisher, metric: decodes/msg, hard: {equal: 1}", "PASS"},
		{"site: relay.handler, node: receiver, metric: decodes/msg, hard: {equal: 2}", "PASS"},
		{"site: relay.handler, node: B, metric: decodes/msg, hard: {equal: 1}", "FAIL"},
		{"site: storesync.storesync, node: B, metric: decodes/msg, hard: {equal: 0}", "PASS"},
		{"site: storesync.storesync, node: B, metric: decodes/msg, hard: {equal: 1}", "FAIL"},
		{"site: relay.*, node: '?', metric: decodes/msg, hard: {max: 2}", "PASS"},
		{"site: '*', node: '*', metric: '*', hard: {max: 3}", "PASS"},
		{"site: relay.handlr, metric: decodes/msg, hard: {equal: 0}", "UNMATCHED"},
		{"site: archive.archive, node: B, metric: decodes/msg, hard: {equal: 0}", "UNMATCHED"},
	}
	for _, tt := range tests {
		report := Judge(parsed(t, "  - {"+tt.limit+"}"), run, nil)
		if got := verdicts(report); got != tt.want {
			t.Errorf("%s: %s, want %s: %+v", tt.limit, got, tt.want, report.Lines)
		}
	}
	failed := Judge(parsed(t, "  - {site: relay.handler, node: B, metric: decodes/msg, hard: {equal: 1}}"), run, nil)
	if got := strings.Join(failed.Lines[0].FromCode, " "); got != "relay/handle.go:7" {
		t.Errorf("counted at %q, want relay/handle.go:7", got)
	}
}

// A forgotten tag, and a run at which no counter was at work, are never 0.
func TestJudgeWithoutCounts(t *testing.T) {
	untagged := result(nil, nil)
	untagged.Environment.Counting, untagged.Environment.Sites = false, nil
	oneNode := result(nil, []counters.SiteCounts{site("relay.handler", 2)})
	budget := parsed(t, `  - {metric: decodes/msg, hard: {min: 0}}
  - {metric: decodes/msg, soft: {max: 1000}}
  - {site: relay.handler, metric: decodes/msg, hard: {max: 1000}}
  - {metric: unexplained-B/msg, hard: {max: 1 GB}}
tables:
  - metrics: [decodes/msg]
    sites:
      "*": [0]
`)
	for name, r := range map[string]verdict.Result{
		"untagged":            untagged,
		"nothing counted":     result([]counters.SiteCounts{}, []counters.SiteCounts{}),
		"a node is uncounted": oneNode,
	} {
		t.Run(name, func(t *testing.T) {
			report := Judge(budget, verdict.NewRecord("run.json", r), nil)
			if got, want := verdicts(report), "N/A N/A N/A N/A N/A"; got != want || report.ExitCode() != verdict.ExitInvalid {
				t.Errorf("%s, exit code %d; want %s, %d", got, report.ExitCode(), want, verdict.ExitInvalid)
			}
		})
	}
}

func TestJudgeTables(t *testing.T) {
	sites := func(handler, validator, storesync uint64) verdict.Record {
		return verdict.NewRecord("run.json", result([]counters.SiteCounts{}, []counters.SiteCounts{
			site("relay.handler", handler), site("relay.validator", validator), site("storesync.storesync", storesync),
		}))
	}
	const rest = `
      "*": [0]
`
	tests := []struct {
		name string
		run  verdict.Record
		rows string
		want string
	}{
		{"as listed", sites(2, 4, 0), "relay.handler: [1]\n      relay.validator: [2]" + rest, "PASS"},
		{"too many", sites(4, 4, 0), "relay.handler: [1]\n      relay.validator: [2]" + rest, "FAIL PASS"},
		{"none", sites(0, 4, 0), "relay.handler: [1]\n      relay.validator: [2]" + rest, "FAIL PASS"},
		{"elsewhere", sites(2, 4, 2), "relay.handler: [1]\n      relay.validator: [2]" + rest, "PASS FAIL"},
		{"no row for it", sites(2, 4, 2), "relay.handler: [1]\n      relay.validator: [2]\n", "PASS"},
		{"renamed", sites(2, 4, 0), "relay.handlr: [1]\n      relay.validator: [2]" + rest, "UNMATCHED PASS FAIL"},
		{"a row for each", sites(2, 4, 0), "relay.handler: [1]\n      relay.validator: [2]\n      storesync.storesync: [0]" + rest, "PASS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			budget, err := Parse("b.yaml", []byte("version: 1\ntables:\n  - node: B\n    metrics: [decodes/msg]\n    sites:\n      "+tt.rows))
			if err != nil {
				t.Fatal(err)
			}
			if got := verdicts(Judge(budget, tt.run, nil)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// The row for all other sites needs a node with sites.
func TestJudgeOtherSitesOfNoSite(t *testing.T) {
	run := record(
		figures(t, "macro baseline A", "decodes/msg", 0),
		figures(t, "macro baseline B", "decodes/msg", 0), figures(t, "macro baseline B relay.handler", "decodes/msg", 0),
	)
	for node, want := range map[string]string{"A": "UNMATCHED", "B": "PASS", "C": "UNMATCHED"} {
		budget, err := Parse("b.yaml", []byte("version: 1\ntables:\n  - node: "+node+"\n    metrics: [decodes/msg]\n    sites: {'*': [0]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := verdicts(Judge(budget, run, nil)); got != want {
			t.Errorf("node %s: %s, want %s", node, got, want)
		}
	}
}

// A sum of which one part is n/a is n/a.
func TestJudgeSumOfUnknown(t *testing.T) {
	run := record(
		figures(t, "macro baseline A relay.handler", "decodes/msg", 1),
		unknown(figures(t, "macro baseline B relay.handler", "decodes/msg", 0)),
	)
	report := Judge(parsed(t, "  - {site: relay.handler, metric: decodes/msg, hard: {max: 9}}"), run, nil)
	if got := verdicts(report); got != "N/A" {
		t.Errorf("%s, want N/A", got)
	}
}

func TestJudgeOtherSettings(t *testing.T) {
	budget, err := Parse("b.yaml", []byte(`version: 1
settings: {messages: 1000}
limits:
  - {metric: B/msg, hard: {max: 10}}
  - {metric: decodes/msg, hard: {max: 10}}
`))
	if err != nil {
		t.Fatal(err)
	}
	run := record(figures(t, "macro baseline all", "B/msg", 11), figures(t, "macro baseline all", "decodes/msg", 11))
	if got := verdicts(Judge(budget, run, nil)); got != "FAIL FAIL" {
		t.Errorf("with its settings: %s, want FAIL FAIL", got)
	}
	report := Judge(budget, with(run, "messages", "20"), nil)
	if got := verdicts(report); got != "INCONCLUSIVE FAIL" {
		t.Errorf("with others: %s, want INCONCLUSIVE FAIL", got)
	}
	if got, want := report.Lines[0].Detail, "other settings: messages is 20, the limit is for 1000"; got != want {
		t.Errorf("detail %q, want %q", got, want)
	}
}

func TestUnmatchedSuggests(t *testing.T) {
	run := record(
		figures(t, "macro zerocopy all", "decodes/msg", 1), figures(t, "macro zerocopy B relay.validator", "decodes/msg", 1),
	)
	tests := []struct{ limit, want string }{
		{"scenario: marco", `no scenario here is called "marco": did you mean "macro"?`},
		{"path: zero_copy", `no path here is called "zero_copy": did you mean "zerocopy"?`},
		{"path: elsewhere", `no path here is called "elsewhere": there are zerocopy`},
		{"node: C", `no node or role here is called "C": did you mean "B"?`},
		{"node: B, site: relay.validater", `no site here is called "relay.validater": did you mean "relay.validator"?`},
		{"metric: decode/msg", `no metric here is called "decode/msg": did you mean "decodes/msg"?`},
	}
	for _, tt := range tests {
		metric := ", metric: decodes/msg"
		if strings.HasPrefix(tt.limit, "metric") {
			metric = ""
		}
		l := Judge(parsed(t, "  - {"+tt.limit+metric+", hard: {max: 1}}"), run, nil).Lines[0]
		if l.Verdict != Unmatched || l.Detail != tt.want {
			t.Errorf("%s: %s: %s, want %s", tt.limit, l.Verdict, l.Detail, tt.want)
		}
	}
}
