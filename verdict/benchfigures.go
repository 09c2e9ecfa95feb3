package verdict

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"
)

// benchName is where a Go benchmark line was measured.
type benchName struct {
	Place
	ours bool
}

// parsedBench is a file of Go benchmark lines.
type parsedBench struct {
	name    string
	results []*benchfmt.Result
	units   benchfmt.UnitMetadataMap
	procs   string              // the number of cores that all names end with, as "-8"
	pkgs    map[string][]string // packages that have a name
}

// readBenchLines reads Go benchmark lines, ours or of any other project.
func readBenchLines(name string, data []byte) (Record, error) {
	p := parsedBench{name: name}
	if err := p.parse(data); err != nil {
		return Record{}, err
	}
	record := Record{Format: FormatBench, Notes: skipped(name, data), Failed: p.failed(data)}
	runs := make(map[Place]int)
	var ours, theirs []Figure
	for _, result := range p.results {
		at := p.place(result)
		runs[at.Place]++
		figures, err := p.figures(at, runs[at.Place], result)
		if err != nil {
			return Record{}, err
		}
		if at.ours {
			ours = append(ours, figures...)
		} else {
			theirs = append(theirs, figures...)
		}
		record.addConditions(p.conditions(result))
	}
	silence(ours)
	record.Figures = append(ours, theirs...)
	return record, nil
}

func (p *parsedBench) parse(data []byte) error {
	in := benchfmt.NewReader(bytes.NewReader(data), p.name)
	for in.Scan() {
		switch r := in.Result().(type) {
		case *benchfmt.Result:
			p.results = append(p.results, r.Clone())
		case *benchfmt.SyntaxError:
			return fmt.Errorf("line %d: %s", r.Line, r.Msg)
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	if len(p.results) == 0 {
		return fmt.Errorf("has no Go benchmark line with a result")
	}
	p.units = in.Units()
	p.procs = commonProcs(p.results)
	p.pkgs = make(map[string][]string)
	for _, r := range p.results {
		name, pkg := r.Name.String(), r.GetConfig("pkg")
		if !slices.Contains(p.pkgs[name], pkg) {
			p.pkgs[name] = append(p.pkgs[name], pkg)
		}
	}
	return nil
}

// commonProcs returns the "-8" that all names end with, as "go test" adds it to
// each name or to none. Names that do not agree are of runs with several numbers of
// cores, or end so for another reason, as "size-8" and "size-16" do.
func commonProcs(results []*benchfmt.Result) string {
	var common string
	for i, r := range results {
		procs := procsOf(r.Name)
		if i > 0 && procs != common {
			return ""
		}
		common = procs
	}
	return common
}

func procsOf(name benchfmt.Name) string {
	_, parts := name.Parts()
	if len(parts) == 0 || !bytes.HasPrefix(parts[len(parts)-1], []byte("-")) {
		return ""
	}
	return string(parts[len(parts)-1])
}

// place returns what the name of a line says.
func (p *parsedBench) place(r *benchfmt.Result) benchName {
	at := p.placeOf(strings.TrimSuffix(r.Name.String(), p.procs))
	if len(p.pkgs[r.Name.String()]) > 1 && !at.ours {
		at.Scenario = r.GetConfig("pkg") + "." + at.Scenario
	}
	return at
}

// placeOf returns what a name without the number of cores says.
func (p *parsedBench) placeOf(name string) benchName {
	parts := strings.Split(name, "/")
	if len(parts) == 3 {
		path, hasPath := strings.CutPrefix(parts[1], "path=")
		role, hasRole := strings.CutPrefix(parts[2], "role=")
		if hasPath && hasRole && slices.Contains([]string{RoleAll, RolePublisher, RoleReceiver}, role) {
			first, size := utf8.DecodeRuneInString(parts[0])
			scenario := string(unicode.ToLower(first)) + parts[0][size:]
			return benchName{Place{scenario, path, role, ""}, true}
		}
	}
	return benchName{Place: Place{Scenario: name, Node: RoleAll}}
}

func (p *parsedBench) figures(at benchName, run int, r *benchfmt.Result) (all []Figure, err error) {
	_, line := r.Pos()
	for _, v := range r.Values {
		unit, value := v.Unit, v.Value
		if v.OrigUnit != "" { // as it was written, "ns/op", not "sec/op"
			unit, value = v.OrigUnit, v.OrigValue
		}
		if _, err := strconv.ParseFloat(unit, 64); err == nil {
			return nil, fmt.Errorf("line %d: Benchmark%s: a value has no unit: %v is followed by %s", line, r.Name, value, unit)
		}
		if !finite(value) {
			return nil, fmt.Errorf("line %d: Benchmark%s: %v %s is not a number", line, r.Name, value, unit)
		}
		all = append(all, Figure{Place: at.Place, Metric: p.metric(unit), Run: run, Value: value, Known: true})
	}
	return all, nil
}

// metric returns what a unit is a number of.
func (p *parsedBench) metric(unit string) Metric {
	m, known := metricNamed(unit)
	if !known {
		m = foreignMetric(unit)
		if better := p.units.GetBetter(unit); better != 0 {
			m.Higher = better > 0
		}
	}
	if exact := p.units.Get(unit, "assume"); exact != nil && exact.Value == "exact" {
		m.Class = Count
	}
	return m
}

// foreignMetric guesses what a unit of another project is.
func foreignMetric(unit string) Metric {
	base, per, _ := strings.Cut(unit, "/")
	m := Metric{Name: unit, Class: Time, Higher: per == "s" || per == "sec"}
	if ours, known := metricNamed(base + perMessage); known && ours.Class == Count {
		m.Class = Count
	}
	if per == "op" && (base == "B" || base == "allocs") {
		m.Class = Memory
	}
	return m
}

// conditions returns the configuration of a line. The package is part of a name,
// not a condition.
func (p *parsedBench) conditions(r *benchfmt.Result) map[string]string {
	c := make(map[string]string)
	if p.procs != "" {
		c["gomaxprocs"] = p.procs[1:]
	}
	for _, kv := range r.Config {
		if kv.Key != "pkg" {
			c[kv.Key] = string(kv.Value)
		}
	}
	return c
}

// notRun returns the names of benchmarks of which "go test" says that they failed
// or were skipped, each with the number of its line.
func notRun(what string, data []byte) (names []string, numbers []int) {
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		if rest, ok := strings.CutPrefix(line, "--- "+what+": Benchmark"); ok {
			names, numbers = append(names, strings.TrimSpace(rest)), append(numbers, number)
		}
	}
	return names, numbers
}

// skipped returns a note for each benchmark that was skipped.
func skipped(file string, data []byte) (notes []string) {
	names, numbers := notRun("SKIP", data)
	for i, name := range names {
		notes = append(notes, fmt.Sprintf("%s:%d: SKIP: Benchmark%s", file, numbers[i], name))
	}
	return notes
}

// failed returns the benchmarks that failed: what they printed before is not to be
// trusted.
func (p *parsedBench) failed(data []byte) (all []Invalid) {
	names, numbers := notRun("FAIL", data)
	for i, name := range names {
		first, _, _ := strings.Cut(name, " ")
		at := p.placeOf(strings.TrimSuffix(first, p.procs)).Place
		all = append(all, Invalid{Scenario: at.Scenario, Path: at.Path, Reason: fmt.Sprintf("%s:%d: FAIL: Benchmark%s", p.name, numbers[i], name)})
	}
	return all
}
