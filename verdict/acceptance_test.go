package verdict

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/counters"
)

var goodCheck = Check{
	Commit: "0123456789abcdef", TestsPassed: true, Tests: "312 passed, 2 skipped",
	ProductionPassed: true, Production: "relaynode: 0 symbols of counters, 0 site names",
}

func goodContext(t *testing.T) Context {
	t.Helper()
	check := goodCheck
	doc := written(t, func(b *bytes.Buffer) error { return WriteBaseline(b, fixture(), Context{Check: &check}) })
	return Context{Check: &check, BaselineDoc: doc, BaselineCommitted: true}
}

// criterion returns one line of the table.
func criterion(t *testing.T, criteria []Criterion, number int) Criterion {
	t.Helper()
	for _, c := range criteria {
		if c.Number == number {
			return c
		}
	}
	t.Fatalf("no criterion %d", number)
	return Criterion{}
}

func wantCriterion(t *testing.T, c Criterion, verdict Verdict, evidence ...string) {
	t.Helper()
	if c.Verdict != verdict {
		t.Errorf("criterion %d is %s (%s), want %s", c.Number, c.Verdict, c.Evidence, verdict)
	}
	for _, part := range evidence {
		if !strings.Contains(c.Evidence, part) {
			t.Errorf("criterion %d: evidence %q lacks %q", c.Number, c.Evidence, part)
		}
	}
}

func TestAcceptanceOfAGoodResult(t *testing.T) {
	r := fixture()
	criteria := Acceptance(r, goodContext(t))
	if len(criteria) != 5 {
		t.Fatalf("%d criteria, want 5", len(criteria))
	}
	for i, c := range criteria {
		if c.Number != i+1 || c.Verdict != Pass || c.Evidence == "" {
			t.Errorf("criterion %+v, want number %d and PASS", c, i+1)
		}
	}
	if code := ExitCode(r, criteria); code != ExitOK {
		t.Errorf("exit code %d", code)
	}
	table := written(t, func(b *bytes.Buffer) error { return WriteAcceptance(b, criteria) })
	equal(t, "acceptance.txt", table)
	fitsTerminal(t, "acceptance.txt", table)
}

// The published criterion must be able to fail by itself, whatever the table of
// expected counts says.
func TestRelayedBaseline(t *testing.T) {
	good := relayed{runs: 1, counted: true, decodes: spread{6, 6, 6}, hashes: spread{5, 5, 5}, receiverDecodes: spread{4, 4, 4}}
	if !good.holds() || !relayedBaseline(fixture()).holds() {
		t.Error("the published counts do not hold")
	}
	for name, breaks := range map[string]func(*relayed){
		"uncounted":             func(b *relayed) { b.counted = false },
		"few decodes":           func(b *relayed) { b.decodes.min = 3.999 },
		"few hashes":            func(b *relayed) { b.hashes.min = 3 },
		"many hashes":           func(b *relayed) { b.hashes.max = 6.001 },
		"receiver decodes less": func(b *relayed) { b.receiverDecodes.min = 3 },
		"receiver decodes more": func(b *relayed) { b.receiverDecodes.max = 5 },
	} {
		b := good
		if breaks(&b); b.holds() {
			t.Errorf("%s: holds", name)
		}
	}
}

func TestExitCodes(t *testing.T) {
	only := func(keep func(Run) bool) Result {
		r := fixture()
		var runs []Run
		for _, run := range r.Runs {
			if keep(run) {
				runs = append(runs, run)
			}
		}
		r.Runs = runs
		return r
	}
	unverified := fixture()
	unverified.Verified, unverified.Runs[3].Verified = false, false
	halfCounted := fixture()
	find(t, &halfCounted, "macro", "envelope").Nodes[1].Sites = nil
	wrongAndInvalid := withInvalid()
	wrongAndInvalid.Runs[0].Nodes[0].Sites[0].Hashes++
	nothing := fixture()
	for i := range find(t, &nothing, "macro", "envelope").Nodes {
		find(t, &nothing, "macro", "envelope").Nodes[i].Sites = []counters.SiteCounts{}
	}
	allInvalid := withInvalid()
	allInvalid.Runs = nil
	for _, tt := range []struct {
		name    string
		r       Result
		code    int
		verdict Verdict
		want    string
	}{
		{"uncounted", uncounted(), ExitInvalid, Inconclusive, "n/a: built without the tag msgpathcounters"},
		{"one node uncounted", halfCounted, ExitInvalid, Inconclusive, "n/a: macro, path envelope, node B"},
		{"a run counted nothing", nothing, ExitInvalid, Inconclusive, "n/a: macro, path envelope: its nodes counted nothing at all"},
		{"invalid run", withInvalid(), ExitInvalid, Pass, ""},
		{"wrong count and invalid run", wrongAndInvalid, ExitInvalid, Fail, ""},
		{"all runs invalid", allInvalid, ExitInvalid, NotApplicable, "no run is valid"},
		{"unverified", unverified, ExitInvalid, Pass, ""},
		{"no runs", only(func(Run) bool { return false }), ExitUnexamined, NotApplicable, "no run is valid"},
		{"theirs alone", only(func(run Run) bool { return run.Path == "theirs" }), ExitUnexamined, NotApplicable, "no path with expected counts ran"},
		{"micro alone", only(func(run Run) bool { return Series(run.Scenario) == Micro }), ExitOK, Inconclusive, "6 runs count exactly as expected, but macro did not run"},
		{"macro alone", only(func(run Run) bool { return Series(run.Scenario) == Macro }), ExitOK, Pass, "6 of 8 runs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			criteria := Acceptance(tt.r, Context{})
			wantCriterion(t, criterion(t, criteria, CriterionCounts), tt.verdict, tt.want)
			if code := ExitCode(tt.r, criteria); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
		})
	}
	if code := ExitCode(fixture(), nil); code != ExitUnexamined {
		t.Errorf("without criteria: exit code %d", code)
	}
}

