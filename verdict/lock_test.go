package verdict

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/counters"
)

func lockOf(t *testing.T, r Result) string {
	t.Helper()
	return string(written(t, func(b *bytes.Buffer) error { return WriteLock(b, r) }))
}

// ours is the fixture without the path that does not count.
func ours() Result {
	r := fixture()
	r.Runs = slices.DeleteFunc(r.Runs, func(run Run) bool { return run.Path == "theirs" })
	return r
}

func TestLock(t *testing.T) {
	text := lockOf(t, ours())
	equal(t, "msgpath.lock", []byte(text))
	if !strings.Contains(text, "\nmacro zerocopy B relay.validator decode 1.000 65053.000\n") {
		t.Error("a line is not as documented")
	}
	if got := CompareLock(text, text); got != nil {
		t.Errorf("it differs from itself: %q", got)
	}
}

// One more event in a thousand messages is seen, with its line alone.
func TestLockShowsOneEvent(t *testing.T) {
	r := ours()
	for i := range r.Runs {
		for j, n := range r.Runs[i].Nodes {
			if r.Runs[i].Path == "zerocopy" && n.Name == "B" {
				sites := slices.Clone(n.Sites)
				sites[0].Hashes++
				r.Runs[i].Nodes[j].Sites = sites
			}
		}
	}
	want := []string{
		"+macro zerocopy B relay.envelope hash 1.001 65000.000",
		"-macro zerocopy B relay.envelope hash 1.000 65000.000",
	}
	got := CompareLock(lockOf(t, ours()), lockOf(t, r))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("lines are %q, want %q", got, want)
	}
}

func TestPerMessageExact(t *testing.T) {
	for _, tt := range []struct {
		n        uint64
		messages int
		want     string
	}{
		{0, 7, "0.000"},
		{3000, 1000, "3.000"},
		{1001, 1000, "1.001"},
		{1, 3, "0.333"},
		{100_001, 100_000, "1.00001"},
	} {
		if got := perMessageExact(tt.n, tt.messages); got != tt.want {
			t.Errorf("%d of %d: %s, want %s", tt.n, tt.messages, got, tt.want)
		}
	}
}

func TestLockRefuses(t *testing.T) {
	disagree := ours()
	last := len(disagree.Runs) - 1
	disagree.Runs[last].Nodes = slices.Clone(disagree.Runs[last].Nodes)
	disagree.Runs[last].Nodes[0].Sites = []counters.SiteCounts{at("relay.publish", 0, 0, 2, 0, 1)}
	unverified, oneRun := ours(), ours()
	unverified.Verified, oneRun.Verified, oneRun.Runs[0].Verified = false, false, false
	nothing := ours()
	nothing.Runs = nil
	for name, r := range map[string]Result{
		"uncounted": uncounted(), "invalid": withInvalid(), "a path that does not count": fixture(),
		"runs disagree": disagree, "no run": nothing, "not verified": unverified, "a run not verified": oneRun,
	} {
		var buf bytes.Buffer
		if err := WriteLock(&buf, r); !errors.Is(err, ErrNotLockable) || buf.Len() > 0 {
			t.Errorf("%s: error %v, wrote %d bytes", name, err, buf.Len())
		}
	}
}

func TestCompareLockNamesTheWorkload(t *testing.T) {
	locked := lockHead + workloadHead + "seed 42\n\nmicro a\n"
	if got := CompareLock(locked, workloadHead+"seed 43\nmicro a\n"); len(got) != 2 {
		t.Errorf("another workload: %q", got)
	}
	if got := CompareLock(locked, "# anything\n"+workloadHead+"seed 42\nmicro a\n"); got != nil {
		t.Errorf("another comment: %q", got)
	}
}
