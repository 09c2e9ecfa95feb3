package verdict

import (
	"bytes"
	"encoding/csv"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// openLoop returns the macro runs of the fixture as an open loop with a stall
// would make them.
func openLoop() Result {
	r := fixture()
	r.Settings.Rate, r.Settings.Scenarios = 1000, []string{Macro}
	r.Runs = slices.DeleteFunc(r.Runs, func(run Run) bool { return Series(run.Scenario) != Macro })
	for i := range r.Runs {
		n := int64(r.Runs[i].Number)
		both := Latencies{
			Intended: Quantiles{messages, 400_000 * n, 700_000 * n, 900_000_000, 990_000_000, 1_000_000_000 + n},
			Sent:     Quantiles{messages, 300_000 * n, 500_000 * n, 2_000_000, 3_000_000, 1_000_000_000},
		}
		r.Runs[i].OpenLoop = &OpenLoop{Missed: 12, Application: both}
		if r.Runs[i].LatencyP50 != nil {
			commit := both
			r.Runs[i].OpenLoop.Commit = &commit
		}
	}
	for _, from := range []string{FromIntended, FromSent} {
		r.Distributions = append(r.Distributions, Distribution{
			Scenario: Macro, Path: "zerocopy", From: from, To: ToApplication, Runs: 2,
			Quantiles: Quantiles{2 * messages, 400_000, 700_000, 900_000_000, 990_000_000, 1_000_000_000},
			Points:    []Point{{0, 200_000, 2}, {50, 400_000, 1000}, {100, 1_000_000_000, 2000}},
		})
	}
	return r
}

func TestOpenLoopSurvivesEachFormat(t *testing.T) {
	want := openLoop()
	document := written(t, func(b *bytes.Buffer) error { return WriteJSON(b, want) })
	got, err := ReadJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Distributions, want.Distributions) || !reflect.DeepEqual(got.Runs[0].OpenLoop, want.Runs[0].OpenLoop) {
		t.Errorf("JSON gives %+v and %+v", got.Distributions, got.Runs[0].OpenLoop)
	}
	rows, err := ReadCSV(bytes.NewReader(written(t, func(b *bytes.Buffer) error { return WriteCSV(b, want) })))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(rows[0].Latencies, Rows(want)[0].Latencies) || *rows[0].Rate != 1000 || *rows[0].Missed != 12 {
		t.Errorf("CSV gives %+v", rows[0])
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"x.csv":  func(b *bytes.Buffer) error { return WriteCSV(b, want) },
		"x.json": func(b *bytes.Buffer) error { return WriteJSON(b, want) },
		"x.txt":  func(b *bytes.Buffer) error { return WriteBench(b, want) },
	} {
		figures := record(t, name, string(written(t, write))).Figures
		found := slices.IndexFunc(figures, func(f Figure) bool { return f.Metric.Name == "intended-p99-ns" && f.Node == RoleAll })
		if found < 0 || figures[found].Value != 900_000_000 || figures[found].Metric.Class != Time {
			t.Errorf("%s has no intended-p99-ns of 900 ms: %d", name, found)
		}
	}
}

// A closed loop has none of it: not 0, not n/a.
func TestClosedLoopSaysNothingOfAnOpenOne(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"json": func(b *bytes.Buffer) error { return WriteJSON(b, fixture()) },
		"csv":  func(b *bytes.Buffer) error { return WriteCSV(b, fixture()) },
		"txt":  func(b *bytes.Buffer) error { return WriteBench(b, fixture()) },
		"text": func(b *bytes.Buffer) error { return WriteText(b, fixture()) },
	} {
		text := strings.ToLower(string(written(t, write)))
		for _, word := range []string{"intended", "missed", "openloop", "open loop", "\"rate\""} {
			if strings.Contains(text, word) {
				t.Errorf("%s has %q", name, word)
			}
		}
	}
	for _, f := range Figures(fixture()) {
		if strings.HasPrefix(f.Metric.Name, "intended") {
			t.Fatalf("there is a figure %+v", f)
		}
	}
}

func TestOpenLoopColumnsFollowTheOthers(t *testing.T) {
	text := written(t, func(b *bytes.Buffer) error { return WriteCSV(b, openLoop()) })
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Concat(Header(), OpenHeader()); !slices.Equal(records[0], want) {
		t.Errorf("header is %v, want %v", records[0], want)
	}
	at := slices.Index(records[0], "intended_commit_p99_ns")
	for _, record := range records[1:] {
		path, role := record[slices.Index(records[0], "path")], record[slices.Index(records[0], "role")]
		want := "900000000"
		if path == "theirs" || role == RolePublisher {
			want = notAvailable
		}
		if record[at] != want {
			t.Errorf("path %s, role %s: intended_commit_p99_ns is %s, want %s", path, role, record[at], want)
		}
	}
}

func TestOpenLoopText(t *testing.T) {
	got := written(t, func(b *bytes.Buffer) error { return WriteText(b, openLoop()) })
	equal(t, "openloop-human.txt", got)
	fitsTerminal(t, "text", got)
}

// Times of two rates are of two loads.
func TestRateIsACondition(t *testing.T) {
	for _, r := range []Record{
		NewRecord("x", openLoop()),
		record(t, "x.csv", string(written(t, func(b *bytes.Buffer) error { return WriteCSV(b, openLoop()) }))),
	} {
		if got, _ := r.Condition("window"); got != "open loop at 1000 msg/s" {
			t.Errorf("%s: window is %q", r.Format, got)
		}
	}
	if got, _ := NewRecord("x", fixture()).Condition("window"); got != "32" {
		t.Errorf("of a closed loop, window is %q", got)
	}
}

func TestValidateOpenLoop(t *testing.T) {
	for want, spoil := range map[string]func(*Result){
		"rate is -1":            func(r *Result) { r.Settings.Rate = -1 },
		"has an open loop":      func(r *Result) { r.Runs[0].OpenLoop = nil },
		"settings a rate of 0":  func(r *Result) { r.Settings.Rate = 0 },
		"is not ascending":      func(r *Result) { r.Runs[0].OpenLoop.Application.Sent.P90 = 1 },
		"of 5 messages":         func(r *Result) { r.Runs[0].OpenLoop.Application.Sent.Messages = 5 },
		"1001 of 1000 messages": func(r *Result) { r.Runs[0].OpenLoop.Missed = 1001 },
		"is there twice":        func(r *Result) { r.Distributions[1] = r.Distributions[0] },
		"from \"now\"":          func(r *Result) { r.Distributions[0].From = "now" },
		"to \"then\"":           func(r *Result) { r.Distributions[0].To = "then" },
		"of 0 runs":             func(r *Result) { r.Distributions[0].Runs = 0 },
		"has no points":         func(r *Result) { r.Distributions[0].Points = nil },
		"quantiles of 7":        func(r *Result) { r.Distributions[0].Quantiles.Messages = 7 },
		"points[1]":             func(r *Result) { r.Distributions[0].Points[1].Nanos = 1 },
		"points[2]":             func(r *Result) { r.Distributions[0].Points[2].Percentile = 101 },
	} {
		r := openLoop()
		spoil(&r)
		err := r.Validate()
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", want, err)
			continue
		}
		wantError(t, err, want)
	}
	if err := openLoop().Validate(); err != nil {
		t.Error(err)
	}
}
