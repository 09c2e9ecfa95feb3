package verdict

import (
	"bytes"
	_ "embed" // baseline.md.tmpl
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/msgpath/msgpath/counters"
)

//go:embed baseline.md.tmpl
var baselineText string

var baselineTemplate = template.Must(template.New("baseline.md").Funcs(template.FuncMap{
	"cell":   markdownCell,
	"shell":  ShellLine,
	"dirty":  dirty,
	"fixed":  fixed,
	"gib":    func(n uint64) string { return fixed(float64(n)/(1<<30), 1) },
	"commas": func(s []string) string { return strings.Join(s, ", ") },
}).Parse(baselineText))

// WriteBaseline writes the document docs/baseline.md about r. Every figure of a
// run in it is computed from r. A result with an invalid or unverified run, with
// no run, or without counts is no baseline: an error says which. A document from
// which the counts cannot be read back is an error too.
//
// Only c.Check, c.Plots and c.Filter are used. The document cannot be compared with itself, nor know
// whether it is committed: of [CriterionDocument] it says that.
func WriteBaseline(w io.Writer, r Result, c Context) error {
	doc, err := makeBaseline(r, c)
	if err != nil {
		return fmt.Errorf("verdict: write baseline: %w", err)
	}
	if _, err := w.Write(doc); err != nil {
		return fmt.Errorf("verdict: write baseline: %w", err)
	}
	return nil
}

func makeBaseline(r Result, c Context) ([]byte, error) {
	if err := fitForBaseline(r); err != nil {
		return nil, err
	}
	doc, err := renderBaseline(r, c)
	if err != nil {
		return nil, err
	}
	if err := readBack(r, doc); err != nil {
		return nil, fmt.Errorf("read the document back: %w", err)
	}
	return doc, nil
}

// readBack returns an error unless the document has every row of r.
func readBack(r Result, doc []byte) error {
	want := Rows(r)
	rows, err := rowsInDocument(doc)
	if err != nil {
		return err
	}
	if len(rows) != len(want) {
		return fmt.Errorf("it has %d rows, want %d", len(rows), len(want))
	}
	for i, row := range rows {
		if difference := differentCount(want[i], row, true); difference != "" {
			return fmt.Errorf("row %d: %s", i+1, difference)
		}
	}
	return nil
}

func fitForBaseline(r Result) error {
	var p problems
	if err := r.Validate(); err != nil {
		p.errs = append(p.errs, err)
	}
	p.check(len(r.Runs) > 0, "the result has no valid run")
	p.check(r.Verified, "the result is not verified: %d invalid runs", len(r.Invalid))
	p.check(r.Environment.Counting, "the result has no counts: built without the tag msgpathcounters")
	return errors.Join(p.errs...)
}

func renderBaseline(r Result, c Context) ([]byte, error) {
	var csv, out bytes.Buffer
	if err := WriteCSV(&csv, r); err != nil {
		return nil, err
	}
	criteria := Acceptance(r, Context{Check: c.Check})
	document := &criteria[CriterionDocument-1]
	document.Verdict, document.Evidence = NotApplicable, "this is the document; its counts are this run's"
	err := baselineTemplate.Execute(&out, baseline{
		Result: r, CSV: csv.String(), Human: humanBlock(r), Criteria: criteria, Plots: c.Plots, Filter: c.Filter,
	})
	return out.Bytes(), err
}

// baseline is what the template sees: a Result and what follows from it.
type baseline struct {
	Result
	CSV, Human string
	Criteria   []Criterion
	Plots      string // folder of the plots, "" for a document without
	Filter     string // a Markdown table of runs with light peers, "" for a document without
}

// Modules returns "path version" of the modules on which the figures depend.
func (b baseline) Modules() (lines []string) {
	for _, path := range slices.Sorted(maps.Keys(b.Environment.Modules)) {
		for _, part := range []string{"go-libp2p", "protobuf", "blake3", "sqlite"} {
			if strings.Contains(path, "/"+part) && !slices.Contains(lines, path+" "+b.Environment.Modules[path]) {
				lines = append(lines, path+" "+b.Environment.Modules[path])
			}
		}
	}
	return lines
}

// breakdown is the counts of one scenario on one path by node and site.
type breakdown struct {
	Scenario, Path string
	Runs           int
	Same           bool // the counts are the same in every run
	Counted        bool
	Lines          []breakdownLine
}

// breakdownLine is a site, or the sum over the sites of a node, or over all.
type breakdownLine struct {
	Node, Site string
	Sum        bool
	counters.Counts
}

// Breakdowns returns a breakdown of the first run of each scenario and path.
func (b baseline) Breakdowns() (all []breakdown) {
	for _, scenario := range scenarios(b.Runs) {
		for _, a := range arms(b.Runs, scenario) {
			all = append(all, newBreakdown(scenario, a))
		}
	}
	return all
}

