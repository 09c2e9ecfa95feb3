package gate

import (
	"testing"

	"github.com/msgpath/msgpath/verdict"
)

// change is what a limit of the change from base to run comes to.
type change struct {
	name, bounds string
	run, base    verdict.Record
	want         verdict.Verdict
	detail       string
}

func (tt change) judge(t *testing.T) {
	metric := tt.run.Figures[0].Metric.Name
	l := Judge(parsed(t, "  - {metric: '"+metric+"', "+tt.bounds+"}"), tt.run, &tt.base).Lines[0]
	if l.Verdict != tt.want || l.Detail != tt.detail {
		t.Errorf("%s %q, want %s %q (value %v, base %v)", l.Verdict, l.Detail, tt.want, tt.detail, l.Value, l.Base)
	}
}

// sampler makes records of a metric at one place.
func sampler(t *testing.T) func(metric string, v ...float64) verdict.Record {
	return func(metric string, v ...float64) verdict.Record {
		return record(figures(t, "macro baseline all", metric, v...))
	}
}

func TestJudgeChange(t *testing.T) {
	sample := sampler(t)
	for _, tt := range []change{
		{"same", "change: {equal: 0}", sample("decodes/msg", 6, 6), sample("decodes/msg", 6), verdict.Pass, ""},
		{"one more", "change: {max: 0}", sample("decodes/msg", 7, 7), sample("decodes/msg", 6), verdict.Fail, ""},
		{"one less", "change: {max: 0}", sample("decodes/msg", 5), sample("decodes/msg", 6), verdict.Pass, ""},
		{"within percent", "change: {max: 2%}", sample("B/msg", 102, 100), sample("B/msg", 100), verdict.Pass, ""},
		{"beyond percent", "change: {max: 2%}", sample("B/msg", 102.1), sample("B/msg", 100), verdict.Fail, ""},
		{"soft", "soft-change: {max: 2%}", sample("B/msg", 103), sample("B/msg", 100), verdict.Warn, ""},
		{"absolute, with a unit", "change: {max: 1 kB}", sample("B/msg", 1100), sample("B/msg", 100), verdict.Pass, ""},
		{"must fall", "change: {max: -50%}", sample("decodes/msg", 3), sample("decodes/msg", 6), verdict.Pass, ""},
		{"did not fall", "change: {max: -50%}", sample("decodes/msg", 4), sample("decodes/msg", 6), verdict.Fail, ""},
		{"appeared from 0", "change: {max: 900%}", sample("copies/msg", 1), sample("copies/msg", 0), verdict.Fail, ""},
		{"still 0", "change: {max: 0%}", sample("copies/msg", 0), sample("copies/msg", 0), verdict.Pass, ""},
		{"percent of a negative base", "change: {max: 10%}", sample("live-heap-B", -95), sample("live-heap-B", -100), verdict.Pass, ""},
		{"from the base's median", "change: {max: 0}", sample("B/msg", 5), sample("B/msg", 1, 5, 9), verdict.Pass, ""},
		{
			"n/a in the base", "change: {max: 0}", sample("decodes/msg", 1), record(unknown(figures(t, "macro baseline all", "decodes/msg", 1))),
			verdict.NotApplicable, "n/a in the base, and a number is required",
		},
		{
			"not in the base", "change: {max: 0}", sample("decodes/msg", 1), record(figures(t, "micro baseline all", "hashes/msg", 1)),
			Unmatched, `in the base, no metric here is called "decodes/msg": did you mean "hashes/msg"?`,
		},
		{
			"gone", "change: {max: 0}", record(figures(t, "micro baseline all", "decodes/msg", 1)),
			record(figures(t, "micro baseline all", "decodes/msg", 1), figures(t, "macro baseline all", "decodes/msg", 1)),
			verdict.Fail, "the base has it, the run does not",
		},
	} {
		t.Run(tt.name, tt.judge)
	}
}

func TestJudgeChangeOfTimes(t *testing.T) {
	sample := sampler(t)
	slow, fast := []float64{200, 201, 202, 203, 204, 205}, []float64{100, 101, 102, 103, 104, 105}
	for _, tt := range []change{
		{"slower", "change: {max: 50%}", sample("ns/msg", slow...), sample("ns/msg", fast...), verdict.Fail, ""},
		{"within", "change: {max: 110%}", sample("ns/msg", slow...), sample("ns/msg", fast...), verdict.Pass, ""},
		{
			"near the bound", "change: {max: 98%}", sample("ns/msg", slow...), sample("ns/msg", fast...),
			verdict.Inconclusive, "the median's 95 % interval lies on both sides of the limit",
		},
		{
			"too few", "change: {max: 50%}", sample("ns/msg", slow...), sample("ns/msg", 100),
			verdict.Inconclusive, "1 samples are too few for an interval of the median: 6 are needed",
		},
	} {
		t.Run(tt.name, tt.judge)
	}
}

