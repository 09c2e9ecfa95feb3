package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

// countChanges are changes of a good result, with the exit code and the causes that
// they come to.
var countChanges = map[string]struct {
	change func(verdict.Result) verdict.Result
	code   int
	causes []string
}{
	"nothing": {func(r verdict.Result) verdict.Result { return r }, 0, nil},
	"one more hash": {
		func(r verdict.Result) verdict.Result { return edit(r, verdict.Macro, extraHash) }, 1,
		[]string{"WORSE: macro zerocopy B archive.archive +1.000 hash/msg, +65.00 MB/1000 msg, archive/commit.go:88"},
	},
	"one hash less": {
		func(r verdict.Result) verdict.Result {
			return edit(r, verdict.Macro, func(run *verdict.Run) { run.Nodes[1].Sites[0] = event("relay.envelope", "hash", 0) })
		}, 0,
		[]string{"BETTER: macro zerocopy B relay.envelope -1.000 hash/msg (nothing is counted there any more), -65.00 MB/1000 msg, relay/dispatch.go:25"},
	},
	"another decode at the same site, from another line": {
		func(r verdict.Result) verdict.Result {
			return edit(r, verdict.Micro, func(run *verdict.Run) {
				run.Nodes[0].Sites[1] = event("relay.validator", "decode", 2)
				run.Nodes[0].Lines[1].At = []string{"relay/retry.go:9", "relay/validate.go:67"}
			})
		}, 1,
		[]string{"WORSE: micro zerocopy node relay.validator +1.000 decode/msg, +65.00 MB/1000 msg, relay/retry.go:9"},
	},
	"larger messages at one site": {
		func(r verdict.Result) verdict.Result {
			return edit(r, verdict.Micro, func(run *verdict.Run) { run.Nodes[0].Sites[0].HashedBytes += 100 })
		}, 1,
		[]string{"WORSE: micro zerocopy node relay.envelope +0.0001 MB/1000 msg, relay/dispatch.go:25"},
	},
	"work that moved to a site that is declared": {
		func(r verdict.Result) verdict.Result {
			return edit(r, verdict.Micro, func(run *verdict.Run) { run.Nodes[0].Sites[1] = event("relay.handler", "decode", 1) })
		}, 1,
		[]string{
			"WORSE: micro zerocopy node relay.handler +1.000 decode/msg, +65.00 MB/1000 msg",
			"BETTER: micro zerocopy node relay.validator -1.000 decode/msg (nothing is counted there any more), -65.00 MB/1000 msg, relay/validate.go:67",
		},
	},
	"work that moved to a new site": {
		func(r verdict.Result) verdict.Result {
			r.Environment.Sites = append(r.Environment.Sites, "relay.retry")
			return edit(r, verdict.Micro, func(run *verdict.Run) {
				run.Nodes[0].Sites[1] = event("relay.retry", "decode", 1)
			})
		}, 0,
		[]string{
			"NEW: micro zerocopy node relay.retry +1.000 decode/msg (new site), +65.00 MB/1000 msg",
			"BETTER: micro zerocopy node relay.validator -1.000 decode/msg (nothing is counted there any more), -65.00 MB/1000 msg, relay/validate.go:67",
		},
	},
	"more work at a new site": {
		func(r verdict.Result) verdict.Result {
			r.Environment.Sites = append(r.Environment.Sites, "relay.retry")
			return edit(r, verdict.Micro, func(run *verdict.Run) {
				run.Nodes[0].Sites = append(run.Nodes[0].Sites, event("relay.retry", "copy", 2))
			})
		}, 1,
		[]string{"WORSE: micro zerocopy node relay.retry +2.000 copy/msg (new site), +130.00 MB/1000 msg"},
	},
	"a declared site that never counted vanished": {
		func(r verdict.Result) verdict.Result {
			r.Environment.Sites = slices.DeleteFunc(slices.Clone(r.Environment.Sites), func(s string) bool { return s == "relay.handler" })
			return r
		}, 1,
		[]string{"MISSING: relay.handler (site is no longer declared)"},
	},
	"a path vanished": {
		func(r verdict.Result) verdict.Result {
			return edit(r, verdict.Macro, func(run *verdict.Run) { run.Path = "other" })
		}, 1,
		[]string{"MISSING: macro zerocopy (path is not in AFTER)", "NEW: macro other (path is not in BEFORE)"},
	},
	"a scenario vanished": {
		func(r verdict.Result) verdict.Result {
			r.Runs = slices.DeleteFunc(r.Runs, func(run verdict.Run) bool { return verdict.Series(run.Scenario) == verdict.Macro })
			return r
		}, 1,
		[]string{"MISSING: macro (scenario is not in AFTER)"},
	},
	"a node vanished": {
		func(r verdict.Result) verdict.Result {
			return edit(r, verdict.Macro, func(run *verdict.Run) { run.Nodes[0].Name = "C" })
		}, 1,
		[]string{"MISSING: macro zerocopy A (node is not in AFTER)", "NEW: macro zerocopy C (node is not in BEFORE)"},
	},
	"a run that was invalid": {
		func(r verdict.Result) verdict.Result {
			r.Runs = r.Runs[:len(r.Runs)-1]
			r.Invalid = []verdict.Invalid{{Scenario: "macro_run2", Path: "zerocopy", Number: 2, Reason: "1 of 1000 messages was lost"}}
			r.Verified = false
			return r
		}, 3,
		[]string{"INVALID: macro_run2 zerocopy AFTER: 1 of 1000 messages was lost"},
	},
	"all runs invalid": {
		func(r verdict.Result) verdict.Result {
			r.Runs = slices.DeleteFunc(r.Runs, func(run verdict.Run) bool { return verdict.Series(run.Scenario) == verdict.Macro })
			r.Invalid = []verdict.Invalid{{Scenario: "macro", Path: "zerocopy", Number: 1, Reason: "lost"}}
			r.Verified = false
			return r
		}, 3,
		[]string{"INVALID: macro zerocopy AFTER: lost", "SKIPPED: macro zerocopy (all runs are invalid AFTER)"},
	},
	"a run that was not verified": {
		func(r verdict.Result) verdict.Result {
			r.Runs[0].Verified, r.Verified = false, false
			return r
		}, 3,
		[]string{"INVALID: AFTER: 1 of 4 runs were not verified"},
	},
	"a forgotten tag": {uncounted, 3, []string{
		"N/A: macro zerocopy (counts are n/a AFTER)", "N/A: micro zerocopy (counts are n/a AFTER)",
	}},
	"one run without counts": {
		func(r verdict.Result) verdict.Result {
			r.Runs[0].Nodes = slices.Clone(r.Runs[0].Nodes)
			r.Runs[0].Nodes[0].Sites = nil
			return r
		}, 3,
		[]string{"N/A: micro zerocopy (counts are n/a in 1 of 2 runs AFTER, in 0 of 2 BEFORE)"},
	},
	"samples that vary": {
		func(r verdict.Result) verdict.Result {
			r.Runs[0].Nodes[0].Sites[0] = event("relay.envelope", "hash", 2)
			return r
		}, 1,
		[]string{"WORSE: micro zerocopy node relay.envelope +1.000 hash/msg (varies 1.000-2.000 AFTER), +65.00 MB/1000 msg (varies 65000.000-130000 AFTER), relay/dispatch.go:25"},
	},
}

