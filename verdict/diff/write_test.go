package diff

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

// regression is a change as a reviewer meets one: one more hash at a site, a
// decode less at another, slower by a third, on another commit.
func regression(runs int) Comparison {
	after := edit(slower(runs, 1.33), verdict.Macro, extraHash)
	after = edit(after, verdict.Micro, func(run *verdict.Run) {
		run.Nodes[0].Sites[1] = event("relay.validator", "decode", 0)
		run.AllocBytes += 5_000_000
	})
	after.Environment.Commit = "fedcba9876543210+dirty"
	return Compare(record(fixture(runs)), record(after), Options{})
}

// theirs is a comparison of another project's benchmarks.
func theirs(t *testing.T) Comparison {
	before := lines(t, "cpu: AMD EPYC\npkg: example.org/relay\n"+
		"BenchmarkRelay-8 1000 52000 ns/op 512 B/op 2 decodes/op\nBenchmarkRelay-8 1000 53000 ns/op 512 B/op 2 decodes/op\nBenchmarkOld-8 10 5 ns/op\n")
	after := lines(t, "cpu: AMD EPYC\npkg: example.org/relay\n"+
		"BenchmarkRelay-8 1000 61000 ns/op 640 B/op 3 decodes/op\nBenchmarkRelay-8 1000 61500 ns/op 640 B/op 3 decodes/op\nBenchmarkNew-8 10 5 ns/op\n")
	return Compare(before, after, Options{})
}

func TestGolden(t *testing.T) {
	invalid := edit(fixture(2), verdict.Macro, extraHash)
	invalid.Invalid, invalid.Verified = []verdict.Invalid{{Scenario: "micro_run3", Path: "zerocopy", Number: 3, Reason: "1 of 1000 messages was lost"}}, false
	for name, c := range map[string]Comparison{
		"regression": regression(8),
		"few":        regression(2),
		"same":       Compare(record(fixture(8)), record(fixture(8)), Options{}),
		"theirs":     theirs(t),
		"invalid":    Compare(record(fixture(2)), record(invalid), Options{StrictTimes: true}),
	} {
		for format := range writers {
			if format == "txt" || format == "md" || name == "theirs" {
				equal(t, name+"."+format, written(t, format, c))
			}
		}
		for line := range strings.Lines(string(written(t, "txt", c))) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 && strings.HasPrefix(line, "  ") {
				t.Errorf("%s.txt: a line of a table has %d columns: %s", name, n, line)
			}
		}
	}
}

// The order of what a reviewer reads is the same everywhere.
func TestReadingOrder(t *testing.T) {
	c := regression(8)
	for format, marks := range map[string][]string{
		"txt":  {"Verdict: WORSE, exit code 1", "WORSE: macro zerocopy B archive.archive +1.000", "Correctness", "What a message costs", "Time: median"},
		"md":   {"### WORSE, exit code 1", "WORSE**: macro zerocopy B archive.archive +1.000", "Correctness", "What a message costs", "Time: median", "<details>", "Reproduce"},
		"csv":  {"section,scenario,path,", "\nverdict,", ",WORSE,", "\ncause,macro,zerocopy,B,archive.archive,", "\ncorrectness,", "\nsummary,", "\ntime,", ",archive.archive,hashes/msg,count,", ",relay.validator,decodes/msg,count,"},
		"json": {`"verdict": "WORSE"`, `"causes"`, `"before"`, `"summary"`, `"rows"`},
	} {
		text, at := string(written(t, format, c)), 0
		for _, mark := range marks {
			i := strings.Index(text[at:], mark)
			if i < 0 {
				t.Errorf("%s: %q is missing or too early", format, mark)
				break
			}
			at += i
		}
	}
}

