package bench

import (
	"strings"
	"sync"
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/relay"
)

// tiny returns options of one short run.
func tiny(path string) Options {
	o := DefaultOptions()
	o.Scenarios, o.Paths, o.Runs, o.Messages, o.Cold = []string{Micro}, []string{path}, 1, 10, true
	o.WarmupMicro, o.WarmupMacro = 4, 4
	o.Profile = Profile{Sizes: []int{1000}, Mix: []int{100}}
	return o
}

// A consumer that writes to what it shares with others makes the run invalid,
// also when everybody else is done with it. Where nothing is shared, it harms
// nobody.
func TestAlteredViewIsFound(t *testing.T) {
	for _, reach := range []relay.Reach{relay.ReachStage, relay.ReachNode} {
		t.Run(reach.String(), func(t *testing.T) {
			o := tiny(reach.String())
			o.Extra = func(_ string, _ counters.Set, wire []byte) { wire[len(wire)/2] ^= 1 }
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			shared := reach == relay.ReachNode
			if found := len(r.Invalid) == 1 && strings.Contains(r.Invalid[0].Reason, "altered after its decode"); found != shared {
				t.Errorf("found: %t, want %t: %+v", found, shared, r.Invalid)
			}
			if !shared && r.Runs[0].ViewsChecked != 14 {
				t.Errorf("%d views checked, want 14", r.Runs[0].ViewsChecked)
			}
		})
	}
}

// Extra work is done once a message and node, and charged to its node.
func TestExtraWork(t *testing.T) {
	for _, path := range []string{"zerocopy", PathRaw} {
		o := tiny(path)
		o.Scenarios = []string{Macro}
		var mu sync.Mutex
		calls := make(map[string]int)
		o.Extra = func(node string, counts counters.Set, wire []byte) {
			mu.Lock()
			defer mu.Unlock()
			calls[node]++
			if node == "A" {
				counters.Copy(counts, siteApp, len(wire))
			}
		}
		r, err := Run(t.Context(), o)
		if err != nil || !r.Verified && path != PathRaw {
			t.Fatalf("path %s: %v, %+v", path, err, r.Invalid)
		}
		if calls["A"] != 14 || calls["B"] != 14 || len(calls) != 2 {
			t.Errorf("path %s: calls %v, want 14 of A and of B", path, calls)
		}
		if !counters.Enabled {
			continue
		}
		for _, n := range r.Runs[0].Nodes {
			if got, want := counters.Total(n.Sites).Copies, map[string]uint64{"A": 10, "B": 0}[n.Name]; got != want {
				t.Errorf("path %s, node %s: %d copies, want %d", path, n.Name, got, want)
			}
		}
	}
}

// Every event of a run is traced to a line of this module.
func TestLinesOfARun(t *testing.T) {
	if !counters.Enabled {
		t.Skip("this build does not count")
	}
	r, err := Run(t.Context(), tiny("baseline"))
	if err != nil || len(r.Runs) != 1 {
		t.Fatal(err, r.Invalid)
	}
	lines := make(map[string][]string)
	for _, l := range r.Runs[0].Nodes[0].Lines {
		lines[l.Site] = append(lines[l.Site], l.At...)
	}
	for site, file := range map[string]string{
		"relay.validator": "relay/validate.go:", "relay.handler": "relay/dispatch.go:",
		"archive.archive": "archive/archive.go:", "storesync.storesync": "storesync/set.go:",
	} {
		if len(lines[site]) == 0 || !strings.HasPrefix(lines[site][0], file) {
			t.Errorf("site %s has lines %q, want one of %s", site, lines[site], file)
		}
	}
}