func TestCounts(t *testing.T) {
	for name, tt := range countChanges {
		t.Run(name, func(t *testing.T) {
			c := Compare(record(fixture(2)), record(tt.change(fixture(2))), Options{})
			wantCauses(t, c, tt.causes...)
			if c.ExitCode != tt.code || ExitCode(c) != tt.code {
				t.Errorf("exit code %d, want %d", c.ExitCode, tt.code)
			}
		})
	}
}

// uncounted returns what a build without the tag makes of a result.
func uncounted(r verdict.Result) verdict.Result {
	r.Environment.Counting, r.Environment.Tags, r.Environment.Sites = false, nil, nil
	for i := range r.Runs {
		for n := range r.Runs[i].Nodes {
			r.Runs[i].Nodes[n].Sites, r.Runs[i].Nodes[n].Lines = nil, nil
		}
	}
	return r
}

// A build that does not count never passes, be it on both sides.
func TestForgottenTag(t *testing.T) {
	for name, sides := range map[string][2]verdict.Result{
		"before": {uncounted(fixture(2)), fixture(2)},
		"after":  {fixture(2), uncounted(fixture(2))},
		"both":   {uncounted(fixture(2)), uncounted(fixture(2))},
	} {
		c := Compare(record(sides[0]), record(sides[1]), Options{})
		if c.ExitCode != 3 || c.Counts != 0 || len(c.Causes) == 0 || c.Causes[0].Kind != CauseNA {
			t.Errorf("%s: exit code %d, %d counts, causes %q, want 3, 0 and n/a", name, c.ExitCode, c.Counts, causeStrings(c))
		}
	}
}

