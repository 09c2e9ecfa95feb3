package verdict

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// record reads a document.
func record(t *testing.T, name, text string) Record {
	t.Helper()
	r, err := ReadRecord(name, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fileRecord(t *testing.T, name string) Record {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return record(t, name, string(data))
}

func jsonOf(t *testing.T, r Result) string {
	t.Helper()
	return string(written(t, func(b *bytes.Buffer) error { return WriteJSON(b, r) }))
}

// figuresOf returns the figures of a metric at a place, by run.
func figuresOf(r Record, at Place, metric string) (all []Figure) {
	for _, f := range r.Figures {
		if f.Place == at && f.Metric.Name == metric {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b Figure) int { return a.Run - b.Run })
	return all
}

// Every format of one result says the same of what it has.
func TestFormatsAgree(t *testing.T) {
	result := fixture()
	want := NewRecord("bench.json", result)
	seen := make(map[string]int)
	for name, format := range map[string]string{
		"bench.csv": FormatCSV, "bench.txt": FormatBench, "sites.csv": FormatSites,
	} {
		got := fileRecord(t, name)
		if got.Format != format {
			t.Errorf("%s: format %q, want %q", name, got.Format, format)
		}
		if format == FormatSites {
			merged, err := Merge(got, Record{Files: []string{"messages"}, Rows: Rows(result)})
			if err != nil {
				t.Fatal(err)
			}
			got = merged
		}
		for _, f := range got.Figures {
			if !f.Known {
				continue
			}
			i := slices.IndexFunc(figuresOf(want, f.Place, f.Metric.Name), func(w Figure) bool { return w.Run == f.Run })
			if i < 0 {
				t.Errorf("%s: %+v is not in the JSON", name, f)
				continue
			}
			w := figuresOf(want, f.Place, f.Metric.Name)[i]
			if w.Metric != f.Metric || math.Abs(w.Value-f.Value) > f.Rounding+1e-9*math.Abs(w.Value) {
				t.Errorf("%s: %+v, the JSON has %+v", name, f, w)
			}
			seen[name]++
		}
	}
	compared := map[string]int{
		"bench.csv": 12*19 + 2*(19-10) + 12*8,  // counted runs, runs of theirs, rows of one role
		"bench.txt": 12*22 + 2*(22-13) + 12*10, // encoded and copied counts, unexplained bytes
		"sites.csv": (6 + 12) * (1 + 10) * 10,  // nodes, their sum and sites, totals
	}
	if !maps.Equal(seen, compared) {
		t.Errorf("compared %v figures, want %v", seen, compared)
	}
}

func TestReadSeedCSV(t *testing.T) {
	r := fileRecord(t, "seed.csv")
	if r.Format != FormatSeedCSV {
		t.Fatalf("format %q", r.Format)
	}
	micro := figuresOf(r, Place{Micro, "", RoleAll, ""}, "hashed-B/msg")
	if len(micro) != 2 || micro[0].Run != 1 || micro[1].Run != 2 {
		t.Fatalf("micro has %+v, want runs 1 and 2", micro)
	}
	if got, want := micro[0].Rounding, 5.0; math.Abs(got-want) > 1e-9 { // 0.005 MB of 1000 messages
		t.Errorf("rounding of hashed_MB is %v B/msg, want %v", got, want)
	}
	if got := figuresOf(r, Place{Macro, "", RoleAll, ""}, "decodes/msg"); len(got) != 1 || got[0].Value != 6 || got[0].Rounding != 0 {
		t.Errorf("decodes of macro: %+v", got)
	}
	if got := figuresOf(r, Place{Macro, "", RoleAll, ""}, "encodes/msg"); len(got) != 0 {
		t.Errorf("a column that the file lacks has figures: %+v", got)
	}
	if profile, agreed := r.Condition("profile"); profile != "10/50/150kB@25/50/25" || !agreed {
		t.Errorf("profile %q, %t", profile, agreed)
	}
}

func TestReadUncounted(t *testing.T) {
	zero := fixture()
	for i := range zero.Runs {
		for n := range zero.Runs[i].Nodes {
			for s := range zero.Runs[i].Nodes[n].Sites {
				zero.Runs[i].Nodes[n].Sites[s].Counts = at("", 0, 0, 0, 0, 0).Counts
			}
		}
	}
	documents := map[string]string{
		"zero.csv":       string(written(t, func(b *bytes.Buffer) error { return WriteCSV(b, zero) })),
		"zero.txt":       string(written(t, func(b *bytes.Buffer) error { return WriteBench(b, zero) })),
		"zero.sites.csv": string(written(t, func(b *bytes.Buffer) error { return WriteSites(b, zero) })),
		"zero.json":      jsonOf(t, zero),
	}
	for _, name := range []string{"uncounted.csv", "uncounted-sites.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		documents[name] = string(data)
	}
	for name, text := range documents {
		counts := 0
		for _, f := range record(t, name, text).Figures {
			if f.Metric.Class != Count {
				continue
			}
			counts++
			if f.Known || f.Value != 0 {
				t.Fatalf("%s: %+v is known", name, f)
			}
		}
		if counts == 0 {
			t.Errorf("%s has no counts, want n/a", name)
		}
	}
}

func TestReadBenchLines(t *testing.T) {
	const text = `goos: linux
cpu: AMD EPYC
pkg: example.org/a
Unit allocs/op assume=exact
Unit score better=higher
BenchmarkFoo/sub=x-8   	 10	 3 decodes/op	 1500 ns/op	 12.5 MB/s	 64 B/op	 2 allocs/op	 7 score	 9 things
BenchmarkFoo/sub=x-8   	 10	 3 decodes/op	 1400 ns/op
BenchmarkBar-8   	 10	 0 hashes/op
--- SKIP: BenchmarkBaz
PASS
`
	r := record(t, "theirs.txt", text)
	foo, bar := Place{"Foo/sub=x", "", RoleAll, ""}, Place{"Bar", "", RoleAll, ""}
	want := []Figure{
		{foo, Metric{"decodes/op", Count, false}, 1, 3, true, 0},
		{foo, Metric{"ns/op", Time, false}, 1, 1500, true, 0},
		{foo, Metric{"MB/s", Time, true}, 1, 12.5, true, 0},
		{foo, Metric{"B/op", Memory, false}, 1, 64, true, 0},
		{foo, Metric{"allocs/op", Count, false}, 1, 2, true, 0},
		{foo, Metric{"score", Time, true}, 1, 7, true, 0},
		{foo, Metric{"things", Time, false}, 1, 9, true, 0},
		{foo, Metric{"decodes/op", Count, false}, 2, 3, true, 0},
		{foo, Metric{"ns/op", Time, false}, 2, 1400, true, 0},
		{bar, Metric{"hashes/op", Count, false}, 1, 0, true, 0}, // theirs may be 0
	}
	if diff := cmp.Diff(want, r.Figures); diff != "" {
		t.Errorf("figures differ (-want +got):\n%s", diff)
	}
	conditions := []map[string]string{{"goos": "linux", "cpu": "AMD EPYC", "gomaxprocs": "8"}}
	if diff := cmp.Diff(conditions, r.Conditions); diff != "" {
		t.Errorf("conditions differ (-want +got):\n%s", diff)
	}
	if notes := []string{"theirs.txt:9: SKIP: BenchmarkBaz"}; !slices.Equal(r.Notes, notes) {
		t.Errorf("notes %q, want %q", r.Notes, notes)
	}
}

// Names that would make two things samples of one are told apart.
func TestBenchNames(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"several numbers of cores":       {"BenchmarkA-2 1 5 ns/op\nBenchmarkA-4 1 5 ns/op\n", []string{"A-2", "A-4"}},
		"one core, a name with a number": {"BenchmarkA 1 5 ns/op\nBenchmarkB/x-8 1 5 ns/op\n", []string{"A", "B/x-8"}},
		"several packages": {
			"pkg: a\nBenchmarkA-2 1 5 ns/op\nBenchmarkB-2 1 5 ns/op\npkg: b\nBenchmarkA-2 1 5 ns/op\n",
			[]string{"a.A", "B", "b.A"},
		},
		"ours":      {"BenchmarkMacro/path=zerocopy/role=all-8 1 5 ns/op\n", []string{"macro"}},
		"half ours": {"BenchmarkMacro/path=zerocopy/role=x 1 5 ns/op\n", []string{"Macro/path=zerocopy/role=x"}},
	} {
		var got []string
		for _, f := range record(t, name, tt.text).Figures {
			got = append(got, f.Scenario)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: scenarios %q, want %q", name, got, tt.want)
		}
	}
}

// golang/go#14313: nothing without a unit, and a decimal point in any locale.
func TestReadRecordRefuses(t *testing.T) {
	header := strings.Join(SeedHeader(), ",")
	const values = ",100,p,1.0,1.0,1,1,1.000,1.000,1.00,1.00,0.00,0\n"
	for name, tt := range map[string]struct{ text, want string }{
		"empty":               {"", "line 1"},
		"a picture":           {"\x89PNG\r\n", "line 1"},
		"no unit at the end":  {"BenchmarkA 10 3 decodes/op 5\n", "line 1: missing units"},
		"no unit":             {"goos: linux\nBenchmarkA 10 3 5 ns/op\n", "line 2: parsing measurement"},
		"a number for a unit": {"BenchmarkA 10 3 5\n", "line 1: BenchmarkA: a value has no unit: 3 is followed by 5"},
		"a decimal comma":     {"BenchmarkA 10 1,5 ns/op\n", "line 1: parsing measurement"},
		"not a number":        {"BenchmarkA 10 NaN ns/op\n", "line 1: BenchmarkA: NaN ns/op"},
		"no result":           {"Unit x assume=exact\n", "no Go benchmark line"},
		"a row twice":         {header + "\nmacro" + values + "macro" + values, "row 2: macro"},
		"a broken row":        {header + "\nmacro,x" + values, "line 2"},
		"too large":           {header + "\nmacro,100,p," + strings.Repeat("9", 308) + ",1.0,1,1,1.000,1.000,1.00,1.00,0.00,0\n", "row 1: column wall_ms"},
		"another header":      {strings.Replace(header, "msgs", "messages", 1) + "\n", `"messages", want "msgs"`},
		"a site twice":        {strings.Join(SitesHeader(), ",") + strings.Repeat("\nmacro,p,A,s,1,1,1,1,1,1,1,1,1,1", 2), "row 2: macro"},
		"broken JSON":         {"{\n\"kind\": x\n}", "line 2"},
		"other JSON":          {"{\"kind\": \"other\"}", `kind is "other"`},
		"several JSON":        {"{\"Action\":\"output\"}\n{}\n", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadRecord("some.file", strings.NewReader(tt.text))
			wantError(t, err, "some.file", tt.want)
			if errors.Is(err, ErrInvalid) {
				t.Errorf("%v is ErrInvalid", err)
			}
		})
	}
}

