package bench

import (
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/verdict"
)

// TestTransportChoices runs each choice on one of its paths, by turns: whatever an
// option is set to, nothing is lost, and the process is left as it was.
func TestTransportChoices(t *testing.T) {
	heavy(t)
	var arms []Arm
	for _, u := range tunables() {
		for i, c := range u.values {
			paths := u.paths()
			arms = append(arms, u.arm(paths[i%len(paths)], c))
		}
	}
	percent, limit := runtimeSettings()
	o := small(t)
	o.Messages = 20
	r, err := RunArms(t.Context(), o, arms)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != len(arms) || !r.Verified {
		t.Errorf("%d of %d choices are valid: %v", len(r.Runs), len(arms), r.Invalid)
	}
	if p, l := runtimeSettings(); p != percent || l != limit {
		t.Errorf("the process is left with GOGC %d and limit %d, was %d and %d", p, l, percent, limit)
	}
}

func runtimeSettings() (percent int, limit int64) {
	percent = debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent, debug.SetMemoryLimit(-1)
}

// TestChoicesDiffer: each choice is valid and is not the default under another
// name.
func TestChoicesDiffer(t *testing.T) {
	for _, u := range tunables()[1:] {
		for _, c := range u.values {
			var o node.Options
			if c.node != nil {
				c.node(&o)
			}
			if err := o.Validate(); err != nil {
				t.Errorf("%s %s: %v", u.name, c.name, err)
			}
			if reflect.DeepEqual(o, node.Options{}) && !changesRuntime(c) {
				t.Errorf("%s %s changes nothing", u.name, c.name)
			}
		}
	}
}

func changesRuntime(c choice) bool {
	if c.run == nil {
		return false
	}
	percent, limit := runtimeSettings()
	undo := c.run()
	p, l := runtimeSettings()
	undo()
	return p != percent || l != limit
}

// TestBaseReachesBothPaths: an option that a Base has is that of bare gossipsub
// too. The least queue there is loses messages on either.
func TestBaseReachesBothPaths(t *testing.T) {
	u := tunable{name: "outbound queue", standard: "1024", raw: true, values: []choice{
		onNode("1", func(o *node.Options) { o.Relay.OutboundQueue = 1 }),
	}}
	var arms []Arm
	for _, path := range u.paths() {
		arms = append(arms, u.arm(path, choice{name: u.standard}), u.arm(path, u.values[0]))
	}
	o := small(t)
	o.Messages = 300
	r, err := RunArms(t.Context(), o, arms)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 2 || len(r.Invalid) != 2 {
		t.Errorf("%d valid, want those with the default: %v", len(r.Runs), r.Invalid)
	}
	for _, i := range r.Invalid {
		if !strings.HasSuffix(i.Path, " 1") || !strings.Contains(i.Reason, "drop") && !strings.Contains(i.Reason, "lost") {
			t.Errorf("%s: %s", i.Path, i.Reason)
		}
	}
	if effects := Effects(r); len(effects) != 0 {
		t.Errorf("effects of what is no choice: %+v", effects)
	}
}

func TestTransportArmsAreNamed(t *testing.T) {
	if _, err := TransportArms("security", "speed"); err == nil || !strings.Contains(err.Error(), `"speed"`) {
		t.Errorf("an unknown option: %v", err)
	}
	arms, err := TransportArms("validator")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := namesOf(arms), []string{"zerocopy, validator inline", "zerocopy, validator own goroutine"}; !slices.Equal(got, want) {
		t.Errorf("arms %v, want %v", got, want)
	}
	if err := WriteEffects(&strings.Builder{}, verdict.Result{}, false); err == nil {
		t.Error("a table of nothing is written")
	}
}

// TestEffects: runs are compared by their number, and those without a partner are
// left out.
func TestEffects(t *testing.T) {
	u := tunables()[1]
	base, value := u.armName(PathRaw, choice{name: u.standard}), u.armName(PathRaw, u.values[0])
	allocs := map[string]uint64{base: 100, value: 300}
	run := func(path string, number int, seconds float64) verdict.Run {
		return verdict.Run{
			Scenario: verdict.RunName(Macro, number), Path: path, Number: number, Messages: 100, PeakHeap: 1000, Allocs: allocs[path],
			WallNanos: int64(seconds * 1e9), CPUNanos: int64(seconds * 2e9),
		}
	}
	var r verdict.Result
	for n := 1; n <= 7; n++ { // the machine becomes slower, the ratio does not
		r.Runs = append(r.Runs, run(base, n, float64(n)), run(value, n, 2*float64(n)))
	}
	r.Runs = append(r.Runs, run(value, 8, 100))
	r.Invalid = []verdict.Invalid{{Path: value, Number: 9}}
	effects := Effects(r)
	if len(effects) != 1 {
		t.Fatalf("effects %+v, want one", effects)
	}
	for _, markdown := range []bool{false, true} {
		var text strings.Builder
		if err := WriteEffects(&text, r, markdown); err != nil || !strings.Contains(text.String(), "0.50 (0.50-0.50)") || !strings.Contains(text.String(), "7, 1 invalid") {
			t.Errorf("%v in\n%s", err, text.String())
		}
	}
	e := effects[0]
	if e.Option != "security" || e.Path != PathRaw || e.Runs != 7 || e.Invalid != 1 {
		t.Errorf("effect %+v", e)
	}
	for name, got := range map[string]Ratio{
		"0.50 (0.50-0.50)": e.Rate, "2.00 (2.00-2.00)": e.CPU, "3.00 (3.00-3.00)": e.Allocs, "1.00 (1.00-1.00)": e.PeakHeap,
	} {
		if got.String() != name {
			t.Errorf("ratio %v, want %s", got, name)
		}
	}
	few := CompareArms(verdict.Result{Runs: []verdict.Run{run(value, 1, 2), run(base, 1, 1)}}, value, base).Rate
	if few.Low != nil || few.High != nil || few.Median != 0.5 || math.IsNaN(few.Median) {
		t.Errorf("one pair: %v", few)
	}
}
