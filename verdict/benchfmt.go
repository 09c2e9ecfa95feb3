package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/msgpath/msgpath/counters"
	"golang.org/x/perf/benchfmt"
)

// metric is one unit of the Go benchmark lines. value returns nil for what was
// not measured, and the line then lacks it.
type metric struct {
	Metric
	open  bool // of an open loop only
	value func(benchLine) *float64
}

// benchLine is what one Go benchmark line is made of.
type benchLine struct {
	run    Run
	row    Row
	counts *counters.Counts // nil where not counted
}

func (l benchLine) perMessage(n uint64) *float64 {
	return known(float64(n) / float64(l.run.Messages))
}

// unexplained returns the bytes allocated per message less those that the
// ledger of counted work accounts for: what was copied, and what was encoded. A
// decode or copy that nobody counted is in it.
func (l benchLine) unexplained() *float64 {
	if l.counts == nil {
		return nil
	}
	return known((float64(l.run.AllocBytes) - float64(l.counts.CopiedBytes) - float64(l.counts.EncodedBytes)) / float64(l.run.Messages))
}

// count makes a metric of a count, per message.
func count(unit string, field func(*counters.Counts) *uint64) metric {
	return metric{Metric: Metric{Name: unit, Class: Count}, value: func(l benchLine) *float64 {
		if l.counts == nil {
			return nil
		}
		return l.perMessage(*field(l.counts))
	}}
}

// whole makes a metric of something that the run as a whole has: a line of one
// role would only repeat it.
func whole(unit string, value func(benchLine) *float64) metric {
	return metric{Metric: Metric{Name: unit, Class: Time}, value: func(l benchLine) *float64 {
		if l.row.Role != RoleAll {
			return nil
		}
		return value(l)
	}}
}

func higher(m metric) metric {
	m.Higher = true
	return m
}

func memory(m metric) metric {
	m.Class = Memory
	return m
}

var metrics = slices.Concat([]metric{
	whole("ns/msg", func(l benchLine) *float64 { return l.perMessage(uint64(l.run.WallNanos)) }),
	higher(whole("msg/s", func(l benchLine) *float64 { return l.row.MessagesPerSecond })),
	whole("p50-ns/msg", func(l benchLine) *float64 { return l.row.NanosPerP50 }),
	whole("p99-ns/msg", func(l benchLine) *float64 { return l.row.NanosPerP99 }),
	whole("latency-p50-ns", func(l benchLine) *float64 { return l.row.LatencyP50 }),
	whole("latency-p99-ns", func(l benchLine) *float64 { return l.row.LatencyP99 }),
	whole("cpu-ns/msg", func(l benchLine) *float64 { return l.row.CPUNanos }),
	memory(whole("B/msg", func(l benchLine) *float64 { return l.perMessage(l.run.AllocBytes) })),
	memory(whole("allocs/msg", func(l benchLine) *float64 { return l.row.Allocs })),
	memory(whole("peak-heap-B", func(l benchLine) *float64 { return known(float64(l.run.PeakHeap)) })),
	memory(whole("live-heap-B", func(l benchLine) *float64 { return known(float64(l.run.LiveDelta)) })),
	memory(whole("unexplained-B/msg", benchLine.unexplained)),
	count("decodes/msg", func(c *counters.Counts) *uint64 { return &c.Decodes }),
	count("hashes/msg", func(c *counters.Counts) *uint64 { return &c.Hashes }),
	count("id-hashes/msg", func(c *counters.Counts) *uint64 { return &c.IDHashes }),
	count("encodes/msg", func(c *counters.Counts) *uint64 { return &c.Encodes }),
	count("copies/msg", func(c *counters.Counts) *uint64 { return &c.Copies }),
	count("decoded-B/msg", func(c *counters.Counts) *uint64 { return &c.DecodedBytes }),
	count("hashed-B/msg", func(c *counters.Counts) *uint64 { return &c.HashedBytes }),
	count("id-hashed-B/msg", func(c *counters.Counts) *uint64 { return &c.IDHashedBytes }),
	count("encoded-B/msg", func(c *counters.Counts) *uint64 { return &c.EncodedBytes }),
	count("copied-B/msg", func(c *counters.Counts) *uint64 { return &c.CopiedBytes }),
}, openMetrics())