func TestReadRecordInvalid(t *testing.T) {
	text := strings.Replace(jsonOf(t, fixture()), `"counting": true`, `"counting": false`, 1)
	if _, err := ReadRecord("bench.json", strings.NewReader(text)); !errors.Is(err, ErrInvalid) {
		t.Errorf("counts in a build that does not count: %v, want ErrInvalid", err)
	}
}

// A newer schema is read for comparing, and only for that.
func TestReadNewerSchema(t *testing.T) {
	text := strings.Replace(jsonOf(t, fixture()), `"schemaVersion": 2,`, `"schemaVersion": 3, "colour": "red",`, 1)
	r := record(t, "new.json", text)
	if diff := cmp.Diff(Figures(fixture()), r.Figures); diff != "" {
		t.Errorf("figures differ (-want +got):\n%s", diff)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "new.json has schema version 3") {
		t.Errorf("notes %q", r.Notes)
	}
	_, err := ReadJSON(strings.NewReader(text))
	wantError(t, err, "schema version is 3")
	_, err = ReadRecord("new.json", strings.NewReader(strings.Replace(text, `"counting": true`, `"counting": false`, 1)))
	if !errors.Is(err, ErrInvalid) {
		t.Errorf("a newer document that cannot be: %v, want ErrInvalid", err)
	}
	_, err = ReadRecord("new.json", strings.NewReader(strings.Replace(text, `"seed": 42`, `"seed": "x"`, 1)))
	wantError(t, err, "schema version 3", "document.settings.seed")
}

