//go:build msgpathcounters

package counters_test

import (
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/counters"
)

var siteLabelled = counters.NewSite("test.labelled")

// labelsHere returns what a profile of goroutines says of the labels of the test's
// own, "" for none. No other test runs meanwhile.
func labelsHere(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(b.String(), "\n\n") {
		_, rest, labelled := strings.Cut(stack, "# labels: ")
		if labelled && strings.Contains(stack, "labelsHere") {
			line, _, _ := strings.Cut(rest, "\n")
			return line
		}
	}
	return ""
}

func TestLabel(t *testing.T) {
	set := counters.New()
	labelled := func(s counters.Set) string {
		defer counters.Label(s, siteLabelled).End()
		return labelsHere(t)
	}
	if got := labelled(set); got != "" {
		t.Errorf("labels %s while no profile is taken", got)
	}
	counters.Labelling(true)
	defer counters.Labelling(false)
	if got := labelled(counters.Set{}); got != "" {
		t.Errorf("labels %s of the zero Set", got)
	}
	for _, name := range []string{"?", "B"} {
		if name != "?" {
			counters.Name(set, name)
		}
		if got, want := labelled(set), `{"node":"`+name+`", "site":"test.labelled"}`; got != want {
			t.Errorf("labels %s, want %s", got, want)
		}
		if got := labelsHere(t); got != "" {
			t.Errorf("labels %s are left", got)
		}
	}
	counters.Name(counters.Set{}, "nobody") // does nothing
}

func TestLabelDoesNotAllocate(t *testing.T) {
	set := counters.New()
	work := func() { defer counters.Label(set, siteLabelled).End() }
	for _, on := range []bool{false, true} {
		counters.Labelling(on)
		if n := testing.AllocsPerRun(100, work); n != 0 {
			t.Errorf("labelling %v: %v allocations", on, n)
		}
	}
	counters.Labelling(false)
}

func BenchmarkLabelOff(b *testing.B) {
	set := counters.New()
	for b.Loop() {
		counters.Label(set, siteLabelled).End()
	}
}

func BenchmarkLabelOn(b *testing.B) {
	set := counters.New()
	counters.Labelling(true)
	defer counters.Labelling(false)
	for b.Loop() {
		counters.Label(set, siteLabelled).End()
	}
}