// WriteBench writes r as Go benchmark lines
// (https://go.dev/design/14313-benchmark-format): one for each run and role,
// named like "BenchmarkMacro/path=zerocopy/role=receiver", whose iteration
// count is the number of messages. Lines of one role have counts only: times and
// memory are those of the run and stand in the line of role "all". Compare paths
// with
//
//	benchstat -col /path bench.txt
//
// and two files with "benchstat -ignore commit old.txt new.txt". Counts carry
// "assume=exact", so that benchstat reports any difference and warns of runs
// that disagree. What was not measured is left out of a line.
//
// Scenarios and paths become part of a name: one that is empty or has a space,
// a slash or a control character is an error.
func WriteBench(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("verdict: write benchmark lines: %w", err)
	}
	results, err := benchResults(r)
	if err != nil {
		return fmt.Errorf("verdict: write benchmark lines: %w", err)
	}
	var buf bytes.Buffer
	for _, m := range metrics {
		if !m.open || r.Settings.Rate > 0 {
			buf.WriteString(m.unitLine())
		}
	}
	out := benchfmt.NewWriter(&buf)
	for _, result := range results {
		if err := out.Write(result); err != nil {
			return fmt.Errorf("verdict: write benchmark lines: %w", err)
		}
	}
	if _, err := buf.WriteTo(w); err != nil {
		return fmt.Errorf("verdict: write benchmark lines: %w", err)
	}
	return nil
}

func benchResults(r Result) (results []*benchfmt.Result, err error) {
	config := benchConfig(r)
	var errs []error
	for _, run := range r.Runs {
		errs = append(errs, checkBenchName("scenario", run.Scenario), checkBenchName("path", run.Path))
		for _, role := range roles(run) {
			line := benchLine{run: run, row: newRow(r, run, role)}
			if sum, ok := countsOf(ofRole(run.Nodes, role)); ok {
				line.counts = &sum
			}
			if result := line.result(config); len(result.Values) > 0 {
				results = append(results, result)
			}
		}
	}
	return results, errors.Join(errs...)
}

// unitLine says how benchstat is to treat the metric.
func (m metric) unitLine() string {
	line := "Unit " + m.Name
	if m.Class == Count {
		line += " assume=exact"
	}
	if m.Higher {
		return line + " better=higher\n"
	}
	return line + " better=lower\n"
}

// benchConfig returns what distinguishes this file from one that it should not
// be compared with blindly.
func benchConfig(r Result) (config []benchfmt.Config) {
	for _, kv := range [][2]string{
		{"goos", r.Environment.GOOS},
		{"goarch", r.Environment.GOARCH},
		{"cpu", r.Environment.CPU},
		{"go", r.Environment.Go},
		{"gomaxprocs", strconv.Itoa(r.Environment.GOMAXPROCS)},
		{"commit", r.Environment.Commit},
		{"counting", strconv.FormatBool(r.Environment.Counting)},
		{"messages", strconv.Itoa(r.Settings.Messages)},
		{"profile", r.Settings.Profile},
		{"seed", strconv.FormatUint(r.Settings.Seed, 10)},
		{"window", r.Settings.load()},
		{"hash", r.Settings.Hash},
		{"archive", r.Settings.Archive},
		{"cold", strconv.FormatBool(r.Settings.Cold)},
	} {
		value := strings.Join(strings.Fields(kv[1]), " ") // one line, whatever the machine calls its CPU
		if value != "" {
			config = append(config, benchfmt.Config{Key: kv[0], Value: []byte(value), File: true})
		}
	}
	return config
}

func (l benchLine) result(config []benchfmt.Config) *benchfmt.Result {
	first, size := utf8.DecodeRuneInString(Series(l.run.Scenario))
	base := string(unicode.ToUpper(first)) + Series(l.run.Scenario)[size:]
	res := &benchfmt.Result{
		Config: config,
		Name:   benchfmt.Name(fmt.Sprintf("%s/path=%s/role=%s", base, l.run.Path, l.row.Role)),
		Iters:  l.run.Messages,
	}
	for _, m := range metrics {
		if v := m.value(l); v != nil {
			res.Values = append(res.Values, benchfmt.Value{Value: *v, Unit: m.Name})
		}
	}
	return res
}

func checkBenchName(what, name string) error {
	bad := func(r rune) bool { return r == '/' || unicode.IsSpace(r) || unicode.IsControl(r) }
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("%s %q cannot be part of a benchmark name", what, name)
	}
	return nil
}
