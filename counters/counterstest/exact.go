package counterstest

import (
	"testing"

	"github.com/msgpath/msgpath/counters"
)

// Tag is the build tag of a build that counts.
const Tag = "msgpathcounters"

// Exact fails t, without ending it, unless set holds these counts and no others.
//
// Want is by site, "package.site". The numbers of events must be equal. A number
// of bytes must be equal where want gives one, that is, where it is not 0. A site
// that want does not name must have counted nothing, and one that want names must
// have been declared, even if nothing is to happen there. The failure names for
// each site what is wrong and which lines of source counted there.
//
// A build that does not count skips the test: see [Require].
func Exact(t testing.TB, set counters.Set, want map[string]counters.Counts) {
	t.Helper()
	if !counters.Enabled {
		t.Skipf("counterstest: counts are n/a: this build does not count: go test -tags %s", Tag)
		return
	}
	diff := Diff(counters.Load(set), want, counters.Lines(set))
	for site := range want {
		if _, ok := counters.Find(site); !ok {
			diff += "  " + site + ": no such site is declared\n"
		}
	}
	if diff != "" {
		t.Errorf("counterstest: counts are not what they must be:\n%s", diff)
	}
}

// Require ends t as failed in a build that does not count. One test that calls
// it keeps a CI job from passing because somebody forgot the tag.
func Require(t testing.TB) {
	t.Helper()
	if !counters.Enabled {
		t.Fatalf("counterstest: counts are n/a: this build does not count: go test -tags %s", Tag)
	}
}
