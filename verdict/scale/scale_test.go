package scale

import (
	"bytes"
	"encoding/csv"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/msgpath/msgpath/internal/golden"
	"github.com/msgpath/msgpath/verdict"
)

// fixture returns a result of a row with two paths, one of too few values and one
// that counts nothing.
func fixture() Result {
	run := func(rate, cpu float64, copies float64, mesh int) Run {
		return Run{
			Events: 1000, PerSecond: rate, CPUNanos: cpu, AllocBytes: 78_000, LiveBytes: 14e6,
			Encodes: new(1.0), Copies: &copies, Written: new(65_042.0), Mesh: &mesh,
		}
	}
	bare := func(rate, cpu float64) Run {
		return Run{Events: 1000, PerSecond: rate, CPUNanos: cpu, AllocBytes: 70_000, LiveBytes: 13e6, Encodes: new(1.0)}
	}
	insert := func(cpu float64) Run {
		return Run{Events: 10_000, PerSecond: 1e9 / cpu, CPUNanos: cpu, AllocBytes: 970, LiveBytes: -8}
	}
	return Result{
		Kind: Kind, SchemaVersion: SchemaVersion, MeasuredAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Environment: verdict.Environment{Commit: "0123456789ab", Counting: true, Modules: map[string]string{}, Tags: []string{}, CommandLine: []string{"msgpath", "bench-scale"}},
		Settings:    Settings{Runs: 3, Seed: 42, Hash: "blake3", Archive: "sqlite::memory:"},
		Limitations: []string{"All nodes share one process."},
		Rows: []Row{
			{
				Name: "window", Unit: "messages in flight", Held: "1000 messages of 10/50/150kB@25/50/25", Event: "message", Counts: true,
				Series: []Series{
					{Path: "zerocopy", Points: []Point{
						{1, []Run{run(4800, 212e3, 1, 1), run(5100, 201e3, 1, 1), run(4950, 204e3, 1, 1)}},
						{8, []Run{run(5800, 191e3, 1, 1), run(6100, 188e3, 1, 1), run(5900, 195e3, 1, 1)}},
						{128, []Run{run(6400, 190e3, 1, 1), run(6600, 186e3, 1, 1), run(6500, 185e3, 1, 1)}},
					}},
					{Path: "raw", Points: []Point{
						{1, []Run{bare(5500, 180e3)}}, {8, []Run{bare(7500, 160e3)}}, {128, []Run{bare(9100, 150e3)}},
					}},
				},
			},
			{
				Name: "peers", Unit: "peers of the receiver", Held: "1000 messages, window 32", Event: "message", Counts: true,
				Note:   "peers are beside the publisher; gossipsub keeps at most 12 peers in a mesh, and this note is longer than a line",
				Series: []Series{{Path: "zerocopy", Points: []Point{{1, []Run{run(3000, 330e3, 2, 2)}}, {16, []Run{run(600, 2.1e6, 12, 12)}}}}},
			},
			{
				Name: "archive", Unit: "rows in the archive", Held: "the last 10000 inserts of 1 kB, 32 a transaction, on disk", Event: "insert",
				Series: []Series{{Path: "sqlite:FILE", Points: []Point{{10_000, []Run{insert(33e3)}}, {100_000, []Run{insert(35e3)}}, {1_000_000, []Run{insert(38e3)}}}}},
			},
		},
		Skipped: []Skipped{{Row: "messages", X: 20_000, Reason: "it takes some 12.0 GB of memory and the machine has 4.0 GB free"}},
	}
}

func written(t *testing.T, write func(w *bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestText(t *testing.T) {
	got := written(t, func(w *bytes.Buffer) error { return WriteText(w, fixture()) })
	golden.Equal(t, filepath.Join("testdata", "scale.txt"), got)
	for line := range strings.Lines(string(got)) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
			t.Errorf("%d columns, want at most %d: %s", n, width, line)
		}
	}
}

