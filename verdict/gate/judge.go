package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// notANumber is what there is to say of a figure that is not known.
const notANumber = "n/a, and a number is required"

// Judge compares a run with a budget. A base is what changes are from; without
// one they are n/a.
func Judge(b Budget, run verdict.Record, base *verdict.Record) Report {
	j := judgement{run: run, base: base, now: collect(run)}
	report := Report{Budgets: b.Files, Run: run.Files, Invalid: invalid("the run", run), Notes: run.Notes}
	if base != nil {
		j.before = collect(*base)
		report.Base, report.Notes = base.Files, slices.Concat(run.Notes, base.Notes)
		report.Invalid = append(report.Invalid, invalid("the base", *base)...)
	}
	for _, l := range b.Limits {
		for _, r := range l.Ranges {
			report.Lines = append(report.Lines, j.line(l, r))
		}
	}
	report.Lines = fold(report.Lines)
	return report
}

// invalid says why what a record holds cannot be relied on.
func invalid(what string, r verdict.Record) (all []string) {
	for _, i := range r.Invalid() {
		all = append(all, fmt.Sprintf("%s: %s of path %s is invalid: %s", what, i.Scenario, i.Path, i.Reason))
	}
	for _, row := range r.Rows {
		if row.Verified != nil && !*row.Verified {
			all = append(all, fmt.Sprintf("%s: %s of path %s is not verified", what, row.Scenario, row.Path))
		}
	}
	if len(all) == 0 && slices.ContainsFunc(r.Results, func(r verdict.Result) bool { return !r.Verified }) {
		all = append(all, what+" is not verified")
	}
	if slices.ContainsFunc(r.Conditions, func(c map[string]string) bool { return c["counting"] == "false" }) {
		all = append(all, what+" is of a build without the tag msgpathcounters: its counts are n/a")
	}
	return slices.Compact(all) // one run has a row for each role
}

// judgement is what one call of [Judge] works on.
type judgement struct {
	run         verdict.Record
	base        *verdict.Record
	now, before collection
}

// outcome is what came of a range at one place, or of one sample there.
type outcome struct {
	verdict  verdict.Verdict
	at       *series
	value    float64
	shown    bool // value says something
	base     *float64
	outside  float64 // how far value is outside; negative: inside
	rejected int     // samples that are outside
	baseless bool    // it is of a change, and the base lacks the place
	detail   string
}

// worse orders outcomes: what must be looked at first is greatest.
func (o outcome) worse(p outcome) bool {
	return cmp.Or(cmp.Compare(severity(o.verdict), severity(p.verdict)), cmp.Compare(o.outside, p.outside)) > 0
}

// severity orders verdicts by what a reader should see first.
func severity(v verdict.Verdict) int {
	return slices.Index([]verdict.Verdict{
		verdict.Pass, verdict.Inconclusive, verdict.Warn, Unmatched, verdict.Fail, verdict.NotApplicable,
	}, v)
}

// line judges one range of one limit at every place that it matches.
func (j judgement) line(l Limit, r Range) Line {
	line := Line{
		Limit: l.title(), At: l.At, Kind: r.Kind, Bound: r.text(l.Metric),
		Verdict: verdict.Pass, Reason: l.Reason, Owner: l.Owner, table: l.Table, title: l.Title,
	}
	found := j.now.matching(l)
	if r.Kind.relative() {
		found = append(found, j.emptied(l)...)
	}
	baseless := 0
	var worst *outcome
	see := func(o outcome) {
		line.Outside += o.rejected
		if worst == nil || o.worse(*worst) {
			worst = &o
		}
	}
	for _, s := range found {
		line.Places++
		line.Samples += len(s.figures)
		o := j.outcome(l, r, s)
		if o.baseless {
			baseless++
		}
		see(o)
	}
	if r.Kind.relative() {
		for _, s := range j.vanished(l) {
			see(s)
		}
	}
	switch {
	case worst == nil:
		line.Verdict, line.Detail = j.nothing(l)
	case baseless == line.Places && worst.baseless:
		line.Verdict, line.Detail = Unmatched, "in the base, "+j.before.explain(l)
	default:
		line.take(*worst, j.run)
	}
	if r.Kind.soft() && line.Verdict == verdict.Fail {
		line.Verdict = verdict.Warn
	}
	return line
}

// nothing judges a limit that matches no figure. A node that was not counted has
// no figures at sites where nothing declares these, and they are n/a; and where all sites have a row of their
// own in a table, its row for the others holds.
func (j judgement) nothing(l Limit) (v verdict.Verdict, detail string) {
	whole := l
	whole.Site, whole.Except = "", nil
	for _, s := range j.now.matching(whole) {
		if _, known := s.values(); !known {
			return verdict.NotApplicable, notANumber
		}
	}
	others := l
	others.Except = nil
	if l.rest() && len(j.now.matching(others)) > 0 {
		return verdict.Pass, ""
	}
	return Unmatched, j.now.explain(l)
}

// outcome judges a range at one place.
func (j judgement) outcome(l Limit, r Range, s *series) outcome {
	o := outcome{at: s}
	values, known := s.values()
	switch other := otherSettings(l, s.metric, j.run); {
	case !known:
		o.verdict, o.detail = verdict.NotApplicable, notANumber
	case len(other) > 0:
		o.verdict, o.detail = verdict.Inconclusive, "other settings: "+strings.Join(other, "; ")
	case r.Kind.relative():
		o = j.change(r, s, values)
	case s.metric.Class == verdict.Time:
		o = middle(s, values)
		o.verdict = r.around(0).compare(intervalOf(values))
		o.outside = r.around(0).excess(o.value, 0)
	default:
		o = eachSample(r, s, values, 0)
	}
	if o.verdict == verdict.Inconclusive && o.detail == "" {
		o.detail = undecided(len(values))
	}
	if o.verdict == verdict.Fail && o.rejected == 0 {
		o.rejected = len(values)
	}
	return o
}

// eachSample judges by every sample, and returns the worst.
func eachSample(r Range, s *series, values []float64, base float64) outcome {
	allowed := r.around(base)
	worst := outcome{at: s, outside: math.Inf(-1), verdict: verdict.Pass, shown: true}
	rejected := 0
	for i, v := range values {
		excess := allowed.excess(v, s.figures[i].Rounding)
		if excess > 0 {
			rejected++
			worst.verdict = verdict.Fail
		}
		if excess > worst.outside {
			worst.value, worst.outside = v, excess
		}
	}
	worst.rejected = rejected
	return worst
}

// middle returns the median of values as an outcome yet to be judged.
func middle(s *series, values []float64) outcome {
	return outcome{at: s, value: verdict.Median(values), shown: true}
}

// intervalOf returns the interval of the median; one without ends where the
// samples are too few to know both.
func intervalOf(values []float64) interval {
	_, low, high := verdict.MedianInterval(values)
	if low == nil {
		return interval{math.Inf(-1), math.Inf(1)}
	}
	return interval{*low, *high}
}

// leastSamples is the fewest samples whose median has an interval at
// [verdict.Confidence]:
// of fewer, the chance that all lie on one side of the true median is larger than
// that allows.
var leastSamples = func() int {
	for n := 1; ; n++ {
		if 1-math.Pow(2, float64(1-n)) >= verdict.Confidence {
			return n
		}
	}
}()

func undecided(samples int) string {
	if samples < leastSamples {
		return fmt.Sprintf("%d samples are too few for an interval of the median: %d are needed", samples, leastSamples)
	}
	return fmt.Sprintf("the median's %g %% interval lies on both sides of the limit", 100*verdict.Confidence)
}