func newBreakdown(scenario string, a arm) breakdown {
	first := a.runs[0]
	d := breakdown{Scenario: scenario, Path: a.path, Runs: len(a.runs), Same: sameCounts(a.runs)}
	sumOfNodes, counted := countsOf(first.Nodes)
	if d.Counted = counted; !counted {
		return d
	}
	for _, node := range first.Nodes {
		var sum counters.Counts
		for _, s := range node.Sites {
			d.Lines = append(d.Lines, breakdownLine{Node: node.Name, Site: s.Site, Counts: s.Counts})
			sum = sum.Add(s.Counts)
		}
		if len(first.Nodes) > 1 {
			d.Lines = append(d.Lines, breakdownLine{Node: node.Name, Site: "sum", Sum: true, Counts: sum})
		}
	}
	d.Lines = append(d.Lines, breakdownLine{Node: "all", Site: "sum", Sum: true, Counts: sumOfNodes})
	return d
}

// sameCounts reports whether each node and site counted the same in every run.
func sameCounts(runs []Run) bool {
	for _, run := range runs[1:] {
		same := slices.EqualFunc(run.Nodes, runs[0].Nodes, func(a, b Node) bool {
			return a.Name == b.Name && slices.Equal(a.Sites, b.Sites)
		})
		if !same {
			return false
		}
	}
	return true
}

// comparison is a published figure beside ours of the same shape.
type comparison struct {
	Published
	Step, Path  string
	Ran         bool // the rest is unset where it did not
	Ours        Published
	SameCounts  bool
	Overhead    float64 // bytes per message, ours
	HasOverhead bool
}

// Comparisons sets the published step before the refactor beside the path
// "baseline" and the step after it beside "envelope".
func (b baseline) Comparisons() (all []comparison) {
	for _, step := range []struct {
		name, path string
		figures    []Published
	}{{"before", "baseline", PublishedBefore}, {"after", "envelope", PublishedAfter}} {
		for _, figure := range step.figures {
			all = append(all, b.compare(step.name, step.path, figure))
		}
	}
	return all
}

func (b baseline) compare(step, path string, figure Published) comparison {
	c := comparison{Published: figure, Step: step, Path: path}
	i := slices.IndexFunc(b.Runs, func(run Run) bool { return Series(run.Scenario) == figure.Scenario && run.Path == path })
	if i < 0 {
		return c
	}
	sum, counted := countsOf(b.Runs[i].Nodes)
	if c.Ran = counted; !counted {
		return c
	}
	msgs := float64(b.Runs[i].Messages)
	c.Ours = Published{
		Scenario: figure.Scenario, Decodes: float64(sum.Decodes) / msgs, Hashes: float64(sum.Hashes) / msgs,
		HashedMB: float64(sum.HashedBytes) / megabyte, DecodedMB: float64(sum.DecodedBytes) / megabyte,
	}
	c.SameCounts = c.Ours.Decodes == figure.Decodes && c.Ours.Hashes == figure.Hashes
	c.Overhead, c.HasOverhead = overhead(b.Result, b.Runs[i])
	return c
}

// SameWorkload reports whether byte counts can be set beside published ones.
func (b baseline) SameWorkload() bool {
	return b.Settings.Messages == PublishedMessages && b.Settings.Profile == PublishedProfile
}

// beyond is a path that the published system has no counterpart of.
type beyond struct {
	Scenario, Path  string
	Decodes, Hashes float64 // per message
}

// Beyonds returns the counted paths that no published figure stands beside.
func (b baseline) Beyonds() (all []beyond) {
	for _, d := range b.Breakdowns() {
		if d.Path == "baseline" || d.Path == "envelope" || !d.Counted {
			continue
		}
		sum := d.Lines[len(d.Lines)-1].Counts
		msgs := float64(b.Settings.Messages)
		all = append(all, beyond{d.Scenario, d.Path, float64(sum.Decodes) / msgs, float64(sum.Hashes) / msgs})
	}
	return all
}

// overheadLine is the exact mean overhead of encoding over the runs of a scenario
// and path, in bytes per message.
type overheadLine struct {
	Scenario, Path string
	Bytes          float64
}

// Overheads returns the overhead of each scenario and path that decodes.
func (b baseline) Overheads() (all []overheadLine) {
	for _, scenario := range scenarios(b.Runs) {
		for _, a := range arms(b.Runs, scenario) {
			if bytes, ok := overhead(b.Result, a.runs[0]); ok {
				all = append(all, overheadLine{scenario, a.path, bytes})
			}
		}
	}
	return all
}

// MeanPayload returns payload and meta per message, bytes.
func (b baseline) MeanPayload() float64 {
	return float64(b.Settings.PayloadBytes) / float64(b.Settings.Messages)
}

// Arguments returns the command line without the program, whose path is of the
// machine that ran it.
func (b baseline) Arguments() []string {
	if len(b.Environment.CommandLine) == 0 {
		return nil
	}
	return b.Environment.CommandLine[1:]
}

// markdownCell keeps text within one cell of a table.
func markdownCell(s any) string {
	return strings.NewReplacer("|", `\|`, "\r", " ", "\n", " ").Replace(fmt.Sprint(s))
}