// A target that does not count, beside paths that do, is n/a on both sides and no
// reason to fail.
func TestOnePathThatDoesNotCount(t *testing.T) {
	theirs := func() verdict.Record {
		return record(edit(fixture(2), verdict.Macro, func(run *verdict.Run) {
			run.Nodes[0].Sites, run.Nodes[1].Sites = nil, nil
		}))
	}
	if c := Compare(theirs(), theirs(), Options{}); c.ExitCode != 0 || c.Counts == 0 {
		t.Errorf("exit code %d, %d counts", c.ExitCode, c.Counts)
	}
}

// golang/go#57648: what only one side has is in no mean and not silent.
func TestMissingBenchmark(t *testing.T) {
	before := lines(t, "BenchmarkA 1 100 ns/op 3 decodes/op\nBenchmarkB 1 10 ns/op 2 decodes/op\n")
	after := lines(t, "BenchmarkA 1 100 ns/op 3 decodes/op\n")
	c := Compare(before, after, Options{})
	wantCauses(t, c, "MISSING: B (scenario is not in AFTER)")
	if c.ExitCode != 1 {
		t.Errorf("exit code %d, want 1", c.ExitCode)
	}
	for _, g := range c.Geomeans {
		if g.Percent != 0 || g.Places != 1 {
			t.Errorf("geomean %+v, want 0 %% over 1", g)
		}
	}
}

// google/benchmark#2290: a zero is a count, and no mean of it is taken.
func TestZeroAfter(t *testing.T) {
	before := lines(t, "BenchmarkA 1 4 hashes/op\nBenchmarkB 1 3 hashes/op\n")
	after := lines(t, "BenchmarkA 1 0 hashes/op\nBenchmarkB 1 3 hashes/op\n")
	c := Compare(before, after, Options{})
	if r := row(t, c, "A - all", "hashes/op"); r.Answer != Gone || *r.Delta != -4 || *r.Percent != -100 {
		t.Errorf("%+v, want gone, -4, -100 %%", r)
	}
	if g := c.Geomeans; len(g) != 1 || g[0].Places != 1 || g[0].LeftOut != 1 || g[0].Percent != 0 {
		t.Errorf("geomeans %+v, want 0 %% over 1, 1 left out", g)
	}
	back := Compare(after, before, Options{})
	if g := back.Geomeans; len(g) != 1 || g[0].Places != 1 || g[0].LeftOut != 1 || g[0].Percent != 0 {
		t.Errorf("geomeans %+v, want 0 %% over 1, 1 left out", g)
	}
	if r := row(t, back, "A - all", "hashes/op"); r.Answer != Appeared || r.Percent != nil || back.ExitCode != 1 {
		t.Errorf("%+v, exit code %d, want appeared, no percentage, 1", r, back.ExitCode)
	}
	wantCauses(t, back, "WORSE: A +4.000 hash/op")
}

// A unit that is no longer reported has not improved.
func TestMissingUnit(t *testing.T) {
	before := lines(t, "BenchmarkA 1 100 ns/op 3 decodes/op\n")
	c := Compare(before, lines(t, "BenchmarkA 1 100 ns/op\n"), Options{})
	wantCauses(t, c, "MISSING: A decodes/op (unit is not in AFTER)")
	if c.ExitCode != 1 {
		t.Errorf("exit code %d, want 1", c.ExitCode)
	}
	if c := Compare(before, lines(t, "BenchmarkA 1 3 decodes/op\n"), Options{}); c.ExitCode != 0 {
		t.Errorf("a time that is no longer reported: exit code %d, want 0", c.ExitCode)
	}
}

// Files that have nothing in common were not compared, and nothing vanished.
func TestNothingInCommon(t *testing.T) {
	one, other := lines(t, "BenchmarkA 1 3 decodes/op\n"), lines(t, "BenchmarkB 1 3 decodes/op\n")
	for name, sides := range map[string][2]verdict.Record{
		"other names": {one, other}, "no record": {{}, {}}, "one is empty": {one, {}}, "seed against paths": {file(t, "logos-step1.csv"), record(fixture(1))},
	} {
		if c := Compare(sides[0], sides[1], Options{}); c.ExitCode != 4 || c.Verdict != "NOTHING COMPARED" {
			t.Errorf("%s: exit code %d, %s, want 4", name, c.ExitCode, c.Verdict)
		}
	}
}

// The codes in their order: invalid before worse.
func TestPrecedence(t *testing.T) {
	r := edit(fixture(2), verdict.Macro, extraHash)
	r.Invalid, r.Verified = []verdict.Invalid{{Scenario: "micro_run3", Path: "zerocopy", Number: 3, Reason: "lost"}}, false
	c := Compare(record(fixture(2)), record(r), Options{})
	if c.ExitCode != 3 || len(c.Causes) != 2 || c.Causes[1].Kind != CauseWorse {
		t.Errorf("exit code %d, causes %q, want 3, and the worse count told", c.ExitCode, causeStrings(c))
	}
}

