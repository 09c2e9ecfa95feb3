package verdict

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/internal/golden"
)

// equal compares got with testdata/name.
func equal(t *testing.T, name string, got []byte) {
	t.Helper()
	golden.Equal(t, filepath.Join("testdata", name), got)
}

const (
	messages      = 1000
	payloadBytes  = 65_000_000 // 250 x 10 kB, 500 x 50 kB, 250 x 150 kB
	overheadBytes = 53         // by which a message is longer than its payload
)

// at returns what a site does for each message of a run: so many decodes,
// copies, hashes, id hashes and encodes.
func at(site string, decodes, copies, hashes, idHashes, encodes uint64) counters.SiteCounts {
	const encoded = payloadBytes + overheadBytes*messages
	return counters.SiteCounts{Site: site, Counts: counters.Counts{
		Decodes: decodes * messages, DecodedBytes: decodes * encoded,
		Copies: copies * messages, CopiedBytes: copies * payloadBytes,
		Hashes: hashes * messages, HashedBytes: hashes * payloadBytes,
		IDHashes: idHashes * messages, IDHashedBytes: idHashes * encoded,
		Encodes: encodes * messages, EncodedBytes: encodes * encoded,
	}}
}

func microSites(path string) []counters.SiteCounts {
	switch path {
	case "baseline":
		return []counters.SiteCounts{
			at("archive.archive", 0, 0, 1, 0, 0), at("relay.handler", 1, 1, 0, 0, 0),
			at("relay.validator", 1, 1, 0, 0, 0), at("storesync.storesync", 0, 0, 1, 0, 0),
		}
	case "envelope":
		return []counters.SiteCounts{
			at("relay.envelope", 0, 0, 1, 0, 0), at("relay.handler", 1, 1, 0, 0, 0), at("relay.validator", 1, 1, 0, 0, 0),
		}
	}
	return []counters.SiteCounts{at("relay.envelope", 0, 0, 1, 0, 0), at("relay.validator", 1, 0, 0, 0, 0)}
}

func macroSites(path string) (a, b []counters.SiteCounts) {
	id := at("relay.gossip_id", 0, 0, 0, 1, 0)
	switch path {
	case "baseline":
		a = []counters.SiteCounts{
			at("relay.handler", 1, 1, 0, 0, 0), id, at("relay.on_send", 1, 1, 1, 0, 0),
			at("relay.publish", 0, 0, 1, 0, 1),
		}
		b = []counters.SiteCounts{
			at("archive.archive", 0, 0, 1, 0, 0), at("relay.handler", 1, 1, 0, 0, 0), id,
			at("relay.on_recv", 1, 1, 0, 0, 0), at("relay.on_validated", 1, 1, 1, 0, 0),
			at("relay.validator", 1, 1, 0, 0, 0), at("storesync.storesync", 0, 0, 1, 0, 0),
		}
	case "envelope":
		a = []counters.SiteCounts{
			at("relay.envelope", 0, 0, 1, 0, 0), at("relay.handler", 1, 1, 0, 0, 0), id,
			at("relay.publish", 0, 0, 1, 0, 1),
		}
		b = []counters.SiteCounts{
			at("relay.envelope", 0, 0, 1, 0, 0), at("relay.handler", 1, 1, 0, 0, 0), id,
			at("relay.validator", 1, 1, 0, 0, 0),
		}
	case "raw":
		a, b = []counters.SiteCounts{at("bench.raw", 0, 0, 0, 0, 1), id}, []counters.SiteCounts{id}
	case "zerocopy":
		a = []counters.SiteCounts{id, at("relay.publish", 0, 0, 1, 0, 1)}
		b = []counters.SiteCounts{at("relay.envelope", 0, 0, 1, 0, 0), id, at("relay.validator", 1, 0, 0, 0, 0)}
	}
	return a, b // nil for theirs: a target that does not count
}

func ptr[T any](v T) *T { return &v }

func microRun(path string, number int, wall int64) Run {
	return Run{
		Scenario: RunName(Micro, number), Path: path, Number: number, Messages: messages,
		WallNanos: wall, NanosPerP50: wall / 1300, NanosPerP99: wall / 430,
		LatencyP50: ptr(wall / 1200), LatencyP99: ptr(wall / 400),
		CPUNanos: wall + wall/5, LiveDelta: -1_540_000, GCCollect: 7,
		AllocBytes: 150_000_000, Allocs: 61_250, PeakHeap: 84_000_000,
		Heap:      []Heap{{50, 41_000_000}, {100, 84_000_000}},
		Published: messages, Verified: true,
		Nodes: []Node{{Name: "node", Role: RoleAll, Sites: microSites(path), Delivered: messages}},
	}
}

