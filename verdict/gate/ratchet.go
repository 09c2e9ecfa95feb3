package gate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// Options are the settings of [Ratchet]. The zero value tightens counts alone.
type Options struct {
	All    bool    // memory and times too
	Margin float64 // percent that is left between these and their limits
}

// Validate returns what is wrong with the options, or nil.
func (o Options) Validate() error {
	if o.Margin < 0 || o.Margin >= 100 || math.IsNaN(o.Margin) {
		return fmt.Errorf("gate: validate options: margin %v %%, want 0 to less than 100", o.Margin)
	}
	return nil
}

// Tightening is what [Ratchet] came to.
type Tightening struct {
	Text    []byte      // the budget; as it was if nothing changes
	Changes []Tightened // in the order of the file
	Report  Report      // of the tightened budget
}

// Tightened is one number that changes.
type Tightened struct {
	At       Position
	Limit    string
	Kind     Kind
	Old, New string
	Where    Where  // the place that decided
	Metric   string // what was measured there
	Warning  string // what to look at before this is committed
}

// ExitCode returns that of the report, in which changes are not looked at: they
// have no base here. Unless it is 0 nothing is tightened.
func (t Tightening) ExitCode() int { return t.Report.ExitCode() }

// Ratchet tightens the bounds of a budget to what a run measured: max goes down
// to the greatest sample of all places that the limit matches and min up to the
// least; equal goes down where every sample is lower and the same. It never
// loosens a bound, leaves those of changes alone, and changes nothing but numbers
// in the text. A second Ratchet with the same run changes nothing.
//
// With [Options.All] memory is bound by its worst sample and times by the far end
// of the median's interval, with the margin added, at three digits. Where the
// samples are too few for an interval, or the settings are not those of the
// limit, the bound stays.
//
// A budget that the run does not hold even so is not tightened at all: the
// report says why, and [Tightening.ExitCode] is not 0. The error is that of
// [Parse] or [Options.Validate], or names a bound that cannot be rewritten: the new
// text is parsed, and has to be the old budget but for the numbers that change.
func Ratchet(name string, data []byte, run verdict.Record, o Options) (Tightening, error) {
	budget, err := Parse(name, data)
	if err != nil {
		return Tightening{}, err
	}
	if err := o.Validate(); err != nil {
		return Tightening{}, err
	}
	unchanged := Tightening{Text: data}
	if why := invalid("the run", run); len(why) > 0 {
		unchanged.Report = Judge(budget.absolute(), run, nil)
		return unchanged, nil
	}
	r := ratchet{Options: o, run: run, series: collect(run)}
	for _, l := range budget.Limits {
		r.limit(l)
	}
	slices.SortStableFunc(r.changes, func(a, b Tightened) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	text, err := replace(data, r.edits)
	if err != nil {
		return Tightening{}, fmt.Errorf("gate: tighten %s: %w", name, err)
	}
	tightened, err := Parse(name, text)
	if err == nil {
		err = sameBut(budget, tightened, r.edits)
	}
	if err != nil {
		return Tightening{}, fmt.Errorf("gate: tighten %s: %w", name, err)
	}
	t := Tightening{Text: text, Changes: r.changes, Report: Judge(tightened.absolute(), run, nil)}
	if t.ExitCode() != verdict.ExitOK {
		unchanged.Report = t.Report
		return unchanged, nil
	}
	return t, nil
}

// absolute returns the budget without what is relative to a base.
func (b Budget) absolute() Budget {
	limits := slices.Clone(b.Limits)
	for i := range limits {
		limits[i].Ranges = slices.DeleteFunc(slices.Clone(limits[i].Ranges), func(r Range) bool { return r.Kind.relative() })
	}
	return Budget{Files: b.Files, Limits: limits}
}

// ratchet collects what is to change.
type ratchet struct {
	Options
	run     verdict.Record
	series  collection
	edits   []edit
	changes []Tightened
}

// limit tightens the bounds of one limit, unless something that it matches is
// not to be tightened to.
func (r *ratchet) limit(l Limit) {
	measured := r.measure(l)
	if len(measured) == 0 {
		return
	}
	for _, bounds := range l.Ranges {
		if bounds.Kind.relative() {
			continue
		}
		least, most := extremes(measured)
		holds := bounds.around(0).compare(interval{least.low, most.high}) == verdict.Pass
		if q := bounds.Equal; q != nil && least.low == most.high && least.exact && improves(least, q.Value) {
			r.change(l, bounds.Kind, *q, least.low, least.at)
		}
		if q := bounds.Max; q != nil && holds && below(r.padded(most, most.high, 1), q.Value) {
			r.change(l, bounds.Kind, *q, r.padded(most, most.high, 1), most.at)
		}
		if q := bounds.Min; q != nil && holds && below(q.Value, r.padded(least, least.low, -1)) {
			r.change(l, bounds.Kind, *q, r.padded(least, least.low, -1), least.at)
		}
	}
}

// measurement is what a bound may be tightened to at one place.
type measurement struct {
	interval
	at    *series
	exact bool // without a margin
}

// measure returns what was measured at each place of a limit, or nothing if one
// of them is not to be tightened to.
func (r *ratchet) measure(l Limit) (all []measurement) {
	for _, s := range r.series.matching(l) {
		values, known := s.values()
		if !known || (s.metric.Class != verdict.Count && !r.All) || len(otherSettings(l, s.metric, r.run)) > 0 {
			return nil
		}
		m := measurement{interval{slices.Min(values), slices.Max(values)}, s, s.metric.Class == verdict.Count}
		if s.metric.Class == verdict.Time {
			m.interval = intervalOf(values)
		}
		all = append(all, m)
	}
	return all
}

// extremes returns the measurements that reach lowest and highest.
func extremes(all []measurement) (least, most measurement) {
	least, most = all[0], all[0]
	for _, m := range all {
		if m.low < least.low {
			least = m
		}
		if m.high > most.high {
			most = m
		}
	}
	return least, most
}

// improves reports whether a measured count is better than what it must equal.
func improves(m measurement, equal float64) bool {
	if m.at.metric.Higher {
		return below(equal, m.low)
	}
	return below(m.low, equal)
}

// below reports whether a is less than b by more than the last digit.
func below(a, b float64) bool { return a < b-slack*math.Max(math.Abs(a), math.Abs(b)) }

// padded returns a measured value as a bound above (side 1) or below (-1) it.
func (r *ratchet) padded(m measurement, value float64, side float64) float64 {
	if m.exact {
		return value
	}
	padded := value + side*math.Abs(value)*r.Margin/100
	if padded == 0 {
		return 0
	}
	exponent := int(math.Floor(math.Log10(math.Abs(padded)))) - 2
	digits := side * math.Ceil(side*padded/math.Pow10(exponent))
	rounded, err := strconv.ParseFloat(fmt.Sprintf("%.0fe%d", digits, exponent), 64) // so that it is short in decimal
	if err != nil {
		return padded
	}
	return rounded
}

func (r *ratchet) change(l Limit, kind Kind, q Quantity, value float64, at *series) {
	c := Tightened{
		At: q.At, Limit: l.title(), Kind: kind, Old: q.text, New: q.rewrite(value),
		Where: Where(at.Place), Metric: at.metric.Name,
	}
	if value == 0 && at.metric.Class == verdict.Count {
		c.Warning = "see that the work is gone, and not only its counter"
	}
	r.changes = append(r.changes, c)
	r.edits = append(r.edits, edit{q.At, q.text, c.New})
}

// WriteTightening writes what a [Ratchet] changed, or why nothing, for a person.
func WriteTightening(w io.Writer, t Tightening) error {
	if t.ExitCode() != verdict.ExitOK {
		if _, err := io.WriteString(w, "Nothing is tightened.\n"); err != nil {
			return fmt.Errorf("gate: write tightening: %w", err)
		}
		return WriteText(w, t.Report)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d bounds tightened\n", len(t.Changes))
	for _, c := range t.Changes {
		fmt.Fprintf(&b, "\n%s\n", wrapped("", fmt.Sprintf("%s  %s: %s → %s", c.At, c.Kind, c.Old, c.New)))
		fmt.Fprintf(&b, "%s\n", wrapped("  ", fmt.Sprintf("%s: %s %s", c.Limit, c.Where, c.Metric)))
		if c.Warning != "" {
			fmt.Fprintf(&b, "%s\n", wrapped("  ", c.Warning))
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("gate: write tightening: %w", err)
	}
	return nil
}
