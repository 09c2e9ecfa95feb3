package diff

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/internal/golden"
	"github.com/msgpath/msgpath/verdict"
)

// equal compares got with testdata/name.
func equal(t *testing.T, name string, got []byte) {
	t.Helper()
	golden.Equal(t, filepath.Join("testdata", name), got)
}

const messages = 1000

// event is so many of one kind of event for each message, of 65 kB each.
func event(site, kind string, n uint64) counters.SiteCounts {
	s := counters.SiteCounts{Site: site}
	number, bytes := n*messages, n*messages*65_000
	switch kind {
	case "decode":
		s.Decodes, s.DecodedBytes = number, bytes
	case "hash":
		s.Hashes, s.HashedBytes = number, bytes
	case "copy":
		s.Copies, s.CopiedBytes = number, bytes
	}
	return s
}

// jitter is what a run's times are multiplied with, so that runs differ by up to
// 2 % and odd runs are like even ones.
var jitter = []float64{1.000, 1.004, 0.992, 1.009, 1.012, 0.995, 0.989, 1.001, 1.006, 0.998}

func oneRun(scenario, path string, number int, nodes ...verdict.Node) verdict.Run {
	wobble := jitter[(number-1)%len(jitter)]
	return verdict.Run{
		Scenario: verdict.RunName(scenario, number), Path: path, Number: number, Messages: messages,
		WallNanos: int64(400e6 * wobble), NanosPerP50: 300_000, NanosPerP99: 900_000, CPUNanos: int64(450e6 * wobble),
		LiveDelta: 14_000_000, AllocBytes: uint64(20e6 * wobble), Allocs: 30_000, PeakHeap: 38_000_000,
		Published: messages, Verified: true, ViewsChecked: 16, Nodes: nodes,
	}
}

func microNode() verdict.Node {
	return verdict.Node{
		Name: "node", Role: verdict.RoleAll, Delivered: messages,
		Sites: []counters.SiteCounts{event("relay.envelope", "hash", 1), event("relay.validator", "decode", 1)},
		Lines: []counters.SiteLines{
			{Site: "relay.envelope", Event: "hash", At: []string{"relay/dispatch.go:25"}},
			{Site: "relay.validator", Event: "decode", At: []string{"relay/validate.go:67"}},
		},
	}
}

func macroNodes() []verdict.Node {
	a := verdict.Node{
		Name: "A", Role: verdict.RolePublisher, Delivered: messages,
		Sites: []counters.SiteCounts{event("relay.publish", "hash", 1)},
		Lines: []counters.SiteLines{{Site: "relay.publish", Event: "hash", At: []string{"relay/publish.go:49"}}},
	}
	b := microNode()
	b.Name, b.Role = "B", verdict.RoleReceiver
	return []verdict.Node{a, b}
}

// fixture returns a result of so many runs of micro and macro on one path.
func fixture(runs int) verdict.Result {
	r := verdict.Result{
		Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion, MeasuredAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Environment: verdict.Environment{
			Go: "go1.26.6", GOOS: "linux", GOARCH: "amd64", CPU: "AMD EPYC", Cores: 2, GOMAXPROCS: 2,
			Tags: []string{"msgpathcounters"}, Counting: true, Commit: "0123456789abcdef", Branch: "main",
			Sites:       []string{"archive.archive", "relay.envelope", "relay.handler", "relay.publish", "relay.validator"},
			CommandLine: []string{"msgpath", "bench", "all", "--path", "zerocopy"}, GOGC: "100", GOMEMLIMIT: "off",
		},
		Settings: verdict.Settings{
			Messages: messages, Seed: 42, Profile: "65kB@100", PayloadBytes: 65_000_000, Window: 32, Runs: runs,
			Hash: "blake3", Archive: "memory", Paths: []string{"zerocopy"}, Scenarios: []string{verdict.Micro, verdict.Macro},
		},
		Verified: true,
	}
	for n := 1; n <= runs; n++ {
		r.Runs = append(r.Runs, oneRun(verdict.Micro, "zerocopy", n, microNode()))
	}
	for n := 1; n <= runs; n++ {
		r.Runs = append(r.Runs, oneRun(verdict.Macro, "zerocopy", n, macroNodes()...))
	}
	return r
}

// edit changes each run of a scenario.
func edit(r verdict.Result, scenario string, change func(*verdict.Run)) verdict.Result {
	for i := range r.Runs {
		if verdict.Series(r.Runs[i].Scenario) == scenario {
			change(&r.Runs[i])
		}
	}
	return r
}

// extraHash hashes once more at a site of node B that did not count before.
func extraHash(run *verdict.Run) {
	b := &run.Nodes[1]
	b.Sites = append(b.Sites, event("archive.archive", "hash", 1))
	b.Lines = append(b.Lines, counters.SiteLines{Site: "archive.archive", Event: "hash", At: []string{"archive/commit.go:88"}})
}

func record(r verdict.Result) verdict.Record { return verdict.NewRecord("bench.json", r) }

// lines returns a record of lines of any format, as of Go benchmarks.
func lines(t *testing.T, text string) verdict.Record {
	t.Helper()
	r, err := verdict.ReadRecord("bench.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func file(t *testing.T, name string) verdict.Record {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := verdict.ReadRecord(name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// row returns the row of a unit at a place, as "macro zerocopy B archive.archive";
// "-" stands for an empty part.
func row(t *testing.T, c Comparison, place, unit string) Row {
	t.Helper()
	parts := append(strings.Fields(place), "", "", "")
	for i := range parts {
		parts[i] = strings.TrimPrefix(parts[i], "-")
	}
	at := verdict.Place{Scenario: parts[0], Path: parts[1], Node: parts[2], Site: parts[3]}
	for _, r := range c.Rows {
		if r.Place() == at && r.Unit == unit {
			return r
		}
	}
	t.Fatalf("no row of %s at %+v", unit, at)
	return Row{}
}

// causeStrings returns the causes in one line each.
func causeStrings(c Comparison) (all []string) {
	for _, cause := range c.Causes {
		all = append(all, cause.String())
	}
	return all
}

func wantCauses(t *testing.T, c Comparison, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, causeStrings(c)); diff != "" {
		t.Errorf("causes differ (-want +got):\n%s", diff)
	}
}

var writers = map[string]func(io.Writer, Comparison) error{
	"txt": WriteText, "md": WriteMarkdown, "csv": WriteCSV, "json": WriteJSON,
}

func written(t *testing.T, format string, c Comparison) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writers[format](&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
