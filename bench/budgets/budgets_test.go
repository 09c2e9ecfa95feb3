package budgets_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/bench/budgets"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/gate"
)

// read returns a budget of this package.
func read(t *testing.T, name string) gate.Budget {
	t.Helper()
	file, text, err := budgets.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := gate.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	return budget
}

func TestEveryBudgetIsOne(t *testing.T) {
	if got, want := strings.Join(budgets.Names(), " "), "acceptance counts memory"; got != want {
		t.Errorf("names are %q, want %q", got, want)
	}
	for _, name := range budgets.Names() {
		for _, l := range read(t, name).Limits {
			if l.Reason == "" || l.Owner == "" {
				t.Errorf("%s has no reason or no owner", l.At)
			}
		}
	}
	if _, _, err := budgets.Read("nothing"); err == nil || !strings.Contains(err.Error(), "acceptance, counts, memory") {
		t.Errorf("Read of a name that is none: %v", err)
	}
}

// cell is what a budget of counts demands at one place. Site is "*" for all
// others.
type cell struct{ scenario, path, node, site, metric string }

// The tables say what [verdict.ExpectedCounts] says, all of it and nothing else.
func TestCountsAreTheExpectedOnes(t *testing.T) {
	want := make(map[cell]float64)
	for _, e := range verdict.ExpectedCounts {
		for _, s := range append(slices.Clone(e.Sites), verdict.SiteExpectation{Site: "*"}) {
			for metric, n := range map[string]uint64{
				"decodes/msg": s.Decodes, "hashes/msg": s.Hashes, "id-hashes/msg": s.IDHashes,
				"encodes/msg": s.Encodes, "copies/msg": s.Copies,
			} {
				want[cell{e.Scenario, e.Path, e.Role, s.Site, metric}] = float64(n)
			}
		}
	}
	for _, l := range read(t, "counts").Limits {
		c := cell{l.Scenario, l.Path, l.Node, l.Site, l.Metric}
		n, ok := want[c]
		switch {
		case !ok:
			t.Errorf("%s: %v is not expected anywhere, or is there twice", l.At, c)
		case len(l.Ranges) != 1 || l.Ranges[0].Kind != gate.Hard || l.Ranges[0].Equal == nil || l.Ranges[0].Equal.Value != n:
			t.Errorf("%s: %v is not %v", l.At, c, n)
		}
		delete(want, c)
	}
	for c, n := range want {
		t.Errorf("no table has %v, which is expected to be %v", c, n)
	}
}

const messages = 10

// expected returns a result that counts what [verdict.ExpectedCounts] says.
func expected() verdict.Result {
	r := verdict.Result{
		Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion, Verified: true,
		Environment: verdict.Environment{Counting: true},
		Settings:    verdict.Settings{Messages: messages, PayloadBytes: 65_000 * messages, Profile: "65kB@100"},
	}
	for _, e := range verdict.ExpectedCounts {
		last := len(r.Runs) - 1
		if last < 0 || verdict.Series(r.Runs[last].Scenario) != e.Scenario || r.Runs[last].Path != e.Path {
			r.Runs = append(r.Runs, verdict.Run{
				Scenario: verdict.RunName(e.Scenario, 1), Path: e.Path, Number: 1, Messages: messages, WallNanos: 1, Verified: true,
			})
			last++
		}
		node := verdict.Node{Name: "the " + e.Role, Role: e.Role}
		for _, s := range e.Sites {
			node.Sites = append(node.Sites, counters.SiteCounts{Site: s.Site, Counts: counters.Counts{
				Decodes: s.Decodes * messages, Hashes: s.Hashes * messages, IDHashes: s.IDHashes * messages,
				Encodes: s.Encodes * messages, Copies: s.Copies * messages,
			}})
			r.Environment.Sites = append(r.Environment.Sites, s.Site)
		}
		r.Runs[last].Nodes = append(r.Runs[last].Nodes, node)
	}
	slices.Sort(r.Environment.Sites)
	r.Environment.Sites = slices.Compact(r.Environment.Sites)
	return r
}

