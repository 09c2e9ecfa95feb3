package verdict

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

func TestWriteBench(t *testing.T) {
	for name, r := range map[string]Result{
		"bench.txt": fixture(), "uncounted.txt": uncounted(), "invalid.txt": withInvalid(),
	} {
		equal(t, name, written(t, func(b *bytes.Buffer) error { return WriteBench(b, r) }))
	}
}

// readBench parses Go benchmark lines and refuses what benchstat would skip.
func readBench(t *testing.T, text []byte) ([]*benchfmt.Result, benchfmt.UnitMetadataMap) {
	t.Helper()
	var results []*benchfmt.Result
	in := benchfmt.NewReader(bytes.NewReader(text), "bench.txt")
	for in.Scan() {
		switch record := in.Result().(type) {
		case *benchfmt.Result:
			results = append(results, record.Clone())
		case *benchfmt.SyntaxError:
			t.Error(record)
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return results, in.Units()
}

func TestBenchLinesReadBack(t *testing.T) {
	r := fixture()
	results, _ := readBench(t, written(t, func(b *bytes.Buffer) error { return WriteBench(b, r) }))
	rows := slices.DeleteFunc(Rows(r), func(row Row) bool { return row.Role != RoleAll && row.Decodes == nil })
	if len(results) != len(rows) {
		t.Fatalf("%d lines for %d rows", len(results), len(rows))
	}
	path := projection(t, "/path")
	for i, row := range rows {
		if got := path.Project(results[i]).String(); got != "/path:"+row.Path {
			t.Errorf("line %d: projects to %s, want path %s", i, got, row.Path)
		}
		if results[i].Iters != messages || results[i].GetConfig("cpu") != r.Environment.CPU {
			t.Errorf("line %d: %d iterations on %q", i, results[i].Iters, results[i].GetConfig("cpu"))
		}
		if row.Role != RoleAll {
			row.MessagesPerSecond, row.LatencyP99 = nil, nil // of the run
		}
		for unit, want := range map[string]*float64{
			"decodes/msg": row.Decodes, "hashes/msg": row.Hashes, "id-hashes/msg": row.IDHashes,
			"encodes/msg": row.Encodes, "msg/s": row.MessagesPerSecond, "cpu-ns/msg": row.CPUNanos,
			"allocs/msg": row.Allocs, "latency-p99-ns": row.LatencyP99,
		} {
			sameValue(t, results[i], unit, want)
		}
		sameValue(t, results[i], "hashed-B/msg", perMessageBytes(row.HashedMB))
		sameValue(t, results[i], "decoded-B/msg", perMessageBytes(row.DecodedMB))
		sameValue(t, results[i], "copied-B/msg", perMessageBytes(row.CopiedMB))
		sameValue(t, results[i], "B/msg", perMessageBytes(row.AllocMB))
	}
}

func projection(t *testing.T, by string) *benchproc.Projection {
	t.Helper()
	filter, err := benchproc.NewFilter("*")
	if err != nil {
		t.Fatal(err)
	}
	p, err := new(benchproc.ProjectionParser).Parse(by, filter)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func perMessageBytes(megabytes *float64) *float64 {
	if megabytes == nil {
		return nil
	}
	return known(*megabytes * megabyte / messages)
}

// sameValue compares a metric of a line, which a reader has in base units, with
// a figure of a row. A figure that is n/a must not be in the line.
func sameValue(t *testing.T, line *benchfmt.Result, unit string, want *float64) {
	t.Helper()
	factor, base := benchunit.Tidy(1, unit)
	got, ok := line.Value(base)
	switch {
	case ok != (want != nil):
		t.Errorf("%s: has %s: %t, want %t", line.Name, unit, ok, want != nil)
	case ok && math.Abs(got-*want*factor) > 1e-12*math.Abs(got):
		t.Errorf("%s: %s is %v, want %v", line.Name, unit, got/factor, *want)
	}
}

func TestBenchUnits(t *testing.T) {
	_, units := readBench(t, written(t, func(b *bytes.Buffer) error { return WriteBench(b, fixture()) }))
	exact := []string{
		"decodes/msg", "hashes/msg", "id-hashes/msg", "encodes/msg", "copies/msg", "copied-B/msg",
		"decoded-B/msg", "hashed-B/msg", "id-hashed-B/msg", "encoded-B/msg",
	}
	for _, m := range metrics {
		if m.open {
			continue
		}
		want := benchmath.Assumption(benchmath.AssumeNothing)
		if slices.Contains(exact, m.Name) {
			want = benchmath.AssumeExact
		}
		if got := units.GetAssumption(m.Name); got != want {
			t.Errorf("%s: assumption %s, want %s", m.Name, got.SummaryLabel(), want.SummaryLabel())
		}
		better := -1
		if m.Name == "msg/s" {
			better = 1
		}
		if got := units.GetBetter(m.Name); got != better {
			t.Errorf("%s: better is %d, want %d", m.Name, got, better)
		}
	}
}

func TestUncountedBenchLinesHaveNoCounts(t *testing.T) {
	results, _ := readBench(t, written(t, func(b *bytes.Buffer) error { return WriteBench(b, uncounted()) }))
	for _, line := range results {
		for _, m := range metrics {
			if _, ok := line.Value(m.Name); ok && (m.Class == Count) {
				t.Errorf("%s has %s", line.Name, m.Name)
			}
		}
		if _, ok := line.Value("msg/s"); !ok {
			t.Errorf("%s has no msg/s", line.Name)
		}
	}
}

func TestWriteBenchRefusesNames(t *testing.T) {
	for _, name := range []string{"a b", "a/b", "two\nlines", "\xff"} {
		r := fixture()
		r.Runs[0].Path = name
		var buf bytes.Buffer
		wantError(t, WriteBench(&buf, r), "verdict: write benchmark lines", "cannot be part of a benchmark name")
	}
}

func TestBenchConfigStaysOnOneLine(t *testing.T) {
	r := fixture()
	r.Environment.CPU, r.Environment.Commit = "AMD\nEPYC  7", ""
	results, _ := readBench(t, written(t, func(b *bytes.Buffer) error { return WriteBench(b, r) }))
	if got := results[0].GetConfig("cpu"); got != "AMD EPYC 7" {
		t.Errorf("cpu is %q", got)
	}
	if _, ok := results[0].ConfigIndex("commit"); ok {
		t.Error("an unknown commit has a line")
	}
}