// golang/go#14313 and dotnet/BenchmarkDotNet#1168: a unit of its own column, names
// that need quotes, and a point in any locale.
func TestCSVReadsBack(t *testing.T) {
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	names := []string{`a,b`, `say "x"`, "two\nlines", ` space `, "ä;1,5", `\.`}
	var before, after verdict.Record
	for i, name := range names {
		at := verdict.Place{Scenario: name, Path: name, Node: verdict.RoleAll}
		m := verdict.Metric{Name: "decodes/op"}
		before.Figures = append(before.Figures, verdict.Figure{Place: at, Metric: m, Run: 1, Value: 1234.5, Known: true})
		after.Figures = append(after.Figures, verdict.Figure{Place: at, Metric: m, Run: 1, Value: 1234.5 + float64(i), Known: true})
	}
	records, err := csv.NewReader(bytes.NewReader(written(t, "csv", Compare(before, after, Options{})))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(records[0], Header()) {
		t.Fatalf("header %q", records[0])
	}
	column := func(name string) int { return slices.Index(Header(), name) }
	var got, causes []string
	for _, r := range records[1:] {
		if r[0] == sectionCause {
			causes = append(causes, r[column("scenario")])
		}
		if r[0] != sectionSummary && r[0] != sectionFigure {
			continue
		}
		if r[column("before")] != "1234.5" || r[column("unit")] != "decodes/op" || r[column("path")] != r[column("scenario")] {
			t.Errorf("row %q", r)
		}
		got = append(got, r[column("scenario")])
	}
	slices.Sort(got)
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("names %q, want %q", got, names)
	}
	slices.Sort(causes)
	if want := slices.DeleteFunc(names, func(name string) bool { return name == "a,b" }); !slices.Equal(causes, want) { // it has not changed
		t.Errorf("causes of %q, want %q", causes, want)
	}
}

// Each figure has one line, whatever sections could show it.
func TestCSVHasEachFigureOnce(t *testing.T) {
	for name, c := range map[string]Comparison{"regression": regression(8), "theirs": theirs(t)} {
		records, err := csv.NewReader(bytes.NewReader(written(t, "csv", c))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]int)
		for _, r := range records[1:] {
			if slices.Contains([]string{sectionSummary, sectionTime, sectionFigure}, r[0]) {
				got[strings.Join(r[1:6], ",")]++
			}
		}
		for _, r := range c.Rows {
			if key := strings.Join([]string{r.Scenario, r.Path, r.Node, r.Site, r.Unit}, ","); got[key] != 1 {
				t.Errorf("%s: %s has %d lines", name, key, got[key])
			}
		}
		if len(got) != len(c.Rows) {
			t.Errorf("%s: %d figures in the CSV, %d compared", name, len(got), len(c.Rows))
		}
	}
}

// A unit that a benchmark reports itself is kept, with its unit.
func TestReportedMetric(t *testing.T) {
	r := lines(t, "BenchmarkA-2 10 3 decodes/op 1.5 things\n")
	text := string(written(t, "csv", Compare(r, r, Options{})))
	for _, want := range []string{"A,,all,,decodes/op,count,false,3,3,0,0,same", "A,,all,,things,time,false,1.5,1.5,0,0,"} {
		if !strings.Contains(text, want) {
			t.Errorf("the CSV lacks %q:\n%s", want, text)
		}
	}
}

// A name cannot break out of a table, a list or a block of code.
func TestMarkdownEscapes(t *testing.T) {
	r := edit(fixture(2), verdict.Macro, func(run *verdict.Run) { run.Path = "a|b<script>\n# c" })
	r.Environment.CommandLine = []string{"x", "```\nrm", "it's"}
	worse := edit(fixture(2), verdict.Macro, func(run *verdict.Run) { run.Path = "a|b<script>\n# c"; extraHash(run) })
	text := string(written(t, "md", Compare(record(r), record(worse), Options{})))
	for _, bad := range []string{"<script>", "\n# c", "|b<"} {
		if strings.Contains(text, bad) {
			t.Errorf("the Markdown has %q", bad)
		}
	}
	if !strings.Contains(text, "````sh") || !strings.Contains(text, `'it'\''s'`) {
		t.Error("the block to paste is not quoted")
	}
}

