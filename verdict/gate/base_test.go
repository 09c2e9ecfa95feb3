package gate

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

// Counts are compared end with end: a run holds against itself.
func TestJudgeChangeOfCountsThatVary(t *testing.T) {
	sample := sampler(t)
	const greatest, least = "samples vary: the greatest of both are compared", "samples vary: the least of both are compared"
	for _, tt := range []change{
		{"as the base does", "change: {equal: 0}", sample("decodes/msg", 5, 9, 5), sample("decodes/msg", 9, 5, 5), verdict.Pass, ""},
		{"less than the base", "change: {equal: 0}", sample("decodes/msg", 6, 6), sample("decodes/msg", 5, 6), verdict.Fail, least},
		{"beyond all of the base", "change: {max: 0}", sample("decodes/msg", 5, 10, 5), sample("decodes/msg", 5, 9), verdict.Fail, greatest},
		{"the least rose", "change: {max: 0}", sample("decodes/msg", 6, 9), sample("decodes/msg", 5, 9), verdict.Fail, least},
		{"the greatest fell", "change: {min: 0}", sample("decodes/msg", 5, 8), sample("decodes/msg", 5, 9), verdict.Fail, greatest},
		{"one sample printed", "change: {equal: 0}", sample("decodes/msg", 1.0004), printed(sample("decodes/msg", 1)), verdict.Pass, ""},
		{"both printed", "change: {equal: 0}", printed(sample("decodes/msg", 1.001)), printed(sample("decodes/msg", 1)), verdict.Pass, ""},
		{"both printed, more", "change: {equal: 0}", printed(sample("decodes/msg", 1.002)), printed(sample("decodes/msg", 1)), verdict.Fail, ""},
	} {
		t.Run(tt.name, tt.judge)
	}
}

// printed returns a record whose figures were printed with three decimals.
func printed(r verdict.Record) verdict.Record {
	for i := range r.Figures {
		r.Figures[i].Rounding = 0.0005
	}
	return r
}

// Of any samples: a run holds every change of 0 from itself, and one event more
// in each of its samples does not.
func TestJudgeChangeFromItself(t *testing.T) {
	budget := parsed(t, "  - {metric: decodes/msg, change: {max: 0, min: 0}}\n  - {metric: decodes/msg, change: {max: 0%}}")
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.Map(rapid.IntRange(0, 30), func(i int) float64 { return float64(i) / 3 })
		values := rapid.SliceOfN(value, 1, 6).Draw(rt, "values")
		run := record(figures(t, "macro baseline all", "decodes/msg", values...))
		if got := verdicts(Judge(budget, run, &run)); got != "PASS PASS" {
			rt.Fatalf("from itself: %s", got)
		}
		more := slices.Clone(values)
		for i := range more {
			more[i] += 0.001
		}
		above := record(figures(t, "macro baseline all", "decodes/msg", more...))
		if got := verdicts(Judge(budget, above, &run)); got != "FAIL FAIL" {
			rt.Fatalf("one event more in each: %s", got)
		}
	})
}

// A base without a number is no base.
func TestJudgeUnusableBase(t *testing.T) {
	sample := sampler(t)
	na := unknown(figures(t, "macro baseline all", "decodes/msg", 1))
	for _, tt := range []change{
		{
			"one sample n/a", "soft-change: {max: 0}", sample("decodes/msg", 1),
			record(na, figures(t, "macro baseline all", "decodes/msg", 1)), verdict.NotApplicable, "n/a in the base, and a number is required",
		},
		{
			"one path of two", "change: {max: 0}",
			record(figures(t, "macro baseline all", "decodes/msg", 1), figures(t, "macro zerocopy all", "decodes/msg", 9)),
			sample("decodes/msg", 1), verdict.Inconclusive, "the base lacks it",
		},
		{
			"another path", "soft-change: {max: 0}", record(figures(t, "macro zerocopy all", "decodes/msg", 9)),
			record(figures(t, "macro baseline all", "hashes/msg", 1)), Unmatched,
			`in the base, no metric here is called "decodes/msg": did you mean "hashes/msg"?`,
		},
	} {
		t.Run(tt.name, tt.judge)
	}
}

// siteRows returns the record of a sites CSV with these numbers of decodes.
func siteRows(t *testing.T, lines ...string) verdict.Record {
	t.Helper()
	text := strings.Join(verdict.SitesHeader(), ",") + "\n"
	for _, line := range lines {
		text += "macro,zerocopy," + line + ",0,0,0,0,0,0,0,0,0\n"
	}
	r, err := verdict.ReadRecord("sites.csv", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A file that lists only sites at which something happened says 0 of the others,
// if the node has any; one that declares its sites says nothing of others.
func TestJudgeEmptiedSite(t *testing.T) {
	both, one := siteRows(t, "B,relay.handler,2", "B,relay.validator,1"), siteRows(t, "B,relay.validator,1")
	declared := siteRows(t, "B,relay.validator,1")
	declared.Results = []verdict.Result{{Verified: true, Environment: verdict.Environment{Sites: []string{"relay.validator"}}}}
	tests := []struct {
		name, bounds, node string
		run, base          verdict.Record
		want               verdict.Verdict
	}{
		{"emptied", "{max: 0}", "B", one, both, verdict.Pass},
		{"emptied, of a role", "{max: 0}", "all", one, both, verdict.Pass},
		{"must not fall", "{min: 0}", "B", one, both, verdict.Fail},
		{"another node", "{max: 0}", "B", siteRows(t, "B,relay.handler,1", "A,relay.validator,1"), siteRows(t, "C,relay.handler,1", "B,relay.handler,1"), verdict.Pass},
		{"node gone", "{max: 0}", "?", siteRows(t, "A,relay.handler,1"), siteRows(t, "A,relay.handler,1", "B,relay.handler,1"), verdict.Fail},
		{"no longer declared", "{max: 0}", "B", declared, both, verdict.Fail},
		{"new", "{max: 0}", "B", both, one, verdict.Fail},
		{"not counted", "{max: 0}", "B", siteRows(t, "B,relay.validator,0"), both, verdict.NotApplicable},
	}
	for _, tt := range tests {
		budget := parsed(t, "  - {site: '*', node: '"+tt.node+"', metric: decodes/run, change: "+tt.bounds+"}")
		if got := verdicts(Judge(budget, tt.run, &tt.base)); got != string(tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A run that was not counted is n/a at sites too, beside another that was.
func TestJudgeSitesOfOneRunUncounted(t *testing.T) {
	r := result([]counters.SiteCounts{site("relay.handler", 2)}, []counters.SiteCounts{site("relay.handler", 2)})
	second := r.Runs[0]
	second.Scenario, second.Number = "macro_run2", 2
	second.Nodes = []verdict.Node{{Name: "A", Role: verdict.RolePublisher}, {Name: "B", Role: verdict.RoleReceiver}}
	r.Runs = append(r.Runs, second)
	for _, node := range []string{"A", "B", "all", "receiver"} {
		for _, site := range []string{"relay.handler", "'*'", "storesync.*"} {
			budget := parsed(t, "  - {site: "+site+", node: "+node+", metric: decodes/msg, hard: {max: 9}}")
			report := Judge(budget, verdict.NewRecord("run.json", r), nil)
			if verdicts(report) != "N/A" || report.ExitCode() != verdict.ExitInvalid {
				t.Errorf("node %s, site %s: %s, exit code %d; want N/A, %d", node, site, verdicts(report), report.ExitCode(), verdict.ExitInvalid)
			}
		}
	}
}