// What a CSV rounded is equal to what JSON has in full; where it says nothing by
// node and site, nothing vanished.
func TestFormatsCompare(t *testing.T) {
	r := fixture(2)
	for i := range r.Runs {
		r.Runs[i].Nodes[0].Sites[0].HashedBytes += 3 // 0.003 B a message
	}
	var csv, txt bytes.Buffer
	if err := verdict.WriteCSV(&csv, r); err != nil {
		t.Fatal(err)
	}
	if err := verdict.WriteBench(&txt, r); err != nil {
		t.Fatal(err)
	}
	missing := map[string]string{"bench.csv": "files have no unexplained-B/msg, copies/msg, encoded-B/msg in rows of all roles"}
	for name, text := range map[string]string{"bench.csv": csv.String(), "bench.txt": txt.String()} {
		other, err := verdict.ReadRecord(name, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []Comparison{Compare(record(r), other, Options{}), Compare(other, record(r), Options{})} {
			if c.ExitCode != 0 || c.Equal != c.Counts || c.Counts < 30 || len(c.Causes) > 0 {
				t.Errorf("%s: exit code %d, %d of %d equal, causes %q", name, c.ExitCode, c.Equal, c.Counts, causeStrings(c))
			}
			for _, want := range []string{"files have no rows of a site: not compared", missing[name]} {
				if !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, want) }) {
					t.Errorf("%s: notes %q lack %q", name, c.Notes, want)
				}
			}
		}
	}
}

// A regression is seen through rounding too.
func TestRoundingHidesLittle(t *testing.T) {
	var csv bytes.Buffer
	if err := verdict.WriteCSV(&csv, edit(fixture(1), verdict.Macro, extraHash)); err != nil {
		t.Fatal(err)
	}
	after, err := verdict.ReadRecord("bench.csv", &csv)
	if err != nil {
		t.Fatal(err)
	}
	c := Compare(record(fixture(1)), after, Options{})
	wantCauses(t, c, "WORSE: macro zerocopy receiver +1.000 hash/msg, +65.00 MB/1000 msg")
}

// Bytes of another workload are not compared; numbers of events are.
func TestOtherWorkload(t *testing.T) {
	r := fixture(2)
	r.Settings.Profile = "1kB@100"
	c := Compare(record(fixture(2)), record(r), Options{})
	bytes := row(t, c, "macro zerocopy B relay.validator", "decoded-B/msg")
	if bytes.Answer != NotComparable || !strings.Contains(bytes.Reason, "profile is 65kB@100 BEFORE, 1kB@100 AFTER") {
		t.Errorf("bytes: %s, %s", bytes.Answer, bytes.Reason)
	}
	if events := row(t, c, "macro zerocopy B relay.validator", "decodes/msg"); events.Answer != Same {
		t.Errorf("events: %s", events.Answer)
	}
}

// A result of the first schema version, without declared sites, compares.
func TestUndeclaredSites(t *testing.T) {
	old := fixture(2)
	old.Environment.Sites = nil
	after := fixture(2)
	after.Runs[0].Nodes[0].Sites = []counters.SiteCounts{event("relay.validator", "decode", 1)}
	after.Runs[1].Nodes[0].Sites = after.Runs[0].Nodes[0].Sites
	for name, sides := range map[string][2]verdict.Result{"old before": {old, fixture(2)}, "old after": {fixture(2), old}} {
		if c := Compare(record(sides[0]), record(sides[1]), Options{}); c.ExitCode != 0 || len(c.Causes) > 0 {
			t.Errorf("%s: exit code %d, causes %q", name, c.ExitCode, causeStrings(c))
		}
	}
	after.Environment.Sites = nil
	c := Compare(record(old), record(after), Options{})
	if r := row(t, c, "micro zerocopy node relay.envelope", "hashes/msg"); r.Answer != Gone || c.ExitCode != 0 {
		t.Errorf("a site that no longer counts: %s, exit code %d, want gone, 0", r.Answer, c.ExitCode)
	}
}