func TestJSONIsTheComparison(t *testing.T) {
	c := regression(2)
	var document struct {
		Kind    string `json:"kind"`
		Version int    `json:"schemaVersion"`
		Comparison
	}
	in := json.NewDecoder(bytes.NewReader(written(t, "json", c)))
	in.DisallowUnknownFields()
	if err := in.Decode(&document); err != nil {
		t.Fatal(err)
	}
	if document.Kind != Kind || document.Version != Version || len(document.Rows) != len(c.Rows) || ExitCode(document.Comparison) != c.ExitCode {
		t.Errorf("%s %d, %d rows, exit code %d", document.Kind, document.Version, len(document.Rows), ExitCode(document.Comparison))
	}
	for format := range writers { // and all that the other formats need
		if !bytes.Equal(written(t, format, document.Comparison), written(t, format, c)) {
			t.Errorf("%s of what was read back differs", format)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	for format, write := range writers {
		if err := write(brokenPipe{}, regression(1)); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v, want %v", format, err, errBroken)
		}
	}
}

var errBroken = errors.New("broken pipe")

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestChangeText(t *testing.T) {
	for _, tt := range []struct {
		unit  string
		delta float64
		want  string
	}{
		{"hashes/msg", 1, "+1.000 hash/msg"},
		{"id-hashes/msg", -2, "-2.000 id hash/msg"},
		{"hashed-B/msg", 65_000, "+65.00 MB/1000 msg"},
		{"hashed-B/msg", -30, "-0.03 MB/1000 msg"},
		{"decodes/run", 1000, "+1000.000 decode/run"},
		{"decoded-B/run", -65e6, "-65.00 MB/run"},
		{"copies/op", 0.5, "+0.500 copy/op"},
		{"allocs/op", 2, "+2.000 allocs/op"},
		{"hits", -1, "-1.000 hits"},
	} {
		if got := changeText(tt.delta, verdict.Metric{Name: tt.unit, Class: verdict.Count}); got != tt.want {
			t.Errorf("changeText(%v, %s) = %q, want %q", tt.delta, tt.unit, got, tt.want)
		}
	}
}

func TestQuantity(t *testing.T) {
	for _, tt := range []struct {
		v           float64
		unit, class string
		want        string
	}{
		{3, "decodes/msg", "count", "3.000"},
		{601_400, "B/msg", "memory", "601.4 kB"},
		{999_960, "B/msg", "memory", "1.00 MB"},
		{-1_540_000, "live-heap-B", "memory", "-1.54 MB"},
		{641_375, "p50-ns/msg", "time", "641.4 µs"},
		{4.2e9, "ns/op", "time", "4.20 s"},
		{1206.9, "msg/s", "time", "1207"},
		{0, "msg/s", "time", "0.00"},
		{0.012, "things", "time", "0.012"},
	} {
		if got := quantity(&tt.v, tt.unit, tt.class); got != tt.want {
			t.Errorf("quantity(%v, %s) = %q, want %q", tt.v, tt.unit, got, tt.want)
		}
	}
	if got := quantity(nil, "msg/s", "time"); got != "n/a" {
		t.Errorf("quantity(nil) = %q", got)
	}
}

// What follows from a site is not told again of its node and its roles.
func TestTotalsAreNotRepeated(t *testing.T) {
	after := edit(fixture(2), verdict.Macro, func(run *verdict.Run) {
		run.Nodes[0].Sites = append(run.Nodes[0].Sites, event("relay.handler", "copy", 1))
		run.Nodes[1].Sites = append(run.Nodes[1].Sites, event("relay.handler", "copy", 2))
	})
	c := Compare(record(fixture(2)), record(after), Options{})
	wantCauses(t, c,
		"WORSE: macro zerocopy A relay.handler +1.000 copy/msg, +65.00 MB/1000 msg",
		"WORSE: macro zerocopy B relay.handler +2.000 copy/msg, +130.00 MB/1000 msg")
}

// Ten lines of one site do not hide the rest of the verdict.
func TestManyLines(t *testing.T) {
	c := Cause{Kind: CauseWorse, Site: "s", Text: "+1", Lines: []string{"a:1", "b:2", "c:3", "d:4", "e:5"}}
	if got, want := c.String(), "WORSE: s +1, a:1, b:2, c:3 and 2 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The lines of a rise are those that are new, of a fall those that are gone.
func TestLinesOfAChange(t *testing.T) {
	at := func(lines ...string) []counters.SiteLines {
		return []counters.SiteLines{{Site: "relay.envelope", Event: "hash", At: lines}}
	}
	of := func(n uint64, lines ...string) verdict.Record {
		return record(edit(fixture(1), verdict.Micro, func(run *verdict.Run) {
			run.Nodes[0].Sites[0], run.Nodes[0].Lines = event("relay.envelope", "hash", n), at(lines...)
		}))
	}
	one, two := of(1, "a.go:1"), of(2, "a.go:1", "b.go:2")
	for name, c := range map[string]Comparison{"rise": Compare(one, two, Options{}), "fall": Compare(two, one, Options{})} {
		if len(c.Causes) != 1 || !slices.Equal(c.Causes[0].Lines, []string{"b.go:2"}) {
			t.Errorf("%s: %+v, want b.go:2", name, c.Causes)
		}
	}
	if c := Compare(one, of(2, "a.go:1"), Options{}); !slices.Equal(c.Causes[0].Lines, []string{"a.go:1"}) {
		t.Errorf("the same line twice: %+v", c.Causes)
	}
}

// What the files tell of each side's runs.
func TestSideTexts(t *testing.T) {
	some := edit(fixture(1), verdict.Macro, func(run *verdict.Run) { run.Path, run.ViewsChecked = "raw", 0 })
	none := fixture(1)
	for i := range none.Runs {
		none.Runs[i].ViewsChecked = 0
	}
	for name, tt := range map[string]struct {
		of   verdict.Record
		want []string
	}{
		"all":     {record(fixture(1)), []string{"2000 of 2000 published", "in 2 of 2 runs", "32 messages unaltered", "none"}},
		"some":    {record(some), []string{"2000 of 2000 published", "in 2 of 2 runs", "16 messages unaltered; not on raw", "none"}},
		"none":    {record(none), []string{"2000 of 2000 published", "in 2 of 2 runs", "did not run", "none"}},
		"unknown": {file(t, "logos-step1.csv"), []string{unsaid, unsaid, unsaid, unsaid}},
	} {
		s := sideOf(Before, tt.of)
		if got := []string{s.delivered(), s.hashesEqual(), s.aliasing(), s.invalidRuns()}; !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestCommand(t *testing.T) {
	c := Comparison{Before: Side{Files: []string{"a b", "c"}}, After: Side{Files: []string{"d", "e", "f"}}, StrictTimes: true}
	want := "msgpath diff 'a b' d --before c --after e --after f --strict-times"
	if got := c.command(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestInterval(t *testing.T) {
	s := Sample{Low: finite(9.87e5), Median: finite(1.2345e6), High: finite(12.3e6)}
	r := Row{Unit: "ns/op", Class: "time"}
	if got, want := interval(s, r), "1.23 [0.99, 12.3] ms"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.Low = nil
	if got, want := interval(s, r), "1.23 ms"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Sides that one command made are made again by that command alone.
func TestMadeByOneCommand(t *testing.T) {
	c := Compare(record(fixture(8)), record(fixture(8)), Options{MadeBy: []string{"bin/msgpath bench-diff a b"}})
	var text bytes.Buffer
	if err := WriteMarkdown(&text, c); err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(text.String(), "#### Reproduce")
	if want := "\n\n```sh\nbin/msgpath bench-diff a b\n```\n"; block != want {
		t.Errorf("block is %q, want %q", block, want)
	}
}
