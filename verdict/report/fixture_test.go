package report

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/internal/golden"
	"github.com/msgpath/msgpath/verdict"
)

// equal compares got with testdata/name.
func equal(t *testing.T, name string, got []byte) {
	t.Helper()
	golden.Equal(t, filepath.Join("testdata", name), got)
}

const (
	messages     = 1000
	payloadBytes = 65_000_000
)

// at returns what a site does for each message of a run.
func at(site string, decodes, copies, hashes, encodes uint64) counters.SiteCounts {
	return counters.SiteCounts{Site: site, Counts: counters.Counts{
		Decodes: decodes * messages, DecodedBytes: decodes * payloadBytes,
		Copies: copies * messages, CopiedBytes: copies * payloadBytes,
		Hashes: hashes * messages, HashedBytes: hashes * payloadBytes,
		Encodes: encodes * messages, EncodedBytes: encodes * payloadBytes,
	}}
}

// sites returns the counts of a publisher and a receiver on a path.
func sites(path string) (a, b []counters.SiteCounts) {
	publish := at("relay.publish", 0, 0, 1, 1)
	switch path {
	case "baseline":
		return []counters.SiteCounts{at("relay.on_send", 1, 1, 1, 0), publish}, []counters.SiteCounts{
			at("archive.archive", 0, 0, 1, 0), at("relay.handler", 1, 1, 0, 0),
			at("relay.on_validated", 1, 1, 1, 0), at("relay.validator", 1, 1, 0, 0),
		}
	case "zerocopy":
		return []counters.SiteCounts{publish}, []counters.SiteCounts{
			at("relay.envelope", 0, 0, 1, 0), at("relay.validator", 1, 0, 0, 0),
		}
	}
	return []counters.SiteCounts{at("bench.raw", 0, 0, 0, 1)}, []counters.SiteCounts{}
}

func macroRun(path string, number int, wall int64) verdict.Run {
	a, b := sites(path)
	run := verdict.Run{
		Scenario: verdict.RunName(verdict.Macro, number), Path: path, Number: number, Messages: messages,
		WallNanos: wall, NanosPerP50: wall / 1300, NanosPerP99: wall / 430,
		LatencyP50: new(wall / 40), LatencyP99: new(wall / 10), CPUNanos: wall * 2,
		LiveDelta: 140_000_000, AllocBytes: 90_000_000 + 65_000_000*(counters.Total(a).Add(counters.Total(b)).Copies/messages),
		Allocs: 90_000, PeakHeap: 220_000_000, Published: messages, Verified: true, ViewsChecked: 16,
		Nodes: []verdict.Node{
			{Name: "A", Role: verdict.RolePublisher, Sites: a, Delivered: messages, Lines: []counters.SiteLines{
				{Site: "relay.publish", Event: "hash", At: []string{"relay/publish.go:49"}},
			}},
			{Name: "B", Role: verdict.RoleReceiver, Sites: b, Delivered: messages},
		},
	}
	for n := 0; n <= messages; n += 250 {
		run.Heap = append(run.Heap, verdict.Heap{Messages: n, Bytes: uint64(80_000_000 + 140_000*n)})
	}
	if path == "raw" {
		run.LatencyP50, run.LatencyP99 = nil, nil
	}
	return run
}

func microRun(path string, number int, wall int64) verdict.Run {
	run := macroRun(path, number, wall)
	run.Scenario = verdict.RunName(verdict.Micro, number)
	run.Nodes = []verdict.Node{{Name: "node", Role: verdict.RoleAll, Sites: run.Nodes[1].Sites, Delivered: messages}}
	return run
}

