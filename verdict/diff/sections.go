package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// headline says the verdict in one sentence.
func (c Comparison) headline() string {
	line := fmt.Sprintf("%s, exit code %d", c.Verdict, c.ExitCode)
	if c.Equal < c.Counts {
		line += fmt.Sprintf(": %d of %d counts are equal", c.Equal, c.Counts)
	}
	return line
}

// causeLines returns one line for each cause, or one that says there is none.
func (c Comparison) causeLines() (lines []string) {
	for _, cause := range c.Causes {
		lines = append(lines, oneLine(cause.String()))
	}
	if c.Counts > 0 && c.Equal == c.Counts {
		lines = append(lines, fmt.Sprintf("%s: %d counts are equal", VerdictSame, c.Equal))
	}
	switch c.Verdict {
	case VerdictNothing:
		lines = append(lines, VerdictNothing+": no figure is on both sides")
	case VerdictUndecided:
		lines = append(lines, VerdictUndecided+": no count was compared, and no time or memory figure could be judged")
	}
	return lines
}

// oneLine keeps a name with a line break from making two lines of one.
func oneLine(s string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(s) }

// correctness returns the section on whether the runs can be trusted, without what
// the files of neither side say.
func (c Comparison) correctness() sheet {
	s := sheet{heads: [][]string{{"", Before, After}}, align: "lll"}
	for _, line := range []struct {
		name string
		of   func(Side) string
	}{
		{"delivered", Side.delivered},
		{"hashes equal", Side.hashesEqual},
		{"aliasing test", Side.aliasing},
		{"invalid runs", Side.invalidRuns},
	} {
		row := []string{line.name, line.of(c.Before), line.of(c.After)}
		if row[1] != unsaid || row[2] != unsaid {
			s.rows = append(s.rows, row)
		}
	}
	return s
}

// What is printed where files do not tell how runs went.
const (
	unsaid        = "not in the files"
	unsaidOutcome = "The files of neither side say whether messages arrived, once and unaltered."
)

func (s Side) delivered() string {
	if s.Published == nil || s.Delivered == nil {
		return unsaid
	}
	return fmt.Sprintf("%.0f of %.0f published", *s.Delivered, *s.Published)
}

func (s Side) hashesEqual() string {
	if s.Runs == 0 {
		return unsaid
	}
	return fmt.Sprintf("in %d of %d runs", s.Verified, s.Runs)
}

// aliasing tells how many shared messages were looked at again, and of which paths,
// or scenarios of a path, none.
func (s Side) aliasing() string {
	if s.Views == nil {
		return unsaid
	}
	sum, ofPath := 0, make(map[string]int)
	for _, v := range s.Views {
		sum += v.Checked
		ofPath[v.Path] += v.Checked
	}
	var skipped []string
	for _, v := range s.Views {
		name := v.Path
		if ofPath[v.Path] > 0 {
			name = pair(v.Scenario, v.Path)
		}
		if v.Checked == 0 && !slices.Contains(skipped, name) {
			skipped = append(skipped, name)
		}
	}
	if sum == 0 {
		return "did not run"
	}
	out := fmt.Sprintf("%d messages unaltered", sum)
	if len(skipped) > 0 {
		out += "; not on " + few(skipped)
	}
	return oneLine(out)
}

func (s Side) invalidRuns() string {
	if s.Runs == 0 && len(s.Invalid) == 0 {
		return unsaid
	}
	if len(s.Invalid) == 0 {
		return "none"
	}
	return fmt.Sprint(len(s.Invalid))
}

// pair returns the name of a scenario and path.
func pair(scenario, path string) string {
	return oneLine(strings.TrimSpace(scenario + " " + path))
}

// summarySheet returns the section on what a message costs, of each group side by
// side.
func (c Comparison) summarySheet() sheet {
	s := sheet{heads: [][]string{{""}, {""}}, align: "l"}
	var units []string
	for _, g := range c.Summary {
		name := pair(g.Scenario, g.Path)
		s.heads[0] = append(s.heads[0], name, "", "")
		s.heads[1] = append(s.heads[1], Before, After, "delta")
		s.align += "rrr"
		for _, r := range g.Rows {
			if !slices.Contains(units, r.Unit) && len(units) < summaryRows {
				units = append(units, r.Unit)
			}
		}
	}
	for _, unit := range units {
		row := []string{summaryName(unit)}
		for _, g := range c.Summary {
			row = append(row, g.cells(unit)...)
		}
		s.rows = append(s.rows, row)
	}
	return s
}

func (g Group) cells(unit string) []string {
	i := slices.IndexFunc(g.Rows, func(r Row) bool { return r.Unit == unit })
	if i < 0 {
		return []string{"", "", ""}
	}
	r := g.Rows[i]
	return []string{figure(r.Before, r), figure(r.After, r), difference(r)}
}

// figure prints the samples of one side: of a count both ends where they differ.
func figure(s Sample, r Row) string {
	if s.N > 0 && r.Class == "count" && *s.Min != *s.Max {
		return quantity(s.Min, r.Unit, r.Class) + "-" + quantity(s.Max, r.Unit, r.Class)
	}
	return quantity(s.Median, r.Unit, r.Class)
}

