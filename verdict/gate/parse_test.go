package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/msgpath/msgpath/verdict"
)

func TestParse(t *testing.T) {
	got, err := Parse("b.yaml", []byte(`# a comment
version: 1
settings: {messages: 1000, cold: false}
limits:
  - name: every
      word
    scenario: macro
    path: base*
    node: B
    site: relay.validator
    metric: copied-B/msg
    hard: {min: 1 kB, max: 1.5MB}
    soft-change: {max: -5%}
    reason: why
    owner: who
  - metric: decodes/msg
    soft: {equal: 0}
tables:
  - path: zerocopy
    metrics: [decodes/msg, copies/msg]
    sites:
      relay.validator: [1, 0]
      "*": [0, 0]
`))
	if err != nil {
		t.Fatal(err)
	}
	type limit struct{ Name, At, Site, Bounds string }
	var limits []limit
	for _, l := range got.Limits {
		var bounds []string
		for _, r := range l.Ranges {
			bounds = append(bounds, string(r.Kind)+" "+r.text(l.Metric))
		}
		if l.Settings["messages"] != "1000" || l.Settings["cold"] != "false" {
			t.Errorf("%s is for the settings %v", l.Name, l.Settings)
		}
		limits = append(limits, limit{l.Name, l.At.String(), l.Site, strings.Join(bounds, "; ")})
	}
	want := []limit{
		{"every word", "b.yaml:5:5", "relay.validator", "hard ≥ 1 kB, ≤ 1.5 MB; soft-change soft ≤ base -5 %"},
		{"all decodes/msg", "b.yaml:16:5", "", "soft soft = 0"},
		{"zerocopy all relay.validator decodes/msg", "b.yaml:22:25", "relay.validator", "hard = 1"},
		{"zerocopy all relay.validator copies/msg", "b.yaml:22:28", "relay.validator", "hard = 0"},
		{"zerocopy all other sites decodes/msg", "b.yaml:23:13", "*", "hard = 0"},
		{"zerocopy all other sites copies/msg", "b.yaml:23:16", "*", "hard = 0"},
	}
	if diff := cmp.Diff(want, limits); diff != "" {
		t.Errorf("limits differ (-want +got):\n%s", diff)
	}
	rest := got.Limits[4].Place
	if rest.covers(verdict.Place{Path: "zerocopy", Node: "all", Site: "relay.validator"}) ||
		!rest.covers(verdict.Place{Path: "zerocopy", Node: "all", Site: "archive.archive"}) ||
		rest.covers(verdict.Place{Path: "zerocopy", Node: "all"}) {
		t.Error("the row * does not mean every other site")
	}
}