func TestCSV(t *testing.T) {
	got := written(t, func(w *bytes.Buffer) error { return WriteCSV(w, fixture()) })
	golden.Equal(t, filepath.Join("testdata", "scale.csv"), got)
	lines, err := csv.NewReader(bytes.NewReader(got)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 3 + 3 + 2 + 3; len(lines) != want || !slices.Equal(lines[0], Header()) {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
}

func TestJSONReadsBack(t *testing.T) {
	first := written(t, func(w *bytes.Buffer) error { return WriteJSON(w, fixture()) })
	golden.Equal(t, filepath.Join("testdata", "scale.json"), first)
	r, err := ReadJSON(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	again := written(t, func(w *bytes.Buffer) error { return WriteJSON(w, r) })
	if diff := cmp.Diff(string(first), string(again)); diff != "" {
		t.Error(diff)
	}
}

// What a file says of exponents is not believed: they are those of its points.
func TestJSONFitsAreMadeAnew(t *testing.T) {
	document := string(written(t, func(w *bytes.Buffer) error { return WriteJSON(w, fixture()) }))
	forged := strings.Replace(document, `"figure": "cpu",
              "points": 3,
              "exponent": -0.`, `"figure": "cpu",
              "points": 3,
              "exponent": -7.`, 1)
	if forged == document {
		t.Fatal("nothing was forged")
	}
	r, err := ReadJSON(strings.NewReader(forged))
	if err != nil {
		t.Fatal(err)
	}
	if got := *r.Rows[0].Series[0].Fit(CPU).Exponent; got < -1 || got > 0 {
		t.Errorf("exponent %g", got)
	}
}

func TestJSONRefuses(t *testing.T) {
	document := string(written(t, func(w *bytes.Buffer) error { return WriteJSON(w, fixture()) }))
	for name, text := range map[string]string{
		"kind":      strings.Replace(document, Kind, "msgpath-bench", 1),
		"version":   strings.Replace(document, `"schemaVersion": 1`, `"schemaVersion": 2`, 1),
		"field":     strings.Replace(document, `"quick"`, `"quickly"`, 1),
		"text":      document + "{}",
		"type":      strings.Replace(document, `"perSecond": 4800`, `"perSecond": "4800"`, 1),
		"rate":      strings.Replace(document, `"perSecond": 4800`, `"perSecond": 0`, 1),
		"negative":  strings.Replace(document, `"cpuNanos": 212000`, `"cpuNanos": -1`, 1),
		"order":     strings.Replace(document, `"x": 8`, `"x": 1`, 1),
		"same name": strings.Replace(document, `"name": "peers"`, `"name": "window"`, 1),
		"empty":     "",
	} {
		if text == document {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := ReadJSON(strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestExitCode(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Result)
		want   int
	}{
		"as it is":                 {func(*Result) {}, verdict.ExitOK},
		"encoded twice":            {func(r *Result) { r.Rows[0].Series[0].Points[1].Runs[2].Encodes = new(2.0) }, verdict.ExitFailed},
		"encoded too often":        {func(r *Result) { r.Rows[1].Series[0].Points[1].Runs[0].Encodes = new(1.001) }, verdict.ExitFailed},
		"never encoded":            {func(r *Result) { r.Rows[0].Series[1].Points[0].Runs[0].Encodes = new(0.0) }, verdict.ExitFailed},
		"not counted":              {func(r *Result) { r.Rows[0].Series[0].Points[0].Runs[0].Encodes = nil }, verdict.ExitInvalid},
		"a run was invalid":        {func(r *Result) { r.Invalid = []Invalid{{Row: "window", X: 1, Reason: "lost"}} }, verdict.ExitInvalid},
		"nothing":                  {func(r *Result) { r.Rows = nil }, verdict.ExitUnexamined},
		"no points":                {func(r *Result) { r.Rows = []Row{{Name: "a", Series: []Series{{Path: "p"}}}} }, verdict.ExitUnexamined},
		"only what counts nothing": {func(r *Result) { r.Rows = r.Rows[2:] }, verdict.ExitOK},
	} {
		r := fixture()
		tt.change(&r)
		if got := r.ExitCode(); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", name, got, tt.want)
		}
		if err := WriteText(new(bytes.Buffer), r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestWritersTellOfErrors(t *testing.T) {
	bad := fixture()
	bad.Rows[0].Series[0].Points[0].Runs = nil
	for name, err := range map[string]error{
		"text":     WriteText(broken{}, fixture()),
		"CSV":      WriteCSV(broken{}, fixture()),
		"JSON":     WriteJSON(broken{}, fixture()),
		"bad text": WriteText(new(bytes.Buffer), bad),
		"bad CSV":  WriteCSV(new(bytes.Buffer), bad),
		"bad JSON": WriteJSON(new(bytes.Buffer), bad),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "scale: write ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
