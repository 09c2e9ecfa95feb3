package bench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// arms are a node that keeps nothing, and bare gossipsub with the cheapest id.
func arms() []Arm {
	node, kept := PathArm(Macro, relay.ReachNode), PathArm(Micro, relay.ReachStage)
	node.Name, node.Archive, node.Messages = "discard", Discard, 30
	kept.Name, kept.Archive = "kept", "memory"
	cheap := Arm{Name: "cheap id", Scenario: Macro, Target: func(NodeOptions) Target { return NewRaw(RawOptions{ID: CheapID}) }}
	return []Arm{node, cheap, kept}
}

func TestArmsRunForwardsAndBackwards(t *testing.T) {
	o := small(t)
	o.Runs = 2
	r, err := RunArms(t.Context(), o, arms())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, run := range r.Runs {
		got = append(got, run.Scenario+" "+run.Path)
		if want := map[string]int{"discard": 30, "cheap id": 60, "kept": 60}[run.Path]; run.Messages != want {
			t.Errorf("%s: %d messages, want %d", run.Path, run.Messages, want)
		}
		if !run.Verified {
			t.Errorf("%s is not verified", run.Path)
		}
	}
	want := []string{"macro discard", "macro cheap id", "micro_run1 kept", "micro_run2 kept", "macro_run2 cheap id", "macro_run2 discard"}
	if diff := cmp.Diff(want, got); diff != "" || len(r.Invalid) > 0 {
		t.Error(diff, r.Invalid)
	}
}

// What consumers ask for does not depend on what the archive keeps.
func TestDiscardCostsTheSameCounts(t *testing.T) {
	if !counters.Enabled {
		t.Skip("this build does not count")
	}
	for _, reach := range []relay.Reach{relay.ReachStage, relay.ReachDispatch, relay.ReachNode} {
		kept, gone := PathArm(Micro, reach), PathArm(Micro, reach)
		kept.Name, gone.Name, gone.Archive = "kept", "gone", Discard
		r, err := RunArms(t.Context(), small(t), []Arm{kept, gone})
		if err != nil || len(r.Runs) != 2 {
			t.Fatal(err, r.Invalid)
		}
		sites := func(run verdict.Run) []counters.SiteCounts { return run.Nodes[0].Sites }
		if diff := cmp.Diff(sites(r.Runs[0]), sites(r.Runs[1])); diff != "" {
			t.Errorf("%v: (-kept +discarded)\n%s", reach, diff)
		}
	}
}

func TestArmsAreChecked(t *testing.T) {
	for want, change := range map[string]func([]Arm){
		"no name":          func(a []Arm) { a[0].Name = "" },
		"no target":        func(a []Arm) { a[0].Target = nil },
		"want micro":       func(a []Arm) { a[1].Scenario = "mid" },
		"twice in macro":   func(a []Arm) { a[1].Name = a[0].Name },
		"-1 messages":      func(a []Arm) { a[2].Messages = -1 },
		"archive \"tape\"": func(a []Arm) { a[2].Archive = "tape" },
	} {
		all := arms()
		change(all)
		if _, err := RunArms(t.Context(), small(t), all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if _, err := RunArms(t.Context(), small(t), nil); err == nil {
		t.Error("no arms are accepted")
	}
}

// What keeps bare gossipsub from starting is told.
func TestRawTellsWhyItDidNotStart(t *testing.T) {
	raw := NewRaw(RawOptions{Base: node.Options{Relay: relay.Options{ValidateWorkers: -1}}})
	defer func() { _ = raw.Close() }()
	if err := raw.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "gossipsub") {
		t.Errorf("got %v", err)
	}
}
