package verdict

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	return Context{Check: &check, BaselineDoc: doc}
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
	golden(t, "acceptance.txt", table)
	fitsTerminal(t, "acceptance.txt", table)
}

// Each row breaks one count of the good result. The evidence must name the
// first place where that shows.
func TestWrongCountFails(t *testing.T) {
	node := func(t *testing.T, r *Result, scenario, path string, n int) *Node {
		return &find(t, r, scenario, path).Nodes[n]
	}
	for _, tt := range []struct {
		name   string
		breaks func(*testing.T, *Result)
		want   []string
	}{
		{"one decode more at the receiver", func(t *testing.T, r *Result) {
			node(t, r, "macro_run2", "envelope", 1).Sites[1].Decodes++
		}, []string{"macro_run2, path envelope, role all: decodes 3001, want 3000; and 1 more"}},
		{"right sum, wrong nodes", func(t *testing.T, r *Result) {
			node(t, r, "macro", "envelope", 0).Sites[1].Decodes--
			node(t, r, "macro", "envelope", 1).Sites[1].Decodes++
		}, []string{"macro, path envelope, node A (publisher): decodes 999, want 1000; and 1 more"}},
		{"a hash less", func(t *testing.T, r *Result) {
			node(t, r, "micro_run2", "zerocopy", 0).Sites[0].Hashes--
		}, []string{"micro_run2, path zerocopy, role all: hashes 999, want 1000"}},
		{"a hash of fewer bytes", func(t *testing.T, r *Result) {
			node(t, r, "micro_run1", "baseline", 0).Sites[0].HashedBytes -= 8
		}, []string{"micro_run1, path baseline, role all: hashed bytes 129999992, want 130000000"}},
		{"an id hash in micro", func(t *testing.T, r *Result) {
			node(t, r, "micro_run1", "envelope", 0).Sites[0].IDHashes = 1
		}, []string{"micro_run1, path envelope, role all: id hashes 1, want 0"}},
		{"an id hash missing in macro", func(t *testing.T, r *Result) {
			node(t, r, "macro", "zerocopy", 0).Sites[0].IDHashes--
		}, []string{"macro, path zerocopy, role all: id hashes 1999, want 2000"}},
		{"a copy on zerocopy", func(t *testing.T, r *Result) {
			node(t, r, "macro", "zerocopy", 1).Sites[2].Copies = 1
		}, []string{"macro, path zerocopy, role all, site relay.validator: copies 1, want 0"}},
		{"two publishers", func(t *testing.T, r *Result) {
			node(t, r, "macro", "baseline", 1).Role = RolePublisher
		}, []string{"macro, path baseline, role publisher: decodes 6000, want 2000; and 4 more"}},
		{"one node for both", func(t *testing.T, r *Result) {
			find(t, r, "macro", "baseline").Nodes = []Node{
				{Name: "AB", Role: RoleAll, Sites: []counters.SiteCounts{at("x.y", 6, 0, 5, 2, 0)}},
			}
		}, []string{"macro, path baseline, role publisher: the run has no such node; and 1 more"}},
		{"raw decodes", func(t *testing.T, r *Result) {
			node(t, r, "macro", "raw", 0).Sites = []counters.SiteCounts{at("bench.raw", 1, 0, 0, 2, 0)}
			node(t, r, "macro", "raw", 1).Sites = []counters.SiteCounts{}
		}, []string{"macro, path raw, role all: decodes 1000, want 0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fixture()
			tt.breaks(t, &r)
			criteria := Acceptance(r, Context{})
			wantCriterion(t, criterion(t, criteria, CriterionCounts), Fail, tt.want...)
			if code := ExitCode(r, criteria); code != ExitFailed {
				t.Errorf("exit code %d, want %d", code, ExitFailed)
			}
		})
	}
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
		{"one node uncounted", halfCounted, ExitInvalid, Inconclusive, "n/a: macro, path envelope, role all"},
		{"invalid run", withInvalid(), ExitInvalid, Pass, ""},
		{"wrong count and invalid run", wrongAndInvalid, ExitInvalid, Fail, ""},
		{"all runs invalid", allInvalid, ExitInvalid, NotApplicable, "no run is valid"},
		{"unverified", unverified, ExitInvalid, Pass, ""},
		{"no runs", only(func(Run) bool { return false }), ExitUnexamined, NotApplicable, "no run is valid"},
		{"raw alone", only(func(run Run) bool { return run.Path == "raw" }), ExitUnexamined, NotApplicable, "no path with expected counts ran"},
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
	wantCriterion(t, criterion(t, Acceptance(r, Context{}), CriterionCounts), Fail, `role is "x"`, "; and 1 more")
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
	} {
		check := goodCheck
		tt.change(&check)
		criteria := Acceptance(fixture(), Context{Check: &check})
		t.Run(tt.name, func(t *testing.T) {
			wantCriterion(t, criterion(t, criteria, CriterionTests), tt.tests, tt.want)
			wantCriterion(t, criterion(t, criteria, CriterionProduction), tt.prod)
		})
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

func TestDocumented(t *testing.T) {
	doc := string(goodContext(t).BaselineDoc)
	for _, tt := range []struct {
		name, old, replacement string
		verdict                Verdict
		want                   string
	}{
		{"same", "", "", Pass, "30 rows equal, of 30 rows in the document"},
		{"other times", ",736.7,", ",999.9,", Pass, "30 rows equal"},
		{
			"other count", ",6.000,5.000,", ",6.000,4.000,", Fail,
			"macro, path baseline, role all: hashes_per_msg is 5.000, docs/baseline.md says 4.000",
		},
		{
			"other bytes", ",325.00,390.32,", ",325.00,390.33,", Fail,
			"macro, path baseline, role all: decoded_MB is 390.32, docs/baseline.md says 390.33",
		},
		{"uncounted", ",6.000,5.000,", ",n/a,5.000,", Fail, "decodes_per_msg is 6.000, docs/baseline.md says n/a"},
		{"no block", "```csv", "```", Fail, "has no block ```csv with the header of this version"},
		{"other header", ",wall_ms,", ",wall_s,", Fail, "has no block"},
		{"broken number", ",736.7,", ",736;7,", Fail, `column msg_per_s: "736;7"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(doc, tt.old, tt.replacement, 1)
			if tt.old != "" && changed == doc {
				t.Fatalf("the document lacks %q", tt.old)
			}
			r := fixture()
			criteria := Acceptance(r, Context{BaselineDoc: []byte(changed)})
			wantCriterion(t, criterion(t, criteria, CriterionDocument), tt.verdict, tt.want)
			if code := ExitCode(r, criteria); code != ExitOK {
				t.Errorf("exit code %d: this criterion does not decide", code)
			}
		})
	}
}

func TestDocumentedOfAnotherWorkload(t *testing.T) {
	doc := goodContext(t).BaselineDoc
	r := fixture()
	r.Settings.Profile = "1kB@100"
	r.Runs = r.Runs[:3]
	wantCriterion(t, criterion(t, Acceptance(r, Context{BaselineDoc: doc}), CriterionDocument), Pass,
		"3 rows equal, of 30 rows", "MB not compared")
	r.Runs[2].Path = "mine"
	wantCriterion(t, criterion(t, Acceptance(r, Context{BaselineDoc: doc}), CriterionDocument), Fail,
		"no row for micro_run1, path mine, role all")
	wantCriterion(t, criterion(t, Acceptance(r, Context{}), CriterionDocument), Warn, "is missing; make baseline writes it")
	wantCriterion(t, criterion(t, Acceptance(uncounted(), Context{BaselineDoc: doc}), CriterionDocument), NotApplicable)
}

// The table itself: nodes add up, and it says what the published system counted.
func TestExpectedCountsAddUp(t *testing.T) {
	type arm struct{ scenario, path string }
	all, nodes := map[arm]Expectation{}, map[arm]Expectation{}
	for _, e := range ExpectedCounts {
		at := arm{e.Scenario, e.Path}
		if e.Role == RoleAll {
			all[at] = e
			continue
		}
		sum := nodes[at]
		sum.Decodes, sum.Hashes, sum.IDHashes = sum.Decodes+e.Decodes, sum.Hashes+e.Hashes, sum.IDHashes+e.IDHashes
		nodes[at] = sum
	}
	for at, sum := range nodes {
		if e := all[at]; e.Decodes != sum.Decodes || e.Hashes != sum.Hashes || e.IDHashes != sum.IDHashes {
			t.Errorf("%v: all %+v, sum over nodes %+v", at, e, sum)
		}
	}
	for path, published := range map[string][]Published{"baseline": PublishedBefore, "envelope": PublishedAfter} {
		for _, p := range published {
			got := all[arm{p.Scenario, path}]
			want := fmt.Sprint(p.Decodes, p.Hashes)
			if have := fmt.Sprint(float64(got.Decodes), float64(got.Hashes)); have != want {
				t.Errorf("%s, path %s: decodes and hashes %s, published %s", p.Scenario, path, have, want)
			}
		}
	}
}