// fixture returns a result of two runs of each scenario and path.
func fixture() verdict.Result {
	r := verdict.Result{
		Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion, MeasuredAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Environment: verdict.Environment{
			Go: "go1.26.6", GOOS: "linux", GOARCH: "amd64", CPU: "AMD EPYC", Cores: 2, GOMAXPROCS: 2,
			Kernel: "6.8.0", MemoryBytes: 24 << 30, Load1: 0.25,
			Modules: map[string]string{"github.com/libp2p/go-libp2p": "v0.52.0", "modernc.org/sqlite": "v1.62.0"},
			Tags:    []string{"msgpathcounters"}, Counting: true, Commit: "0123456789abcdef0123", Branch: "main",
			CommandLine: []string{"/opt/msgpath", "bench", "all", "--out", "a b"}, LogLevel: "error", GOGC: "100", GOMEMLIMIT: "off",
		},
		Settings: verdict.Settings{
			Messages: messages, WarmupMicro: 100, WarmupMacro: 50, Seed: 42, Profile: "10/50/150kB@25/50/25",
			PayloadBytes: payloadBytes, Window: 32, Runs: 2, Hash: "blake3", Archive: "sqlite::memory:",
			Paths: []string{"baseline", "zerocopy", "raw"}, Scenarios: []string{verdict.Micro, verdict.Macro},
		},
		Limitations: []string{"Both nodes share one process and its garbage collector."},
		Verified:    true,
	}
	for number := 1; number <= 2; number++ {
		for i, path := range r.Settings.Paths {
			wall := int64(400_000_000 - 80_000_000*i - 20_000_000*number)
			r.Runs = append(r.Runs, macroRun(path, number, wall))
			if path != "raw" {
				r.Runs = append(r.Runs, microRun(path, number, wall/2))
			}
		}
	}
	return r
}

// worse returns the fixture with another hash on B, path zerocopy.
func worse() verdict.Result {
	r := fixture()
	r.Environment.Commit = "fedcba98765432100000+dirty"
	for i, run := range r.Runs {
		if run.Path == "zerocopy" && len(run.Nodes) == 2 {
			b := &r.Runs[i].Nodes[1]
			b.Sites = append([]counters.SiteCounts{at("archive.archive", 0, 0, 1, 0)}, b.Sites...)
		}
	}
	return r
}

// uncounted returns the fixture as a build that does not count would make it.
func uncounted() verdict.Result {
	r := fixture()
	r.Environment.Counting, r.Environment.Tags = false, nil
	for i := range r.Runs {
		for n := range r.Runs[i].Nodes {
			r.Runs[i].Nodes[n].Sites = nil
		}
	}
	return r
}

// lost returns the fixture with a macro run that is invalid.
func lost() verdict.Result {
	r := fixture()
	r.Runs, r.Verified = r.Runs[1:], false
	r.Invalid = []verdict.Invalid{{Scenario: verdict.Macro, Path: "baseline", Number: 1, Reason: "1 of 1000 messages was not delivered to B"}}
	return r
}

// hostile returns the fixture with names that would be markup, that are long,
// and that hold what XML cannot.
func hostile() verdict.Result {
	r := fixture()
	r.Environment.Commit, r.Environment.Branch = `</code><script>alert(1)</script>`, `"><img src=x onerror=alert(2)>`
	r.Environment.CPU = "a\x00b\x1b[31m"
	r.Environment.CommandLine = []string{"msgpath", `'; rm -rf "$HOME" #`, "--out=</pre><script>"}
	r.Limitations = []string{"<b>bold</b> & \u202ereversed"}
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Path == "zerocopy" {
			run.Path = `<script>alert("path")</script>` + "\u2028\xff&amp;"
		}
		for n := range run.Nodes {
			node := &run.Nodes[n]
			node.Name = `"' onload="alert(3) ` + node.Name
			for s := range node.Sites {
				node.Sites[s].Site += `</text></svg><script>alert('site that is long, and long, and long')</script>`
			}
		}
	}
	return r
}

