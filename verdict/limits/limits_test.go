package limits

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/verdict"
)

// spread returns n values around a middle, d apart.
func spread(middle, d float64, n int) (values []float64) {
	for i := range n {
		values = append(values, middle+d*(float64(i)-float64(n-1)/2))
	}
	return values
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		l    Limit
		want verdict.Verdict
	}{
		"whole interval above":          {Least("a", "x", "", 0.9, spread(0.95, 0.001, 30)), verdict.Pass},
		"median above, interval across": {Least("a", "x", "", 0.9, spread(0.91, 0.02, 30)), verdict.Inconclusive},
		"whole interval below":          {Least("a", "x", "", 0.9, spread(0.8, 0.001, 30)), verdict.Fail},
		"too few for an interval":       {Least("a", "x", "", 0.9, spread(0.95, 0.001, 5)), verdict.Inconclusive},
		"one value":                     {Least("a", "x", "", 0.95, []float64{0.96}), verdict.Inconclusive},
		"two equal values":              {Most("a", "x", "", 1, []float64{0.5, 0.5}), verdict.Inconclusive},
		"a count":                       {Exactly("a", "x", 1, []float64{1}), verdict.Pass},
		"a count that rose":             {Exactly("a", "x", 1, []float64{1, 2}), verdict.Fail},
		"a count of nothing":            {Exactly("a", "x", 1, []float64{0}), verdict.Fail},
		"most, below":                   {Most("a", "x", "", 1.15, spread(1.1, 0.001, 6)), verdict.Pass},
		"most, above":                   {Most("a", "x", "", 1.02, spread(1.1, 0.001, 30)), verdict.Fail},
		"most, across":                  {Most("a", "x", "", 1.1, spread(1.1, 0.001, 30)), verdict.Inconclusive},
		"no value":                      {Most("a", "x", "", 1.1, nil), verdict.NotApplicable},
		"not a number":                  {Most("a", "x", "", 1.1, []float64{1, math.NaN()}), verdict.NotApplicable},
		"infinite":                      {Least("a", "x", "", 1.1, []float64{math.Inf(1)}), verdict.NotApplicable},
		"taken back":                    {Exactly("a", "x", 1, []float64{1}).Without("no compiler"), verdict.NotApplicable},
	} {
		if c.l.Verdict != c.want {
			t.Errorf("%s: %s, want %s", name, c.l.Verdict, c.want)
		}
	}
}

// Values that are better never make a verdict worse.
func TestBetterIsNotWorse(t *testing.T) {
	rank := map[verdict.Verdict]int{verdict.Fail: 0, verdict.Inconclusive: 1, verdict.Pass: 2}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0.1, 10), 1, 40).Draw(t, "values")
		target, more := rapid.Float64Range(0.5, 5).Draw(t, "target"), rapid.Float64Range(1, 3).Draw(t, "more")
		var better []float64
		for _, v := range values {
			better = append(better, v*more)
		}
		if a, b := Least("a", "x", "", target, values), Least("a", "x", "", target, better); rank[b.Verdict] < rank[a.Verdict] {
			t.Errorf("%v is %s, %v is %s", values, a.Verdict, better, b.Verdict)
		}
		if a, b := Most("a", "x", "", target, values), Most("a", "x", "", target, better); rank[b.Verdict] > rank[a.Verdict] {
			t.Errorf("at most: %v is %s, %v is %s", values, a.Verdict, better, b.Verdict)
		}
	})
}

// result has two arms of three runs, of which the control's second is invalid.
func result() verdict.Result {
	r := verdict.Result{Settings: verdict.Settings{Scenarios: []string{"macro"}, Paths: []string{"fast", "control"}}}
	for number := 1; number <= 3; number++ {
		name := verdict.RunName("macro", number)
		r.Runs = append(r.Runs, verdict.Run{Scenario: name, Path: "fast", Number: number, Messages: 10, WallNanos: 1e9, CPUNanos: int64(number) * 100})
		if number != 2 {
			r.Runs = append(r.Runs, verdict.Run{Scenario: name, Path: "control", Number: number, Messages: 20, WallNanos: 1e9, CPUNanos: 1000})
		}
	}
	return r
}