// What a newer schema calls otherwise is missing, not 0.
func TestReadNewerSchemaThatLacks(t *testing.T) {
	text := strings.Replace(jsonOf(t, fixture()), `"schemaVersion": 2,`, `"schemaVersion": 3,`, 1)
	for _, member := range []string{"decodes", "copiedBytes", "sites", "invalid", "viewsChecked", "messages"} {
		renamed := strings.ReplaceAll(text, `"`+member+`":`, `"`+member+`New":`)
		_, err := ReadRecord("new.json", strings.NewReader(renamed))
		if err == nil {
			t.Fatalf("without %s: no error", member)
		}
		wantError(t, err, "new.json", "schema version 3", member)
	}
	twice := strings.Replace(text, `"decodes":`, `"Decodes": 7, "decodes":`, 1)
	if diff := cmp.Diff(Figures(fixture()), record(t, "new.json", twice).Figures); diff != "" {
		t.Errorf("a member in another case counts (-want +got):\n%s", diff)
	}
}

// Decimals that tell the number of events make it exact, whatever their number.
func TestReadExactEvents(t *testing.T) {
	for _, tt := range []struct {
		messages        int
		text            string
		value, rounding float64
	}{
		{1000, "1.001", 1.001, 0},
		{3, "0.333", 1. / 3, 0},
		{1000, "2", 2, 0},             // zeros taken away
		{10_000, "1.000", 1, 0.0005},  // as many things may be meant
		{10_000, "1.0001", 1.0001, 0}, // as [WriteCSV] prints it
	} {
		row := make([]string, seedColumns)
		for i, c := range columns[:seedColumns] {
			row[i] = map[string]string{"scenario": "macro", "msgs": strconv.Itoa(tt.messages), "decodes_per_msg": tt.text}[c.name]
			if row[i] == "" {
				row[i] = "1"
			}
		}
		r := record(t, "x.csv", strings.Join(SeedHeader(), ",")+"\n"+strings.Join(row, ",")+"\n")
		got := figuresOf(r, Place{Macro, "", RoleAll, ""}, "decodes/msg")
		if len(got) != 1 || got[0].Value != tt.value || got[0].Rounding != tt.rounding {
			t.Errorf("%s of %d messages: %+v, want %v with rounding %v", tt.text, tt.messages, got, tt.value, tt.rounding)
		}
	}
}