// Nobody is told that higher is worse where it is better.
func TestHigherCounts(t *testing.T) {
	const head = "Unit hits assume=exact better=higher\n"
	few, many := lines(t, head+"BenchmarkA 1 3 hits\n"), lines(t, head+"BenchmarkA 1 4 hits\n")
	if c := Compare(few, many, Options{}); c.ExitCode != 0 || c.Verdict != "BETTER" {
		t.Errorf("more hits: exit code %d, %s", c.ExitCode, c.Verdict)
	}
	if c := Compare(many, few, Options{}); c.ExitCode != 1 {
		t.Errorf("fewer hits: exit code %d", c.ExitCode)
	}
	if c := Compare(lines(t, head+"BenchmarkA 1 0 hits\n"), few, Options{}); c.ExitCode != 0 {
		t.Errorf("hits appeared: exit code %d", c.ExitCode)
	}
	if c := Compare(few, lines(t, head+"BenchmarkA 1 0 hits\n"), Options{}); c.ExitCode != 1 {
		t.Errorf("hits gone: exit code %d", c.ExitCode)
	}
}

// A rise of either end of samples that vary is worse, and a fall of one is better.
func TestEnds(t *testing.T) {
	of := func(values ...int) verdict.Record {
		var b strings.Builder
		for _, v := range values {
			fmt.Fprintf(&b, "BenchmarkA 1 %d decodes/op\n", v)
		}
		return lines(t, b.String())
	}
	for _, tt := range []struct {
		before, after verdict.Record
		answer        Answer
		delta         float64
	}{
		{of(1, 2), of(2, 2), Worse, 1},
		{of(1, 2), of(1, 3), Worse, 1},
		{of(1, 4), of(2, 3), Worse, -1},
		{of(2, 2), of(1, 2), Better, -1},
		{of(1, 2), of(2, 1), Same, 0},
		{of(3, 3, 3), of(3), Same, 0},
		{of(0, 1), of(0, 0), Gone, -1},
		{of(0, 0), of(0, 1), Appeared, 1},
	} {
		r := row(t, Compare(tt.before, tt.after, Options{}), "A - all", "decodes/op")
		if r.Answer != tt.answer || *r.Delta != tt.delta {
			t.Errorf("%v to %v: %s, %v, want %s, %v", tt.before.Figures, tt.after.Figures, r.Answer, *r.Delta, tt.answer, tt.delta)
		}
	}
}

// What is wrong with a side before the change counts too.
func TestInvalidBefore(t *testing.T) {
	lost := fixture(2)
	lost.Invalid, lost.Verified = []verdict.Invalid{{Scenario: "micro_run3", Path: "zerocopy", Number: 3, Reason: "lost"}}, false
	unverified := fixture(2)
	unverified.Runs[0].Verified, unverified.Verified = false, false
	for name, r := range map[string]verdict.Result{"invalid": lost, "unverified": unverified} {
		if c := Compare(record(r), record(fixture(2)), Options{}); c.ExitCode != 3 {
			t.Errorf("%s: exit code %d, want 3", name, c.ExitCode)
		}
	}
}

// One of several files of a side is enough to mark a unit as exact.
func TestExactInOneFile(t *testing.T) {
	plain := lines(t, "BenchmarkA 1 2 allocs/op\n")
	marked, err := verdict.ReadRecord("other.txt", strings.NewReader("Unit allocs/op assume=exact\nBenchmarkA 1 2 allocs/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	both, err := verdict.Merge(plain, marked)
	if err != nil {
		t.Fatal(err)
	}
	more := lines(t, "BenchmarkA 1 3 allocs/op\n")
	for name, sides := range map[string][2]verdict.Record{"before": {both, more}, "after": {more, both}, "one side": {marked, more}} {
		if r := row(t, Compare(sides[0], sides[1], Options{}), "A - all", "allocs/op"); r.Class != "count" || !r.counted() {
			t.Errorf("%s: %s is %s", name, r.Class, r.Answer)
		}
	}
}

// A node that is called like a role has rows in a CSV, and none by site.
func TestNodeCalledLikeARole(t *testing.T) {
	r := edit(fixture(1), verdict.Micro, func(run *verdict.Run) { run.Nodes[0].Name = verdict.RoleAll })
	var csv bytes.Buffer
	if err := verdict.WriteCSV(&csv, r); err != nil {
		t.Fatal(err)
	}
	after, err := verdict.ReadRecord("bench.csv", &csv)
	if err != nil {
		t.Fatal(err)
	}
	if c := Compare(record(r), after, Options{}); c.ExitCode != 0 || c.Equal != c.Counts {
		t.Errorf("exit code %d, %d of %d equal, causes %q", c.ExitCode, c.Equal, c.Counts, causeStrings(c))
	}
	if c := Compare(after, record(r), Options{}); c.ExitCode != 0 || c.Equal != c.Counts || len(c.Causes) > 0 {
		t.Errorf("the other way: exit code %d, causes %q", c.ExitCode, causeStrings(c))
	}
}