// timeSheet returns the section on times.
func (c Comparison) timeSheet() sheet {
	s := sheet{heads: [][]string{{"", "", Before, After, "delta", "floor", "verdict"}}, align: "llrrrrl"}
	last := ""
	for _, r := range timeRows(c.Rows) {
		name := pair(r.Scenario, r.Path)
		floor := notAvailable
		if r.Floor != nil {
			floor = fmt.Sprintf("%.1f %%", *r.Floor)
		}
		row := []string{name, timeName(r.Unit), interval(r.Before, r), interval(r.After, r), difference(r), floor, string(r.Answer)}
		if name == last {
			row[0] = ""
		}
		last = name
		s.rows = append(s.rows, row)
	}
	return s
}

func timeName(unit string) string {
	if unit == "cpu-ns/msg" {
		return "CPU/msg"
	}
	return unit
}

// interval prints a median with its interval, with three digits and all in the
// unit of the median.
func interval(s Sample, r Row) string {
	if s.Low == nil || s.High == nil || s.Median == nil || *s.Median == 0 {
		return quantity(s.Median, r.Unit, r.Class)
	}
	_, unit, _ := strings.Cut(quantity(s.Median, r.Unit, r.Class), " ")
	factor := scaleOf(unit)
	return strings.TrimSpace(fmt.Sprintf("%s [%s, %s] %s",
		short(*s.Median/factor), short(*s.Low/factor), short(*s.High/factor), unit))
}

// short prints about three digits.
func short(v float64) string {
	if a := math.Abs(v); a >= 99.95 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	} else if a >= 9.995 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return digits(v)
}

// scaleOf returns what a quantity that is printed with a prefix was divided by.
func scaleOf(unit string) float64 {
	factor := 1.0
	for _, list := range [][]string{nanoUnits, {"B", "kB", "MB", "GB", "TB"}} {
		if i := slices.Index(list, unit); i > 0 {
			for range i {
				factor *= 1000
			}
		}
	}
	return factor
}

// footnotes explains each verdict of the section on times once.
func (c Comparison) footnotes() (notes []string) {
	if c.ByTurns != nil && !*c.ByTurns {
		notes = append(notes, "measured one after the other, not by turns: what changed in the machine meanwhile is in the difference")
	}
	for _, r := range timeRows(c.Rows) {
		if r.Reason == "" || r.Answer == Better || r.Answer == Worse {
			continue
		}
		note := string(r.Answer) + ": " + oneLine(r.Reason)
		if strings.HasPrefix(r.Reason, withinFloor) {
			note = string(r.Answer) + ": " + withinFloor
		}
		if !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return append(notes, c.byRunLines()...)
}

// byRunLines tells runs apart where there are few.
func (c Comparison) byRunLines() (lines []string) {
	for _, r := range timeRows(c.Rows) {
		if len(r.ByRun) < 2 || r.Unit == "cpu-ns/msg" {
			continue
		}
		var runs []string
		for _, d := range r.ByRun {
			runs = append(runs, fmt.Sprintf("run %d %s", d.Run, percent(&d.Percent)))
		}
		lines = append(lines, fmt.Sprintf("%s %s by run: %s", pair(r.Scenario, r.Path), r.Unit, strings.Join(runs, ", ")))
	}
	return lines
}

// timeTitle heads the section on times.
func (c Comparison) timeTitle() string {
	strict := "advisory: no exit code"
	if c.StrictTimes {
		strict = "strict: worse is exit 1"
	}
	return fmt.Sprintf("Time: median [%.0f %% interval], %s", 100*c.Confidence, strict)
}

// ranked returns rows in the order in which a reviewer reads: what fails, what
// else changed, what is judged, and the rest.
func ranked(rows []Row) []Row {
	rank := func(r Row) int {
		switch {
		case r.Fails != 0:
			return 0
		case r.changed():
			return 1
		case r.Judged:
			return 2
		}
		return 3
	}
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b Row) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// changed reports whether the row is something other than the same or a mere
// difference.
func (r Row) changed() bool {
	switch r.Answer {
	case Better, Worse, Appeared, Gone, Missing, Skipped:
		return true
	case New:
		return r.Class != "count" || r.After.Max == nil || *r.After.Max != 0
	case NotAvailable:
		return r.Fails != 0
	}
	return false
}

// geomeanLines returns one line for each geometric mean of what the other
// sections show.
func (c Comparison) geomeanLines() (lines []string) {
	for _, g := range c.Geomeans {
		if !inSummary(g.Unit) && !judgedUnit(g.Unit) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %+.1f %% %s", g.Unit, g.Percent, g.over()))
	}
	return lines
}

// over says how many places the mean is of.
func (g Geomean) over() string {
	if g.LeftOut > 0 {
		return fmt.Sprintf("over %d, %d left out: not positive", g.Places, g.LeftOut)
	}
	return fmt.Sprintf("over %d", g.Places)
}

// placeName returns a place in words.
func placeName(p verdict.Place) string {
	return pair(p.Scenario, strings.Join(slices.DeleteFunc([]string{p.Path, p.Node, p.Site}, func(s string) bool { return s == "" }), " "))
}