// A number of events is read as it was written, whatever the number of messages.
func TestEventsSurviveCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := rapid.IntRange(1, 5_000_000).Draw(t, "messages")
		events := rapid.IntRange(0, 10*messages).Draw(t, "events")
		want := float64(events) / float64(messages)
		var b strings.Builder
		row := Row{Scenario: "macro", Profile: "1kB@100", Path: "p", Role: RoleAll, Run: 1, Messages: messages, Decodes: &want}
		if err := writeRows(&b, columns, []Row{row}); err != nil {
			t.Fatal(err)
		}
		r, err := ReadRecord("x.csv", strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		got := figuresOf(r, Place{Macro, "p", RoleAll, ""}, "decodes/msg")
		if known := events > 0; got[0].Known != known || known && (got[0].Value != want || got[0].Rounding != 0) {
			t.Fatalf("%d of %d: %+v, want %v exactly", events, messages, got[0], want)
		}
	})
}

// Of version 1, which has no declared sites, a site that another run counted is 0.
func TestUndeclaredSitesAreZero(t *testing.T) {
	r := NewRecord("bench.json", fixture())
	got := figuresOf(r, Place{Micro, "zerocopy", "node", "relay.on_recv"}, "decodes/msg")
	if len(got) != 2 || !got[0].Known || got[0].Value != 0 {
		t.Errorf("a site of another node: %+v, want 0 in two runs", got)
	}
}

func TestMerge(t *testing.T) {
	csv, lines, seed := fileRecord(t, "bench.csv"), fileRecord(t, "bench.txt"), fileRecord(t, "seed.csv")
	copied := csv
	copied.Files = []string{"copy.csv"}
	for name, tt := range map[string]struct {
		records []Record
		want    string
	}{
		"none":        {nil, "there are none"},
		"two formats": {[]Record{csv, lines}, "bench.csv and bench.txt say the same runs twice: give one"},
		"same name":   {[]Record{csv, csv}, "bench.csv is there twice"},
		"a copy":      {[]Record{csv, copied}, "bench.csv and copy.csv say the same runs twice"},
	} {
		_, err := Merge(tt.records...)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		wantError(t, err, tt.want)
	}
	both, err := Merge(csv, seed) // of other paths
	if err != nil {
		t.Fatal(err)
	}
	if len(both.Figures) != len(csv.Figures)+len(seed.Figures) || both.Format != "CSV + seed CSV" {
		t.Errorf("%d figures of format %q", len(both.Figures), both.Format)
	}
}