func TestAMalformedResultFails(t *testing.T) {
	r := fixture()
	r.Runs[0].Nodes[0].Role, r.Runs[1].Nodes[0].Role = "x", "y"
	wantCriterion(t, criterion(t, Acceptance(r, Context{}), CriterionCounts), Fail, `role is "x"`, "; and 3 more")
}

func TestLastCheck(t *testing.T) {
	for _, tt := range []struct {
		name        string
		change      func(*Check)
		tests, prod Verdict
		want        string
	}{
		{"good", func(*Check) {}, Pass, Pass, "checked by make check: 312 passed"},
		{"tests failed", func(c *Check) { c.TestsPassed = false }, Fail, Pass, ""},
		{"counters in production", func(c *Check) { c.ProductionPassed = false }, Pass, Fail, ""},
		{"another commit", func(c *Check) { c.Commit = "fedcba" }, Inconclusive, Inconclusive, "at commit fedcba, this run is of 0123456789abcdef"},
		{"unknown commit", func(c *Check) { c.Commit = "unknown" }, Inconclusive, Inconclusive, ""},
		{"dirty check", func(c *Check) { c.Commit += "+dirty" }, Inconclusive, Inconclusive, "uncommitted changes, so it proves nothing"},
	} {
		check := goodCheck
		tt.change(&check)
		criteria := Acceptance(fixture(), Context{Check: &check})
		t.Run(tt.name, func(t *testing.T) {
			wantCriterion(t, criterion(t, criteria, CriterionTests), tt.tests, tt.want)
			wantCriterion(t, criterion(t, criteria, CriterionProduction), tt.prod)
		})
	}
	for _, suffix := range []string{"+dirty", "-dirty"} {
		r, check := fixture(), goodCheck
		r.Environment.Commit += suffix
		wantCriterion(t, criterion(t, Acceptance(r, Context{Check: &check}), CriterionTests), Inconclusive, "proves nothing")
		check.Commit += suffix // equal, but of what?
		criteria := Acceptance(r, Context{Check: &check})
		for _, number := range []int{CriterionTests, CriterionProduction} {
			wantCriterion(t, criterion(t, criteria, number), Inconclusive,
				"at commit 0123456789abcdef"+suffix, "uncommitted changes, so it proves nothing")
		}
	}
	wantCriterion(t, criterion(t, Acceptance(fixture(), Context{}), CriterionTests), NotApplicable, "no result of it here")
	wantCriterion(t, criterion(t, Acceptance(fixture(), Context{}), CriterionProduction), NotApplicable, "no result of it here")
}

func TestReadCheck(t *testing.T) {
	text, err := json.Marshal(goodCheck)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadCheck(bytes.NewReader(text)); err != nil || got != goodCheck {
		t.Errorf("read back %+v, %v", got, err)
	}
	for document, want := range map[string]string{
		`{}`:               "commit is empty",
		`{"commit":"x"}`:   "tests is empty",
		`{"comit":"x"}`:    `unknown field "comit"`,
		string(text) + `}`: "text after the document",
		``:                 "EOF",
	} {
		_, err := ReadCheck(strings.NewReader(document))
		wantError(t, err, "verdict: read check", want)
	}
}

func TestRepeatability(t *testing.T) {
	for _, tt := range []struct {
		first, second int64 // ns
		verdict       Verdict
		want          string
	}{
		{828_591_000, 795_166_000, Pass, "4.03 % apart: 1206.9 and 1257.6 msg/s"}, // as published
		{950_000_000, 1_000_000_000, Inconclusive, "5.00 % apart"},
		{900_000_000, 900_000_000, Pass, "0.00 % apart"},
	} {
		r := fixture()
		find(t, &r, "micro_run1", "baseline").WallNanos = tt.first
		find(t, &r, "micro_run2", "baseline").WallNanos = tt.second
		criteria := Acceptance(r, Context{})
		wantCriterion(t, criterion(t, criteria, CriterionRepeatable), tt.verdict, tt.want)
		if code := ExitCode(r, criteria); code != ExitOK {
			t.Errorf("exit code %d: this criterion is soft", code)
		}
	}
	r := fixture()
	r.Runs = r.Runs[1:]
	wantCriterion(t, criterion(t, Acceptance(r, Context{}), CriterionRepeatable), NotApplicable)
}