// refused are budgets that cannot be read.
var refused = []struct {
	name, text string
	want       []string // errors, in order, each behind "gate: parse budget: b.yaml:"
}{
	{"nothing", "", []string{"1:1: no documents in stream"}},
	{"two documents", "version: 1\n---\nversion: 1\n", []string{"1:1: expected single document, found multiple"}},
	{"no YAML", "limits: [1\nversion: 1", []string{"2:8: did not find expected ',' or ']'"}},
	{"a list", "- 1", []string{"1:1: budget is a list of 1, want a mapping"}},
	{"no limit", "version: 1", []string{"1:1: has no limit"}},
	{"empty", "version: 1\nlimits: []", []string{"2:9: limits is empty"}},
	{"no version", "limits: [{metric: B/msg, hard: {max: 1}}]", []string{"1:1: version is missing, want 1"}},
	{"version", "version: 2\nlimits: [{metric: B/msg, hard: {max: 1}}]", []string{`1:10: version is "2", this program reads 1`}},
	{
		"unknown keys", "version: 1\nlimit: 3\nlimits:\n  - metrc: B/msg\n    hard: {maks: 1}",
		[]string{
			`2:1: budget has the unknown key "limit": did you mean "limits"?; known are version, settings, limits, tables`,
			`4:5: limit has the unknown key "metrc": did you mean "metric"?; known are name, scenario, path, node, reason, owner, site, metric, hard, soft, change, soft-change`,
			`4:5: limit has no metric`,
			`5:12: hard has the unknown key "maks": did you mean "max"?; known are equal, min, max`,
		},
	},
	{
		"repeated key", "version: 1\nlimits:\n  - metric: B/msg\n    metric: B/msg\n    hard: {max: 1}",
		[]string{`4:5: key "metric" is there twice`},
	},
	{
		"unbounded", "version: 1\nlimits:\n  - metric: B/msg\n  - metric: B/msg\n    soft: {}",
		[]string{
			"3:5: limit bounds nothing: it has none of hard, soft, change, soft-change",
			"5:11: soft bounds nothing: it has none of equal, min, max",
		},
	},
	{
		"wrong types", "version: 1\nlimits:\n  - metric: 3\n    node: [a]\n    owner: true\n    path:\n    hard: 5\n    soft: {max: [1]}",
		[]string{
			"3:13: metric is the number 3, want a text", "4:11: node is a list of 1, want a text",
			"5:12: owner is the truth value true, want a text", "6:10: path is nothing, want a text",
			"7:11: hard is the number 5, want a mapping", "8:17: a bound is a list of 1, want a number",
		},
	},
	{
		"patterns", "version: 1\nlimits:\n  - {metric: '[B/msg', site: 'a[', hard: {max: 1}}",
		[]string{
			`3:14: metric "[B/msg" is no pattern: syntax error in pattern`,
			`3:30: site "a[" is no pattern: syntax error in pattern`,
		},
	},
	{
		"numbers", "version: 1\nlimits:\n" +
			"  - {metric: B/msg, hard: {max: many}}\n  - {metric: B/msg, hard: {max: .inf}}\n" +
			"  - {metric: B/msg, hard: {max: 1e999}}\n  - {metric: B/msg, hard: {max: 1 KiB}}\n" +
			"  - {metric: decodes/msg, hard: {max: 1 kB}}\n  - {metric: ns/msg, hard: {max: 2%}}\n" +
			"  - {metric: B/msg, hard: {max: 1e308 GB}}\n" +
			"  - {metric: B/msg, hard: {min: 2, max: 1}}\n  - {metric: B/msg, hard: {equal: 2, max: 3}}\n" +
			"  - {metric: B/msg, change: {min: 1, max: 3%}}\n",
		[]string{
			`3:33: "many" is no number`, `4:33: ".inf" is no number`, `5:33: "1e999" is out of range`,
			`6:33: "1 KiB" has the unknown unit "KiB": known are B, kB, MB, GB, ns, µs, ms, s and %`,
			`7:39: "1 kB" has a unit that does not suit decodes/msg`,
			`8:34: 2%: percent are of a base: they can stand under change and soft-change`,
			`9:33: "1e308 GB" is out of range`,
			`10:33: hard has a min of 2 above its max of 1`, `11:35: hard has equal beside min or max`,
			`12:35: change has min and max of which one is in percent`,
		},
	},
	{
		"alias", "version: 1\nlimits:\n  - &l {metric: B/msg, hard: {max: 1}}\n  - *l",
		[]string{"4:5: limit is the alias *l, want a mapping"},
	},
	{
		"tables", "version: 1\ntables:\n  - metrics: [decodes/msg]\n" +
			"  - metrics: [decodes/msg, hashes/msg]\n    sites: {a.b: [1], a.*: [1, 2], a.b: [1, 1], a.c: [x, 1]}\n" +
			"  - sites: {}\n    metrics: []\n",
		[]string{
			"3:5: table has no sites",
			"5:18: site a.b has a list of 1, want a list of 2 numbers, one for each of metrics",
			`5:23: site "a.*": in a table only "*" is a pattern`,
			`5:36: site "a.b" is there twice`, `5:55: "x" is no number`,
			"6:12: sites is a mapping, want a mapping of sites to lists, with at least one", "7:14: metrics is empty",
		},
	},
	{
		"ends of lines", "version: 1\r\n# \u00e9\u2028\u2029 \u0085\nlimits: [{metric: B/msg, owner: a\rb, hard: {max: 1}}]\r",
		[]string{
			"2:4: the character U+2028 ends a line for some readers and not for others",
			"2:5: the character U+2029 ends a line for some readers and not for others",
			"2:7: the character U+0085 ends a line for some readers and not for others",
			"3:34: the character U+000D ends a line for some readers and not for others",
			"3:54: the character U+000D ends a line for some readers and not for others",
		},
	},
	{
		"settings", "version: 1\nsettings: {speed: 3, cold: []}\nlimits: [{metric: B/msg, hard: {max: 1}}]",
		[]string{
			`2:12: settings has the unknown key "speed": did you mean "seed"?; known are cpu, goos, go, goarch, gomaxprocs, tags, counting, gogc, gomemlimit, profile, seed, messages, hash, window, archive, cold`,
			"2:28: cold is a list of 0, want a text or a number",
		},
	},
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			budget, err := Parse("b.yaml", []byte(tt.text))
			if err == nil {
				t.Fatalf("no error, but %d limits", len(budget.Limits))
			}
			var want []string
			for _, w := range tt.want {
				want = append(want, "gate: parse budget: b.yaml:"+w)
			}
			if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("errors differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckMetrics(t *testing.T) {
	budget := parsed(t, `  - {metric: decods/msg, hard: {max: 1}}
  - {metric: "*-B/msg", hard: {max: 1}}
  - {metric: reads/op, hard: {max: 1}}
  - {metric: "wri*", hard: {max: 1}}
`)
	run := record(figures(t, "macro baseline all", "decodes/msg", 1))
	theirs := run.Figures[0]
	theirs.Metric.Name = "reads/op"
	run.Figures = append(run.Figures, theirs)
	want := `gate: check metrics: budget.yaml:3:5: no metric is called "decods/msg": did you mean "decodes/msg"?
gate: check metrics: budget.yaml:6:5: no metric is called "wri*"`
	if err := budget.CheckMetrics(run); err == nil || err.Error() != want {
		t.Errorf("CheckMetrics: %v, want %s", err, want)
	}
	if err := budget.CheckMetrics(verdict.Record{}); err != nil {
		t.Errorf("CheckMetrics of a run without figures: %v", err)
	}
}

// FuzzParse: any text is either refused with a position, or a budget that judges
// and that ratchets into a budget.
func FuzzParse(f *testing.F) {
	f.Add("version: 1\nlimits:\n  - {metric: decodes/msg, hard: {max: 5}, change: {max: 2%}}\n")
	f.Add("version: 1\nlimits:\n  - {metric: '*', site: '*', soft: {equal: '3'}}\n")
	f.Add("version: 1\ntables:\n  - metrics: [hashes/msg]\n    sites: {a.b: [9], '*': [0]}\n")
	f.Add("version: 1\nlimits: [{metric: B/msg, hard: {max: \"\\x35\"}}]")
	f.Fuzz(func(t *testing.T, text string) {
		budget, err := Parse("b.yaml", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "gate: parse budget: b.yaml:") {
				t.Errorf("error without a position: %v", err)
			}
			return
		}
		run := record(
			figures(t, "macro baseline all", "decodes/msg", 3, 3), figures(t, "macro baseline A", "decodes/msg", 3, 3),
			figures(t, "macro baseline A a.b", "decodes/msg", 3, 3), figures(t, "macro baseline all", "B/msg", 10, 11),
		)
		report := Judge(budget, run, &run)
		if len(report.Lines) == 0 {
			t.Error("a budget with limits gives no line")
		}
		tightened, err := Ratchet("b.yaml", []byte(text), run, Options{All: true})
		if err != nil {
			return // a number in a form that cannot be replaced
		}
		if _, err := Parse("b.yaml", tightened.Text); err != nil {
			t.Errorf("the tightened budget is none: %v", err)
		}
	})
}