func TestRatiosArePairedByRun(t *testing.T) {
	if got := Ratios(result(), "macro", "fast", "control", CPU); !cmp.Equal(got, []float64{0.2, 0.6}) {
		t.Errorf("CPU: %v", got)
	}
	if got := Ratios(result(), "macro", "fast", "control", Rate); !cmp.Equal(got, []float64{0.5, 0.5}) {
		t.Errorf("rate: %v", got)
	}
	if got := Ratios(result(), "macro", "fast", "control", LiveHeap); len(got) != 2 || !math.IsNaN(got[0]) {
		t.Errorf("of nothing: %v", got)
	}
	if got := Ratios(result(), "macro", "fast", "nobody", Rate); got != nil {
		t.Errorf("without a control: %v", got)
	}
}

func document() Document {
	d := Of(result())
	d.Limits = []Limit{
		Least("macro fast / control", "msg/s", "macro fast", 0.4, Ratios(result(), "macro", "fast", "control", Rate)),
		Least("macro fast / control", "CPU time", "macro fast", 0.4, Ratios(result(), "macro", "fast", "control", CPU)),
		Exactly("counted once", "passes", 1.01, []float64{1}),
		Most("bytes", "allocated / payload", "", 1.15, nil).Without("no program"),
	}
	d.Profiles = []Profile{{Arm: "macro fast", Lines: []Share{{"runtime.memmove", 12.34}}}}
	return d
}

func TestReadBack(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, document()); err != nil {
		t.Fatal(err)
	}
	d, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document(), d); diff != "" {
		t.Error(diff)
	}
}

// A verdict that was written by hand is not read.
func TestReadRefuses(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, document()); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[[2]string]string{
		{`"PASS"`, `"FAIL"`}:                         "its values say",
		{`"msgpath-limits"`, `"msgpath-bench"`}:      "kind",
		{`"schemaVersion": 1`, `"schemaVersion": 9`}: "version 9",
		{`"invalid"`, `"invalidated"`}:               "unknown field",
		{`"atLeast": 0.4`, `"atLeast": null`}:        "one of atLeast",
	} {
		text := strings.Replace(b.String(), change[0], change[1], 1)
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", change, err)
		}
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, document()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"4 limits: 1 PASS, 2 INCONCLUSIVE, 1 N/A", "macro fast / control", "≥ 0.4", "counted once", "1.000 to 1.000", "PASS",
		"bytes: no program", "≤ 1.15", "macro control", "12.3  runtime.memmove",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(line)); n > 111 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestExitCode(t *testing.T) {
	pass, fail := Exactly("a", "x", 1, []float64{1}), Exactly("a", "x", 1, []float64{2})
	unsure, none := Least("a", "x", "", 1, []float64{1}), Least("a", "x", "", 1, nil)
	for _, c := range []struct {
		limits []Limit
		want   int
	}{
		{[]Limit{pass, unsure}, verdict.ExitOK},
		{[]Limit{pass, fail, none}, verdict.ExitFailed},
		{[]Limit{pass, none}, verdict.ExitUnexamined},
		{nil, verdict.ExitUnexamined},
	} {
		if got := (Document{Limits: c.limits}).ExitCode(); got != c.want {
			t.Errorf("%v: %d, want %d", c.limits, got, c.want)
		}
		if got := (Document{Limits: c.limits, Invalid: []verdict.Invalid{{}}}).ExitCode(); got != verdict.ExitInvalid {
			t.Errorf("%v and an invalid run: %d", c.limits, got)
		}
	}
}

func ExampleLeast() {
	l := Least("node / bare gossipsub", "CPU time", "", 0.95, []float64{0.96, 0.97, 0.97, 0.98, 0.97, 0.96, 0.98, 0.97})
	fmt.Println(l.Verdict, l.Target(), digits(*l.Low), "to", digits(*l.High))
	// Output: PASS ≥ 0.95 0.960 to 0.980
}