// cases are the kinds of page.
func cases() map[string]Input {
	criteria := Lines(verdict.Acceptance(fixture(), verdict.Context{}))
	judged := []Line{
		{"hashes on zerocopy do not rise", verdict.Fail, "3, limit 2: archive/insert.go:88", true},
		{"throughput", verdict.Inconclusive, "", false},
		{"names", verdict.Pass, `<b> & "quoted"`, true},
	}
	return map[string]Input{
		"one":       {Sides: []Side{{"a.json", fixture()}}, Lines: criteria},
		"two":       {Title: "Pull request", Sides: []Side{{"before", fixture()}, {"after", worse()}}, Lines: judged},
		"uncounted": {Sides: []Side{{"a.json", uncounted()}}},
		"invalid":   {Sides: []Side{{"a.json", lost()}}, Headline: "A message was lost."},
		"hostile":   {Title: "<h1>x</h1>", Sides: []Side{{"<i>", hostile()}, {`"b"`, hostile()}}, Lines: judged, Headline: "<script>"},
		"openloop":  {Title: "Open loop", Sides: []Side{{"before", openLoop(900)}, {"after", openLoop(4)}}, Lines: judged},
		"opened":    {Sides: []Side{{"closed", fixture()}, {"open", openLoop(30)}}},
		"empty":     {Sides: []Side{{"a.json", without(fixture())}}},
		"scale":     {Sides: []Side{{"a.json", fixture()}}, Scale: grown()},
	}
}

// openLoop returns the macro runs of the fixture as an open loop measures them, of
// which a message in fifty took up to so many milliseconds on path zerocopy.
func openLoop(stall float64) verdict.Result {
	r := fixture()
	r.Settings.Rate, r.Settings.Scenarios = 1000, []string{verdict.Macro}
	r.Runs = slices.DeleteFunc(r.Runs, func(run verdict.Run) bool { return verdict.Series(run.Scenario) == verdict.Micro })
	for _, path := range r.Settings.Paths {
		for _, to := range []string{verdict.ToApplication, verdict.ToCommit} {
			for _, from := range []string{verdict.FromIntended, verdict.FromSent} {
				if path != "raw" || to == verdict.ToApplication {
					r.Distributions = append(r.Distributions, distribution(path, from, to, stall))
				}
			}
		}
	}
	for i := range r.Runs {
		of := func(from string) verdict.Quantiles {
			q := distribution(r.Runs[i].Path, from, verdict.ToApplication, stall).Quantiles
			q.Messages = messages
			return q
		}
		r.Runs[i].OpenLoop = &verdict.OpenLoop{Missed: 17, Application: verdict.Latencies{Intended: of(verdict.FromIntended), Sent: of(verdict.FromSent)}}
	}
	return r
}

// distribution returns what a path of the fixture has in two runs.
func distribution(path, from, to string, stall float64) verdict.Distribution {
	const all = 2 * messages
	base := map[string]float64{"baseline": 0.9, "zerocopy": 0.4, "raw": 0.3}[path]
	if from == verdict.FromIntended {
		base += 0.15
	}
	at := func(percentile float64) int64 {
		slower := min(all, 1/(1-percentile/100))
		ms := base * (1 + 0.4*math.Log(slower))
		if path == "zerocopy" && slower > 50 && from == verdict.FromIntended {
			ms += stall * (1 - 50/slower)
		}
		return int64(ms * 1e6)
	}
	d := verdict.Distribution{
		Scenario: verdict.Macro, Path: path, From: from, To: to, Runs: 2,
		Quantiles: verdict.Quantiles{Messages: all, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: at(100)},
	}
	for slower := 1.0; slower < all; slower *= 1.2 {
		percentile := 100 - 100/slower
		d.Points = append(d.Points, verdict.Point{Percentile: percentile, Nanos: at(percentile), Count: max(1, int(percentile*all/100))})
	}
	d.Points = append(d.Points, verdict.Point{Percentile: 100, Nanos: at(100), Count: all})
	return d
}

// without returns a result without a run.
func without(r verdict.Result) verdict.Result {
	r.Runs = nil
	return r
}

// written returns the page of an input.
func written(t testing.TB, in Input) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, in); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
