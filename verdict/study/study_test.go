package study_test

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/study"
)

func example() study.Study {
	return study.Study{
		Name: "sync", Title: "Sync", About: []string{"Two stores find what they do not share."},
		Tables: []study.Table{{
			Title:   "Sessions",
			Columns: []study.Column{{Name: "store"}, {Name: "ids"}, {Name: "time, ms", Digits: 1}, {Name: "reference, ms", Digits: 1}},
			Rows: []study.Row{
				{"scattered", 1_000_000, 118.25, 1530.0},
				{"gap", -1_234, 0.0, nil},
			},
		}},
		Notes:       []string{"One process has both sides."},
		Environment: verdict.Environment{Go: "go1.26", GOOS: "linux", GOARCH: "amd64", CPU: "A CPU", Cores: 2, GOMAXPROCS: 2, Kernel: "6.1", Commit: "0123abc", CommandLine: []string{"msgpath", "bench", "sync"}},
	}
}

func Example() {
	s := example()
	if err := study.WriteText(os.Stdout, s); err != nil {
		panic(err)
	}
	// Output:
	// Two stores find what they do not share.
	//
	// Sessions
	// ┌───────────┬───────────┬──────────┬───────────────┐
	// │ store     │       ids │ time, ms │ reference, ms │
	// ├───────────┼───────────┼──────────┼───────────────┤
	// │ scattered │ 1,000,000 │    118.2 │       1,530.0 │
	// │ gap       │    -1,234 │      0.0 │             – │
	// └───────────┴───────────┴──────────┴───────────────┘
	//
	// Note: One process has both sides.
}

func TestMarkdown(t *testing.T) {
	var page bytes.Buffer
	if err := study.WriteMarkdown(&page, example()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Sync\n\nTwo stores", "## Sessions\n\n| store | ids |", "| scattered | 1,000,000 | 118.2 | 1,530.0 |",
		"`msgpath bench sync` at commit 0123abc", "[sync.json](sync.json)",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in\n%s", want, page.String())
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	var first, second bytes.Buffer
	if err := study.WriteJSON(&first, example()); err != nil {
		t.Fatal(err)
	}
	written := first.String()
	s, err := study.ReadJSON(&first)
	if err != nil {
		t.Fatal(err)
	}
	if err := study.WriteJSON(&second, s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, second.String()); diff != "" {
		t.Error(diff)
	}
	if _, err := study.ReadJSON(strings.NewReader(`{"name":"a","titel":"b"}`)); err == nil || !strings.Contains(err.Error(), "titel") {
		t.Errorf("an unknown field: %v", err)
	}
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*study.Study){
		"0 tables":                       func(s *study.Study) { s.Tables = nil },
		"has no rows":                    func(s *study.Study) { s.Tables[0].Rows = nil },
		"row 2 has 1 values for 4":       func(s *study.Study) { s.Tables[0].Rows[1] = study.Row{1} },
		"row 1 has a value of type bool": func(s *study.Study) { s.Tables[0].Rows[0][0] = true },
		"of type float64, NaN":           func(s *study.Study) { s.Tables[0].Rows[0][1] = math.NaN() },
	} {
		s := example()
		change(&s)
		for _, write := range []error{study.WriteText(&bytes.Buffer{}, s), study.WriteJSON(&bytes.Buffer{}, s), study.WriteMarkdown(&bytes.Buffer{}, s)} {
			if write == nil || !strings.Contains(write.Error(), want) {
				t.Errorf("got %v, want it to say %q", write, want)
			}
		}
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := example().Tables[0].WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	want := "store,ids,\"time, ms\",\"reference, ms\"\nscattered,1000000,118.25,1530\ngap,-1234,0,\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
