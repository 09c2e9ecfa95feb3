package bench

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/limits"
)

func TestLimits(t *testing.T) {
	heavy(t)
	o := DefaultLimits(filepath.Join(t.TempDir(), "limits.sqlite"))
	o.Options = small(t, Micro, Macro)
	o.Runs, o.Micro, o.Alone, o.Profiled = 1, 2000, 1, 3 // a profile has a sample in 10 ms
	o.Receiver = func(ctx context.Context, archive string) *exec.Cmd { return receiverProcess(ctx, t, archive) }
	o.Overhead = func(context.Context, int) ([]float64, error) { return nil, errors.New("no compiler here") }
	d, err := Limits(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range d.Invalid {
		t.Errorf("%s of %s is invalid: %s", i.Scenario, i.Path, i.Reason)
	}
	for _, l := range d.Limits {
		measured := l.Verdict != verdict.NotApplicable
		switch name := l.Name; {
		case strings.Contains(name, "counting / production"):
			if measured || l.Note != "no compiler here" {
				t.Errorf("%s: %s, %q", name, l.Verdict, l.Note)
			}
		case strings.Contains(name, "gossip id and"):
			if measured != counters.Enabled {
				t.Errorf("%s: %s", name, l.Verdict)
			}
		case !measured:
			t.Errorf("%s, %s was not measured: %s", name, l.Figure, l.Note)
		}
		if l.Arm != "" && l.Verdict != verdict.Pass && !hasProfile(d, l.Arm) {
			t.Errorf("%s did not pass, and nothing says why", l.Arm)
		}
	}
	if len(d.Arms) != len(o.arms()) {
		t.Errorf("%d arms, want %d", len(d.Arms), len(o.arms()))
	}
	for _, a := range d.Arms {
		if a.Runs != o.Runs || a.Rate <= 0 || a.CPU <= 0 {
			t.Errorf("%+v", a)
		}
	}
	documentHas(t, d)
}

func hasProfile(d limits.Document, arm string) bool {
	for _, p := range d.Profiles {
		if p.Arm == arm && len(p.Lines) > 0 {
			return true
		}
	}
	return false
}

func documentHas(t *testing.T, d limits.Document) {
	t.Helper()
	var b bytes.Buffer
	if err := WritePerformance(&b, Performance{Document: d, Plots: "img"}); err != nil {
		t.Fatal(err)
	}
	for _, l := range d.Limits {
		if !strings.Contains(b.String(), l.Name) {
			t.Errorf("the document lacks %s", l.Name)
		}
	}
	if !strings.Contains(b.String(), "img/limits.svg") || strings.Contains(b.String(), "%!") || strings.Contains(b.String(), "<no value>") {
		t.Error(b.String())
	}
}

func TestLimitsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*LimitsOptions){
		"0 receivers": func(o *LimitsOptions) { o.Alone = 0 },
		"0 messages":  func(o *LimitsOptions) { o.Micro = 0 },
		"runs 0":      func(o *LimitsOptions) { o.Runs = 0 },
		"want memory": func(o *LimitsOptions) { o.File = "" },
	} {
		o := DefaultLimits("x")
		change(&o)
		if _, err := Limits(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestPassesOfNoRunAreNotAvailable(t *testing.T) {
	if l := passes(verdict.Result{}); l.Verdict != verdict.NotApplicable || l.Note == "" {
		t.Errorf("%+v", l)
	}
}
