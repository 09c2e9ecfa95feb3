package verdict

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWriteText(t *testing.T) {
	for name, r := range map[string]Result{
		"human.txt": fixture(), "uncounted-human.txt": uncounted(), "invalid-human.txt": withInvalid(),
	} {
		got := written(t, func(b *bytes.Buffer) error { return WriteText(b, r) })
		equal(t, name, got)
		fitsTerminal(t, name, got)
	}
}

func fitsTerminal(t *testing.T, name string, text []byte) {
	t.Helper()
	for i, line := range strings.Split(string(text), "\n") {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%s:%d is %d columns wide", name, i+1, n)
		}
		if strings.Contains(line, "\x1b") {
			t.Errorf("%s:%d has an escape sequence", name, i+1)
		}
	}
}

// Slow and fast, small and large: a table of real figures has to fit as well.
func TestTextFitsWithLargeFigures(t *testing.T) {
	r := fixture()
	for i := range r.Runs {
		run := &r.Runs[i]
		run.WallNanos = int64(20_000_000 * (1 + i%5))
		run.NanosPerP50, run.NanosPerP99, run.CPUNanos = 12_345_678, 987_654_321, 12_345_678_901
		run.LatencyP50, run.LatencyP99 = ptr(int64(12_345_678)), ptr(int64(987_654_321))
		run.Allocs, run.AllocBytes = 12_345_678, 98_765_432_100
		run.Path = (run.Path + "-or-so-it-says")[:15]
	}
	fitsTerminal(t, "text", written(t, func(b *bytes.Buffer) error { return WriteText(b, r) }))
}

func TestManyPathsAreSplit(t *testing.T) {
	r := fixture()
	for _, path := range []string{"fifth", "sixth"} {
		run := microRun("zerocopy", 1, 500_000_000)
		run.Path = path
		r.Runs = append(r.Runs, run)
	}
	got := written(t, func(b *bytes.Buffer) error { return WriteText(b, r) })
	fitsTerminal(t, "text", got)
	if n := strings.Count(string(got), "micro: 1000 messages"); n != 2 {
		t.Errorf("%d tables for five micro paths, want 2:\n%s", n, got)
	}
	if !strings.Contains(string(got), "runs per path: 1 to 2") {
		t.Errorf("does not say that paths ran once or twice:\n%s", got)
	}
}

func TestCountsThatVaryAreMarked(t *testing.T) {
	r := fixture()
	find(t, &r, "macro_run2", "baseline").Nodes[0].Sites[0].Decodes++
	got := string(written(t, func(b *bytes.Buffer) error { return WriteText(b, r) }))
	for _, want := range []string{"6.000-6.001 !", "2.000-2.001 ! + 4.000 = 6.000-6.001 !"} {
		if !strings.Contains(got, want) {
			t.Errorf("text lacks %q:\n%s", want, got)
		}
	}
}

func TestTextHasTheEndsOfRateAndCPU(t *testing.T) {
	r := fixture()
	r.Runs = r.Runs[:0]
	for i, cpu := range []int64{900_000_000, 700_000_000, 4_000_000_000} {
		run := microRun("envelope", i+1, int64(500_000_000*(i+1)))
		run.CPUNanos = cpu
		r.Runs = append(r.Runs, run)
	}
	got := string(written(t, func(b *bytes.Buffer) error { return WriteText(b, r) }))
	for name, want := range map[string]string{
		"msg/s": "1000", "msg/s min-max": "667-2000", "CPU µs/msg": "900", "CPU µs/msg min-max": "700-4000",
	} {
		if !regexp.MustCompile("│ " + name + " +│ +" + want + " │").MatchString(got) {
			t.Errorf("%s is not %s:\n%s", name, want, got)
		}
	}
}

func TestTextOfNothing(t *testing.T) {
	r := Result{Kind: Kind, SchemaVersion: SchemaVersion, Environment: Environment{Counting: true}}
	if got := string(written(t, func(b *bytes.Buffer) error { return WriteText(b, r) })); got != "No run is valid.\n" {
		t.Errorf("text is %q", got)
	}
}

func TestSpread(t *testing.T) {
	figure := func(r Run) *float64 { return known(float64(r.CPUNanos)) }
	for _, tt := range []struct {
		values []int64
		want   spread
	}{
		{[]int64{7}, spread{7, 7, 7}},
		{[]int64{4, 1, 3}, spread{3, 1, 4}},
		{[]int64{4, 1, 2, 3}, spread{2.5, 1, 4}},
		{[]int64{0, 0}, spread{0, 0, 0}},
	} {
		var runs []Run
		for _, v := range tt.values {
			runs = append(runs, Run{CPUNanos: v})
		}
		if got, ok := spreadOf(runs, figure); !ok || got != tt.want {
			t.Errorf("spreadOf(%v) = %v, %t, want %v", tt.values, got, ok, tt.want)
		}
	}
	missing := func(Run) *float64 { return nil }
	if got := ends([]Run{{}}, missing); got != "n/a" {
		t.Errorf("a missing figure prints %q", got)
	}
	if _, ok := spreadOf(nil, figure); ok {
		t.Error("no runs have a spread")
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 1.234: "1.23", 9.996: "10.0", 12.34: "12.3", 99.97: "100", 1257.6: "1258", -123.4: "-123"} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %q, want %q", v, got, want)
		}
	}
}