// Files of two runs may say the same time; a copy says all the same.
func TestMergeCopies(t *testing.T) {
	const once, again = "BenchmarkA-8 100 102.0 ns/op\nok example.org/a 1.2s\n", "BenchmarkA-8 100 102.0 ns/op\nok example.org/a 1.3s\n"
	const counts = "BenchmarkA-8 100 2.000 decodes/op\n"
	document := jsonOf(t, fixture())
	later := fixture()
	later.MeasuredAt = later.MeasuredAt.Add(1)
	for name, tt := range map[string]struct {
		a, b string
		copy bool
	}{
		"two runs of equal times":        {once, again, false},
		"lines, copied":                  {once, once, true},
		"two runs that count the same":   {counts, counts, false},
		"a document, copied":             {document, document, true},
		"a document, with another space": {document, document + "\n", true},
		"documents of two moments":       {document, jsonOf(t, later), false},
	} {
		t.Run(name, func(t *testing.T) {
			a := record(t, "a", tt.a)
			merged, err := Merge(a, record(t, "b", tt.b))
			if tt.copy {
				if err == nil {
					t.Fatal("no error")
				}
				wantError(t, err, "verdict: merge records: a and b say the same runs twice: give one")
				return
			}
			if err != nil || len(merged.Figures) != 2*len(a.Figures) {
				t.Errorf("%d figures (%v), want %d", len(merged.Figures), err, 2*len(a.Figures))
			}
		})
	}
}

// The runs of a second file of one format are further samples.
func TestMergeNumbersOn(t *testing.T) {
	later := fixture()
	for i := range later.Runs {
		later.Runs[i].WallNanos += 1000
	}
	merged, err := Merge(NewRecord("a.json", fixture()), NewRecord("b.json", later))
	if err != nil {
		t.Fatal(err)
	}
	var runs []int
	for _, f := range figuresOf(merged, Place{Macro, "zerocopy", "B", "relay.validator"}, "decodes/msg") {
		runs = append(runs, f.Run)
	}
	if want := []int{1, 2, 3, 4}; !slices.Equal(runs, want) {
		t.Errorf("runs %v, want %v", runs, want)
	}
}

func TestTotalsStayWithoutMessages(t *testing.T) {
	merged, err := Merge(fileRecord(t, "sites.csv"))
	if err != nil {
		t.Fatal(err)
	}
	got := figuresOf(merged, Place{Macro, "zerocopy", "B", "relay.validator"}, "decodes/run")
	if len(got) != 2 || got[0].Value != messages || len(merged.Notes) != 1 {
		t.Errorf("%+v, notes %q", got, merged.Notes)
	}
}

func FuzzReadRecord(f *testing.F) {
	for _, name := range []string{"bench.csv", "seed.csv", "sites.csv", "bench.txt", "v1.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 4000)])
	}
	f.Add([]byte("BenchmarkA-8 1 2 x 3 y\nUnit x assume=exact\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadRecord("file", bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, fig := range r.Figures {
			if !finite(fig.Value) || !finite(fig.Rounding) || fig.Run < 1 || fig.Metric.Name == "" || !fig.Known && fig.Value != 0 {
				t.Fatalf("%+v", fig)
			}
		}
	})
}

// The number of messages is also known from the lines of the same runs.
func TestMergeTotalsWithLines(t *testing.T) {
	merged, err := Merge(fileRecord(t, "sites.csv"), fileRecord(t, "bench.txt"))
	if err != nil {
		t.Fatal(err)
	}
	at := Place{Macro, "zerocopy", "B", "relay.validator"}
	if got := figuresOf(merged, at, "decodes/msg"); len(got) != 2 || got[0].Value != 1 {
		t.Errorf("%+v, want 1 decode a message in 2 runs", got)
	}
	if len(merged.Notes) != 0 {
		t.Errorf("notes %q", merged.Notes)
	}
	if got := messagesOf([]Record{{Rows: Rows(fixture())}, {Rows: []Row{{Scenario: "macro", Path: "zerocopy", Messages: 500}}}}, series{Macro, "zerocopy"}); got != 0 {
		t.Errorf("files that do not agree have %d messages, want none", got)
	}
}