// One event more or less, of any kind, at any site of any node, fails.
func TestCountsStopEveryChange(t *testing.T) {
	all := read(t, "counts")
	if code := judge(all, expected()); code != verdict.ExitOK {
		t.Fatalf("what is expected: exit code %d", code)
	}
	tried := 0
	for i := range expected().Runs {
		budget := of(all, expected().Runs[i])
		alone := func() verdict.Result {
			r := expected()
			r.Runs = r.Runs[i : i+1]
			return r
		}
		if code := judge(budget, alone()); code != verdict.ExitOK {
			t.Fatalf("run %d alone: exit code %d", i, code)
		}
		for _, change := range changes(alone()) {
			r := alone()
			change.apply(&r.Runs[0])
			if code := judge(budget, r); code != verdict.ExitFailed {
				t.Errorf("%s of path %s, %+v: exit code %d", r.Runs[0].Scenario, r.Runs[0].Path, change, code)
			}
			tried++
		}
	}
	if tried < 500 {
		t.Errorf("only %d changes were tried", tried)
	}
}

func judge(b gate.Budget, r verdict.Result) int {
	return gate.Judge(b, verdict.NewRecord("bench.json", r), nil).ExitCode()
}

// of returns the part of a budget that speaks of a run.
func of(b gate.Budget, run verdict.Run) gate.Budget {
	limits := slices.DeleteFunc(slices.Clone(b.Limits), func(l gate.Limit) bool {
		return l.Scenario != verdict.Series(run.Scenario) || l.Path != run.Path
	})
	return gate.Budget{Files: b.Files, Limits: limits}
}

// change is one event for each message, more or less than expected.
type change struct {
	node, kind, by int
	site           string
}

// changes returns every change of the one run of r.
func changes(r verdict.Result) (all []change) {
	for n := range r.Runs[0].Nodes {
		for _, site := range r.Environment.Sites {
			for kind, count := range eventsOf(&r.Runs[0].Nodes[n], site) {
				all = append(all, change{n, kind, 1, site})
				if *count > 0 {
					all = append(all, change{n, kind, -1, site})
				}
			}
		}
	}
	return all
}

func (c change) apply(run *verdict.Run) {
	count := eventsOf(&run.Nodes[c.node], c.site)[c.kind]
	*count = uint64(int(*count) + c.by)
}

// eventsOf returns the counts of a site, which is added if need be.
func eventsOf(n *verdict.Node, site string) []*uint64 {
	i := slices.IndexFunc(n.Sites, func(s counters.SiteCounts) bool { return s.Site == site })
	if i < 0 {
		i, n.Sites = len(n.Sites), append(n.Sites, counters.SiteCounts{Site: site})
	}
	c := &n.Sites[i].Counts
	return []*uint64{&c.Decodes, &c.Hashes, &c.IDHashes, &c.Encodes, &c.Copies}
}

func TestAcceptanceOfWhatIsExpected(t *testing.T) {
	report := gate.Judge(read(t, "acceptance"), verdict.NewRecord("bench.json", expected()), nil)
	if report.ExitCode() != verdict.ExitOK {
		t.Errorf("exit code %d: %+v", report.ExitCode(), report.Lines)
	}
}

// measured returns the figures of testdata/bench.txt.
func measured(t *testing.T) verdict.Record {
	t.Helper()
	f, err := os.Open("testdata/bench.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	record, err := verdict.ReadRecord(f.Name(), f)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// What was measured passes, and one payload more that is copied, and that nobody
// counts, fails in every scenario and path.
func TestMemorySeesAnUncountedCopy(t *testing.T) {
	const payload = 65_000 // the mean of the profile
	budget := read(t, "memory")
	if report := gate.Judge(budget, measured(t), nil); report.ExitCode() != verdict.ExitOK || !passes(report) {
		t.Fatalf("what was measured: exit code %d: %+v", report.ExitCode(), report.Lines)
	}
	copied := measured(t)
	for i, f := range copied.Figures {
		if f.Metric.Name == "unexplained-B/msg" || f.Metric.Name == "B/msg" {
			copied.Figures[i].Value += payload
		}
	}
	for _, l := range gate.Judge(budget, copied, nil).Lines {
		if l.Verdict != verdict.Fail || l.Outside != l.Samples {
			t.Errorf("%s is %s with %d of %d samples outside, want FAIL with all", l.Limit, l.Verdict, l.Outside, l.Samples)
		}
	}
}

func passes(r gate.Report) bool {
	return !slices.ContainsFunc(r.Lines, func(l gate.Line) bool { return l.Verdict != verdict.Pass })
}

// Counts pass as they were measured too.
func TestAcceptanceOfWhatWasMeasured(t *testing.T) {
	if report := gate.Judge(read(t, "acceptance"), measured(t), nil); !passes(report) {
		t.Errorf("%+v", report.Lines)
	}
}
