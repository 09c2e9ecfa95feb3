package verdict

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// withLightPeers returns the fixture as it were with light peers.
func withLightPeers(peers int) Result {
	r := fixture()
	r.Settings.FilterPeers = peers
	r.Runs = slices.DeleteFunc(r.Runs, func(run Run) bool { return run.Path == "raw" || run.Path == "theirs" })
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Scenario = RunName(WithFilter(Series(run.Scenario), peers), run.Number)
		for j := range run.Nodes {
			if n := &run.Nodes[j]; run.Path == "baseline" && n.Role != RolePublisher {
				n.Sites = append(slices.Clone(n.Sites), at("filter.filter", 0, 0, 1, 0, 0), at("filter.filter_push", 0, 0, 1, 0, 0))
			}
		}
	}
	return r
}

// With light peers the receiver of baseline hashes twice more, and nobody else does
// anything else.
func TestAcceptanceWithLightPeers(t *testing.T) {
	r := withLightPeers(5)
	criteria := Acceptance(r, goodContext(t))
	counts := criterion(t, criteria, CriterionCounts)
	wantCriterion(t, counts, Pass, "hashes 7.000", "decodes 6.000")
	if !strings.Contains(counts.Text, "4 to 6 hashes and 2 of the filter") {
		t.Errorf("text: %s", counts.Text)
	}
	wantCriterion(t, criterion(t, criteria, CriterionDocument), NotApplicable, "without light peers")
	if c := criterion(t, criteria, CriterionRepeatable); c.Verdict == NotApplicable {
		t.Errorf("two runs of micro are not found: %+v", c)
	}
	if code := ExitCode(r, criteria); code != ExitOK {
		t.Errorf("exit code %d", code)
	}
	for name, breaks := range map[string]func(*Result){
		"a hash less": func(r *Result) { find(t, r, "macro_filter5", "baseline").Nodes[1].Sites[7].Hashes = 0 },
		"on zerocopy": func(r *Result) {
			b := &find(t, r, "macro_filter5", "zerocopy").Nodes[1]
			b.Sites = append(b.Sites, at("filter.filter", 0, 0, 1, 0, 0))
		},
		"an encode a message": func(r *Result) {
			b := &find(t, r, "macro_filter5", "envelope").Nodes[1]
			b.Sites = append(b.Sites, at("filter.filter_push", 0, 0, 0, 0, 1))
		},
		"at the publisher": func(r *Result) {
			a := &find(t, r, "macro_filter5", "baseline").Nodes[0]
			a.Sites = append(a.Sites, at("filter.filter", 0, 0, 1, 0, 0))
		},
	} {
		wrong := withLightPeers(5)
		breaks(&wrong)
		if c := exactCounts(wrong); c.Verdict != Fail {
			t.Errorf("%s: %s, %s", name, c.Verdict, c.Evidence)
		}
	}
}

// Rows with light peers have names of their own, in every format.
func TestLightPeersAreInTheName(t *testing.T) {
	r := withLightPeers(5)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"macro_filter5_run2,":     func(b *bytes.Buffer) error { return WriteCSV(b, r) },
		"micro_filter5_run1,":     func(b *bytes.Buffer) error { return WriteCSV(b, r) },
		"BenchmarkMacro_filter5/": func(b *bytes.Buffer) error { return WriteBench(b, r) },
		"macro_filter5 baseline B filter.filter_push hash 1.000": func(b *bytes.Buffer) error { return WriteLock(b, r) },
		"\"filterPeers\": 5": func(b *bytes.Buffer) error { return WriteJSON(b, r) },
		"arrival gap":        func(b *bytes.Buffer) error { return WriteText(b, r) },
	} {
		if text := string(written(t, write)); !strings.Contains(text, name) {
			t.Errorf("no %q in %.400s", name, text)
		}
	}
	again, err := ReadJSON(bytes.NewReader(written(t, func(b *bytes.Buffer) error { return WriteJSON(b, r) })))
	if err != nil || again.Settings.FilterPeers != 5 {
		t.Errorf("read back: %d light peers, %v", again.Settings.FilterPeers, err)
	}
	r.Settings.FilterPeers = 4
	if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "has 5 light peers, the settings say 4") {
		t.Errorf("another number in the settings: %v", err)
	}
	r.Settings.FilterPeers = -1
	if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "filterPeers is -1") {
		t.Errorf("a negative number in the settings: %v", err)
	}
}

func TestWithFilter(t *testing.T) {
	for _, tt := range []struct {
		scenario string
		peers    int
		name     string
		first    string
	}{
		{Micro, 0, "micro", "micro_run1"},
		{Micro, 5, "micro_filter5", "micro_filter5_run1"},
		{Macro, 20, "macro_filter20", "macro_filter20"},
	} {
		name := WithFilter(tt.scenario, tt.peers)
		plain, peers := CutFilter(name)
		if name != tt.name || plain != tt.scenario || peers != tt.peers || RunName(name, 1) != tt.first || Series(tt.first) != name {
			t.Errorf("%+v: %q, %q, %d, %q", tt, name, plain, peers, RunName(name, 1))
		}
	}
	for _, name := range []string{"macro_filter0", "macro_filter", "_filter5", "macro_filter05", "macro_filter5x"} {
		if plain, peers := CutFilter(name); plain != name || peers != 0 {
			t.Errorf("%q: %q, %d", name, plain, peers)
		}
	}
}
