package counterstest_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/counters/counterstest"
)

var (
	siteA = counters.NewSite("counterstest_test.a")
	siteB = counters.NewSite("counterstest_test.b")
)

// A verdict records how a test would have ended.
type verdict struct {
	testing.TB
	failed, skipped, fatal string
}

func (v *verdict) Helper()                   {}
func (v *verdict) Errorf(f string, a ...any) { v.failed = fmt.Sprintf(f, a...) }
func (v *verdict) Skipf(f string, a ...any)  { v.skipped = fmt.Sprintf(f, a...) }
func (v *verdict) Fatalf(f string, a ...any) { v.fatal = fmt.Sprintf(f, a...) }

func counted() counters.Set {
	set := counters.New()
	counters.Decode(set, siteA, 10)
	counters.Decode(set, siteA, 10)
	counters.Hash(set, siteB, 7)
	return set
}

func TestExact(t *testing.T) {
	right := map[string]counters.Counts{"counterstest_test.a": {Decodes: 2, DecodedBytes: 20}, "counterstest_test.b": {Hashes: 1}}
	for _, tt := range []struct {
		name string
		want map[string]counters.Counts
		fail string // pattern, "" for none
	}{
		{"right", right, ""},
		{
			"a site too much",
			map[string]counters.Counts{"counterstest_test.a": {Decodes: 2}},
			`counterstest_test\.b: hashes 1, want none, at github.com/msgpath/msgpath/counters/counterstest_test/exact_test.go:\d+\n`,
		},
		{
			"a site that nobody declared",
			map[string]counters.Counts{"counterstest_test.a": {Decodes: 2}, "counterstest_test.b": {Hashes: 1}, "counterstest_test.c": {}},
			`counterstest_test\.c: no such site is declared\n`,
		},
		{"nothing", nil, `decodes 2, want none`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var v verdict
			counterstest.Exact(&v, counted(), tt.want)
			if !counters.Enabled {
				if v.skipped == "" || v.failed != "" {
					t.Errorf("a build that does not count gives %+v, want a skip", v)
				}
				return
			}
			if v.skipped != "" || (tt.fail == "") != (v.failed == "") || !regexp.MustCompile(tt.fail).MatchString(v.failed) {
				t.Errorf("verdict %+v, want a failure like %q", v, tt.fail)
			}
		})
	}
}

func TestRequire(t *testing.T) {
	var v verdict
	counterstest.Require(&v)
	if (v.fatal == "") != counters.Enabled || v.skipped != "" {
		t.Errorf("verdict %+v in a build that counts: %v", v, counters.Enabled)
	}
}