func macroRun(path string, number int, wall int64) Run {
	run := microRun(path, number, wall)
	run.Scenario, run.LiveDelta = RunName(Macro, number), 17_000_000
	a, b := macroSites(path)
	run.Nodes = []Node{
		{Name: "A", Role: RolePublisher, Sites: a, Delivered: messages},
		{Name: "B", Role: RoleReceiver, Sites: b, Delivered: messages, Duplicates: 3},
	}
	if path == "theirs" || path == "raw" {
		run.LatencyP50, run.LatencyP99 = nil, nil
	}
	return run
}

// fixture returns a Result of two runs of each scenario on each path.
func fixture() Result {
	r := Result{
		Kind: Kind, SchemaVersion: SchemaVersion, MeasuredAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Environment: Environment{
			Go: "go1.26.6", GOOS: "linux", GOARCH: "amd64", CPU: "AMD EPYC", Cores: 2, GOMAXPROCS: 2,
			Kernel: "6.8.0", MemoryBytes: 24 << 30, Load1: 0.25,
			Modules: map[string]string{"github.com/libp2p/go-libp2p": "v0.52.0", "modernc.org/sqlite": "v1.62.0"},
			Tags:    []string{"msgpathcounters"}, Counting: true, Commit: "0123456789abcdef", Branch: "main",
			CommandLine: []string{"msgpath", "bench", "all"}, LogLevel: "WARN", GOGC: "100", GOMEMLIMIT: "off",
		},
		Settings: Settings{
			Messages: messages, WarmupMicro: 100, WarmupMacro: 50, Seed: 42, Profile: "10/50/150kB@25/50/25",
			PayloadBytes: payloadBytes, Window: 32, Runs: 2, Hash: "blake3", Archive: "sqlite::memory:",
			Paths: []string{"baseline", "envelope", "zerocopy", "theirs"}, Scenarios: []string{Micro, Macro},
		},
		Limitations: []string{"Both nodes share one process and its garbage collector."},
		Verified:    true,
	}
	for number := 1; number <= 2; number++ {
		for i, path := range []string{"baseline", "envelope", "zerocopy"} {
			r.Runs = append(r.Runs, microRun(path, number, int64(828_591_000-100_000_000*i-10_000_000*number)))
		}
	}
	for number := 1; number <= 2; number++ {
		for i, path := range r.Settings.Paths {
			r.Runs = append(r.Runs, macroRun(path, number, int64(1_367_314_000-100_000_000*i-10_000_000*number)))
		}
	}
	return r
}

// withRaw returns the fixture with two macro runs on path raw.
func withRaw() Result {
	r := fixture()
	for number := 1; number <= 2; number++ {
		r.Runs = append(r.Runs, macroRun("raw", number, 900_000_000))
	}
	return r
}

// uncounted returns the fixture as a build without the tag would make it.
func uncounted() Result {
	r := fixture()
	r.Environment.Counting, r.Environment.Tags = false, nil
	for i := range r.Runs {
		for n := range r.Runs[i].Nodes {
			r.Runs[i].Nodes[n].Sites = nil
		}
	}
	return r
}

// withInvalid returns the fixture with its macro run on path envelope lost.
func withInvalid() Result {
	r := fixture()
	r.Runs = append([]Run(nil), r.Runs...)
	for i, run := range r.Runs {
		if run.Scenario == Macro && run.Path == "envelope" {
			r.Runs = append(r.Runs[:i], r.Runs[i+1:]...)
			break
		}
	}
	r.Invalid = []Invalid{{Macro, "envelope", 1, "1 of 1000 messages was not delivered to B"}}
	r.Verified = false
	return r
}

// find returns a run of r, to be changed.
func find(t *testing.T, r *Result, scenario, path string) *Run {
	t.Helper()
	for i := range r.Runs {
		if r.Runs[i].Scenario == scenario && r.Runs[i].Path == path {
			return &r.Runs[i]
		}
	}
	t.Fatalf("the fixture has no run %s on path %s", scenario, path)
	return nil
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

// written returns what a writer of Results writes.
func written(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := write(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
