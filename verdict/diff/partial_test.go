package diff

import (
	"slices"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/verdict"
)

// without takes a node of macro's second run away.
func without(r verdict.Result, node string) verdict.Result {
	return edit(r, verdict.Macro, func(run *verdict.Run) {
		if run.Number == 2 {
			run.Nodes = slices.DeleteFunc(slices.Clone(run.Nodes), func(n verdict.Node) bool { return n.Name == node })
		}
	})
}

// uncountedIn makes the counts of macro n/a in some runs.
func uncountedIn(r verdict.Result, numbers ...int) verdict.Result {
	return edit(r, verdict.Macro, func(run *verdict.Run) {
		if slices.Contains(numbers, run.Number) {
			run.Nodes = slices.Clone(run.Nodes)
			for i := range run.Nodes {
				run.Nodes[i].Sites, run.Nodes[i].Lines = nil, nil
			}
		}
	})
}

// decodesIn multiplies what B decodes in some runs of macro.
func decodesIn(r verdict.Result, factor uint64, numbers ...int) verdict.Result {
	return edit(r, verdict.Macro, func(run *verdict.Run) {
		if slices.Contains(numbers, run.Number) {
			run.Nodes[1].Sites[1] = event("relay.validator", "decode", factor)
		}
	})
}

// What is not the same in all runs of a side.
func TestSomeRuns(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after verdict.Result
		code          int
		cause         string // that one of the causes has, "" for none at all
	}{
		"a node vanished from one of two runs": {
			fixture(2), without(fixture(2), "B"), 1, "MISSING: macro zerocopy B (node is in 1 of 2 runs AFTER, in 2 of 2 BEFORE)",
		},
		"a node lacks a run on both sides":        {without(fixture(2), "B"), without(fixture(2), "B"), 0, ""},
		"one of three n/a on both, and as before": {uncountedIn(fixture(3), 3), uncountedIn(fixture(3), 3), 0, ""},
		"one of three n/a on both, and worse": {
			uncountedIn(fixture(3), 3), decodesIn(uncountedIn(fixture(3), 3), 7, 1, 2), 1, "WORSE: macro zerocopy B relay.validator +6.000 decode/msg",
		},
		"more are n/a": {
			uncountedIn(fixture(3), 3), uncountedIn(fixture(3), 2, 3), 3, "(counts are n/a in 2 of 3 runs AFTER, in 1 of 3 BEFORE)",
		},
		"all are n/a": {uncountedIn(fixture(3), 3), uncountedIn(fixture(3), 1, 2, 3), 3, "N/A: macro zerocopy (counts are n/a AFTER)"},
		"fewer are n/a, and worse": {
			uncountedIn(fixture(3), 2, 3), decodesIn(fixture(3), 2, 1, 2, 3), 1, "WORSE: macro zerocopy B relay.validator +1.000 decode/msg",
		},
		"more runs are worse, with the same ends": {
			decodesIn(fixture(5), 2, 1), decodesIn(fixture(5), 2, 1, 2, 3, 4), 1, "WORSE: macro zerocopy B relay.validator +1.000 decode/msg",
		},
		"fewer runs are worse, with the same ends": {
			decodesIn(fixture(5), 2, 1, 2, 3, 4), decodesIn(fixture(5), 2, 1), 0, "BETTER: macro zerocopy B relay.validator -1.000 decode/msg",
		},
		"a larger share is worse, of other numbers of runs": {
			decodesIn(fixture(5), 2, 1), decodesIn(fixture(6), 2, 1, 2, 3, 4), 1, "WORSE: macro zerocopy B relay.validator +0.467 decode/msg",
		},
		"the same share of other numbers of runs": {decodesIn(fixture(3), 2, 1), decodesIn(fixture(6), 2, 1, 2), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := Compare(record(tt.before), record(tt.after), Options{})
			causes := strings.Join(causeStrings(c), "\n")
			if c.ExitCode != tt.code || !strings.Contains(causes, tt.cause) || tt.cause == "" && causes != "" {
				t.Errorf("exit code %d, causes\n%s\nwant %d, %q", c.ExitCode, causes, tt.code, tt.cause)
			}
			if better := strings.Contains(causes, "BETTER"); tt.code != 0 && better {
				t.Errorf("something is better:\n%s", causes)
			}
		})
	}
}

// Fewer runs are told.
func TestFewerRuns(t *testing.T) {
	c := Compare(record(fixture(5)), record(fixture(1)), Options{})
	if want := "5 runs BEFORE, 1 AFTER: macro zerocopy, micro zerocopy"; !slices.Contains(c.Notes, want) {
		t.Errorf("notes %q, want %q", c.Notes, want)
	}
	if c := Compare(record(fixture(1)), record(fixture(1)), Options{}); len(c.Notes) > 0 {
		t.Errorf("as many runs: notes %q", c.Notes)
	}
}

// A test for payloads that change under a consumer that no longer runs is worse.
func TestAliasingTestVanishes(t *testing.T) {
	never := func(r verdict.Result) verdict.Result {
		return edit(r, verdict.Macro, func(run *verdict.Run) { run.ViewsChecked = 0 })
	}
	c := Compare(record(fixture(2)), record(never(fixture(2))), Options{})
	wantCauses(t, c, "MISSING: macro zerocopy (aliasing test looked at 32 messages BEFORE, at none AFTER)")
	if c.ExitCode != 1 || c.Verdict != VerdictWorse {
		t.Errorf("%s, exit code %d, want WORSE, 1", c.Verdict, c.ExitCode)
	}
	c = Compare(record(never(fixture(2))), record(fixture(2)), Options{})
	if want := "aliasing test did not run or is not known BEFORE: macro zerocopy"; c.ExitCode != 0 || !slices.Contains(c.Notes, want) {
		t.Errorf("not BEFORE: exit code %d, notes %q, want 0, %q", c.ExitCode, c.Notes, want)
	}
}

// Of sites alone, there is no total that a new node could raise.
func TestNewNodeOfSites(t *testing.T) {
	const head = "scenario,path,node,site,decodes,decoded_bytes,hashes,hashed_bytes,id_hashes,id_hashed_bytes,encodes,encoded_bytes,copies,copied_bytes\n"
	const b = "macro,zerocopy,B,relay.validator,5,50,0,0,0,0,0,0,0,0\n"
	c := Compare(lines(t, head+b), lines(t, head+b+strings.Replace(b, ",B,", ",C,", 1)), Options{})
	wantCauses(t, c, "WORSE: macro zerocopy C relay.validator +50.00 B/run (node is not in BEFORE), +5.000 decode/run",
		"NEW: macro zerocopy C (node is not in BEFORE)")
	if c.ExitCode != 1 {
		t.Errorf("a new node: exit code %d, want 1", c.ExitCode)
	}
	again := strings.Replace(b, "macro,", "macro_run2,", 1)
	c = Compare(lines(t, head+b+again+strings.ReplaceAll(b+again, ",B,", ",C,")), lines(t, head+b+again+strings.Replace(b, ",B,", ",C,", 1)), Options{})
	wantCauses(t, c, "MISSING: macro zerocopy C (node is in 1 of 2 runs AFTER, in 2 of 2 BEFORE)")
}