// What was measured under other conditions is not compared where it depends on
// them.
func TestJudgeChangeOfConditions(t *testing.T) {
	sample := sampler(t)
	for _, tt := range []change{
		{
			"time, another machine", "change: {max: 50%}", sample("ns/msg", 2), with(sample("ns/msg", 1), "cpu", "M4"),
			verdict.Inconclusive, "not comparable: cpu is AMD EPYC, of the base M4",
		},
		{
			"time, unknown machine", "change: {max: 50%}", with(sample("ns/msg", 2), "cpu", ""), with(sample("ns/msg", 1), "cpu", ""),
			verdict.Inconclusive, "not comparable: cpu is not known",
		},
		{
			"memory, another Go", "change: {max: 50%}", sample("B/msg", 1), with(sample("B/msg", 1), "go", "go1.25"),
			verdict.Inconclusive, "not comparable: go is go1.26.6, of the base go1.25",
		},
		{"memory, another machine", "change: {max: 50%}", sample("B/msg", 2), with(sample("B/msg", 1), "cpu", "M4"), verdict.Fail, ""},
		{"counts, another machine", "change: {max: 0}", sample("decodes/msg", 2), with(sample("decodes/msg", 1), "cpu", "M4"), verdict.Fail, ""},
		{"counts, other messages", "change: {max: 0}", sample("decodes/msg", 1), with(sample("decodes/msg", 1), "profile", "9kB@100"), verdict.Pass, ""},
		{
			"bytes, other messages", "change: {max: 0}", sample("hashed-B/msg", 9), with(sample("hashed-B/msg", 1), "profile", "9kB@100"),
			verdict.Inconclusive, "not comparable: profile is 1kB@100, of the base 9kB@100",
		},
		{
			"time, another collector", "change: {max: 50%}", with(sample("ns/msg", 2), "gogc", "off"), with(sample("ns/msg", 1), "gogc", "100"),
			verdict.Inconclusive, "not comparable: gogc is off, of the base 100",
		},
		{
			"memory, another collector", "change: {max: 50%}", with(sample("B/msg", 2), "gogc", "off"), with(sample("B/msg", 1), "gogc", "100"),
			verdict.Inconclusive, "not comparable: gogc is off, of the base 100",
		},
		{
			"memory, another limit", "change: {max: 50%}", with(sample("B/msg", 2), "gomemlimit", "1GiB"), sample("B/msg", 1),
			verdict.Inconclusive, "not comparable: gomemlimit is 1GiB, of the base not known",
		},
		{
			"memory, other tags", "change: {max: 50%}", with(sample("B/msg", 2), "tags", "race"), with(sample("B/msg", 1), "tags", "x"),
			verdict.Inconclusive, "not comparable: tags is race, of the base x",
		},
		{"counts, another collector", "change: {max: 0}", with(sample("decodes/msg", 2), "gogc", "off"), with(sample("decodes/msg", 1), "gogc", "100"), verdict.Fail, ""},
		{
			"bytes, another hash", "change: {max: 0}", with(sample("hashed-B/msg", 9), "hash", "blake3"), with(sample("hashed-B/msg", 1), "hash", "waku-sha256"),
			verdict.Inconclusive, "not comparable: hash is blake3, of the base waku-sha256",
		},
	} {
		t.Run(tt.name, tt.judge)
	}
}

// A change of a site that the base does not know is one from 0, if the node was
// counted there.
func TestJudgeNewSite(t *testing.T) {
	base := record(figures(t, "macro zerocopy B", "copies/msg", 0), figures(t, "macro zerocopy B relay.handler", "copies/msg", 0))
	run := record(base.Figures, figures(t, "macro zerocopy B relay.extra", "copies/msg", 1))
	budget := parsed(t, "  - {site: '*', node: B, metric: copies/msg, change: {max: 0}}")
	l := Judge(budget, run, &base).Lines[0]
	if l.Verdict != verdict.Fail || l.Where.Site != "relay.extra" || *l.Base != 0 {
		t.Errorf("%s at %v, base %v; want FAIL at relay.extra, base 0", l.Verdict, l.Where, l.Base)
	}
}

func TestJudgeChangeWithoutBase(t *testing.T) {
	run := record(figures(t, "macro baseline all", "decodes/msg", 1))
	budget := parsed(t, "  - {metric: decodes/msg, change: {max: 0}}")
	if l, needs := budget.NeedsBase(); !needs || l.At.Line != 3 {
		t.Errorf("NeedsBase: %v at %s, want true at line 3", needs, l.At)
	}
	if report := Judge(budget, run, nil); verdicts(report) != "N/A" || report.ExitCode() != verdict.ExitInvalid {
		t.Errorf("%s, exit code %d; want N/A, %d", verdicts(report), report.ExitCode(), verdict.ExitInvalid)
	}
	if _, needs := parsed(t, "  - {metric: decodes/msg, hard: {max: 0}}").NeedsBase(); needs {
		t.Error("NeedsBase of an absolute limit")
	}
}

// The fewest samples that are asked for are those whose median has an interval.
func TestLeastSamples(t *testing.T) {
	for n := 1; n <= 2*leastSamples; n++ {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(i)
		}
		if few := n < leastSamples; few != intervalOf(values).open() {
			t.Errorf("%d samples: too few is %t, the interval is %v", n, few, intervalOf(values))
		}
	}
}
