package verdict

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/msgpath/msgpath/counters"
)

// pathsPerTable keeps a table within 100 columns.
const pathsPerTable = 4

// WriteText writes a short table for each scenario, paths side by side, and for
// runs with several nodes the counts of each node. It is at most 100 columns
// wide for two nodes of one letter and paths of 15, and has no colour. Times are
// medians over runs and 1 kB is 1000 bytes; a count is the same in every run, and
// marked "!" with both ends where it is not.
func WriteText(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("verdict: write text: %w", err)
	}
	if _, err := io.WriteString(w, humanBlock(r)); err != nil {
		return fmt.Errorf("verdict: write text: %w", err)
	}
	return nil
}

func humanBlock(r Result) string {
	var b strings.Builder
	for _, scenario := range scenarios(r.Runs) {
		all := arms(r.Runs, scenario)
		for group := range slices.Chunk(all, pathsPerTable) {
			fmt.Fprintf(&b, "%s: %s\n%s\n", scenario, describe(r, all), summaryTable(scenario, group))
		}
		b.WriteString(openLoopTable(r, scenario))
		if nodes := nodeTable(all); nodes != "" {
			fmt.Fprintf(&b, "%s, per message and node:\n%s\n", scenario, nodes)
		}
	}
	if len(r.Runs) == 0 {
		b.WriteString("No run is valid.\n")
	}
	for _, inv := range r.Invalid {
		fmt.Fprintf(&b, "INVALID %s, path %s: %s\n", inv.Scenario, inv.Path, inv.Reason)
	}
	if !r.Environment.Counting {
		b.WriteString("n/a: this build does not count; build with -tags msgpathcounters.\n")
	}
	return b.String()
}

func describe(r Result, all []arm) string {
	least, most := len(all[0].runs), len(all[0].runs)
	for _, a := range all {
		least, most = min(least, len(a.runs)), max(most, len(a.runs))
	}
	runs := fmt.Sprint(most)
	if least != most {
		runs = fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprintf("%d messages of %s, runs per path: %s, medians",
		r.Settings.Messages, r.Settings.Profile, runs)
}

// textLine is one line of the summary: what it is called and what it says of
// the runs of one path.
type textLine struct {
	name string
	cell func([]Run) string
}

// summaryLines returns the lines of a scenario's table.
func summaryLines(scenario string) []textLine {
	per := "µs/msg p50 / p99" // from injection until the application was called
	if plain, _ := CutFilter(scenario); plain == Macro {
		per = "arrival gap µs p50 / p99" // between one delivery and the next
	}
	return []textLine{
		{"msg/s", func(runs []Run) string { return median(runs, rate) }},
		{"msg/s min-max", func(runs []Run) string { return ends(runs, rate) }},
		{"CPU µs/msg", func(runs []Run) string { return median(runs, cpuMicros) }},
		{"CPU µs/msg min-max", func(runs []Run) string { return ends(runs, cpuMicros) }},
		{per, func(runs []Run) string { return median(runs, perP50) + " / " + median(runs, perP99) }},
		{"latency µs p50 / p99", func(runs []Run) string { return median(runs, latencyP50) + " / " + median(runs, latencyP99) }},
		{"decodes/msg", func(runs []Run) string {
			return exact(runs, 3, each(func(c counters.Counts) uint64 { return c.Decodes }))
		}},
		{"hashes/msg", func(runs []Run) string {
			return exact(runs, 3, each(func(c counters.Counts) uint64 { return c.Hashes }))
		}},
		{"id hashes/msg", func(runs []Run) string {
			return exact(runs, 3, each(func(c counters.Counts) uint64 { return c.IDHashes }))
		}},
		{"copies/msg", func(runs []Run) string {
			return exact(runs, 3, each(func(c counters.Counts) uint64 { return c.Copies }))
		}},
		{"hashed MB", func(runs []Run) string {
			return exact(runs, 2, total(func(c counters.Counts) uint64 { return c.HashedBytes }))
		}},
		{"copied MB", func(runs []Run) string {
			return exact(runs, 2, total(func(c counters.Counts) uint64 { return c.CopiedBytes }))
		}},
		{"allocs/msg", func(runs []Run) string { return median(runs, allocs) }},
		{"allocated kB/msg", func(runs []Run) string { return median(runs, allocKB) }},
		{"unexplained kB/msg", func(runs []Run) string { return median(runs, unexplainedKB) }},
	}
}

func rate(r Run) *float64       { return known(perSecond(r)) }
func cpuMicros(r Run) *float64  { return known(float64(r.CPUNanos) / float64(r.Messages) / 1e3) }
func perP50(r Run) *float64     { return known(float64(r.NanosPerP50) / 1e3) }
func perP99(r Run) *float64     { return known(float64(r.NanosPerP99) / 1e3) }
func latencyP50(r Run) *float64 { return micros(r.LatencyP50) }
func latencyP99(r Run) *float64 { return micros(r.LatencyP99) }
func allocs(r Run) *float64     { return known(float64(r.Allocs) / float64(r.Messages)) }
func allocKB(r Run) *float64 {
	return known(float64(r.AllocBytes) / 1e3 / float64(r.Messages))
}

func unexplainedKB(r Run) *float64 {
	line := benchLine{run: r, counts: countedOf(r, r.Nodes)}
	v := line.unexplained()
	if v == nil {
		return nil
	}
	return known(*v / 1e3)
}

func micros(v *int64) *float64 {
	if v == nil {
		return nil
	}
	return known(float64(*v) / 1e3)
}

// each returns a count of all nodes of a run, per message.
func each(field func(counters.Counts) uint64) func(Run) *float64 {
	return eachOf(func(Node) bool { return true }, field)
}

// eachOf returns a count of some nodes of a run, per message.
func eachOf(of func(Node) bool, field func(counters.Counts) uint64) func(Run) *float64 {
	return func(r Run) *float64 {
		nodes := slices.DeleteFunc(slices.Clone(r.Nodes), func(n Node) bool { return !of(n) })
		sum, ok := countsOf(nodes)
		if !ok {
			return nil
		}
		return known(float64(field(sum)) / float64(r.Messages))
	}
}

// total returns bytes of all nodes of a run, in MB.
func total(field func(counters.Counts) uint64) func(Run) *float64 {
	return func(r Run) *float64 {
		sum, ok := countsOf(r.Nodes)
		if !ok {
			return nil
		}
		return known(float64(field(sum)) / megabyte)
	}
}

func summaryTable(scenario string, group []arm) string {
	t := newTable()
	head := table.Row{""}
	for _, a := range group {
		head = append(head, a.path)
	}
	t.AppendHeader(head)
	for _, line := range summaryLines(scenario) {
		row := table.Row{line.name}
		for _, a := range group {
			row = append(row, line.cell(a.runs))
		}
		t.AppendRow(row)
	}
	alignRight(t, 2, len(group)+1)
	return t.Render()
}

// nodeTable returns the counts per node, as sums, or "" where every run has one
// node.
func nodeTable(all []arm) string {
	if !slices.ContainsFunc(all, func(a arm) bool { return len(a.runs[0].Nodes) > 1 }) {
		return ""
	}
	t := newTable()
	t.AppendHeader(table.Row{"path", "nodes", "decodes", "hashes", "copies"})
	for _, a := range all {
		names := nodeNames(a.runs[0])
		t.AppendRow(table.Row{
			a.path, strings.Join(names, " + "),
			nodeSum(a.runs, names, func(c counters.Counts) uint64 { return c.Decodes }),
			nodeSum(a.runs, names, func(c counters.Counts) uint64 { return c.Hashes }),
			nodeSum(a.runs, names, func(c counters.Counts) uint64 { return c.Copies }),
		})
	}
	alignRight(t, 3, 5)
	return t.Render()
}

func nodeNames(run Run) (names []string) {
	for _, n := range run.Nodes {
		names = append(names, n.Name)
	}
	return names
}

// nodeSum prints a count per message as "A + B = all".
func nodeSum(runs []Run, names []string, field func(counters.Counts) uint64) string {
	var terms []string
	for _, name := range names {
		terms = append(terms, exact(runs, 3, eachOf(func(n Node) bool { return n.Name == name }, field)))
	}
	return strings.Join(terms, " + ") + " = " + exact(runs, 3, each(field))
}

// PlainTable returns a table without lines, each row indented by two columns, in
// the letters in which its heads are written.
func PlainTable(t table.Writer) string {
	style := table.StyleDefault
	style.Options = table.Options{}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	var b strings.Builder
	for line := range strings.Lines(t.Render() + "\n") {
		b.WriteString("  " + strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// AlignedTable returns an empty table whose columns, and their heads, are aligned
// by a letter for each: l for left, r for right.
func AlignedTable(letters string) table.Writer {
	t := table.NewWriter()
	var columns []table.ColumnConfig
	for i, letter := range letters {
		align := text.AlignRight
		if letter == 'l' {
			align = text.AlignLeft
		}
		columns = append(columns, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	t.SetColumnConfigs(columns)
	return t
}

func newTable() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	return t
}

// alignRight right-aligns the columns from first to last, counted from 1.
func alignRight(t table.Writer, first, last int) {
	var configs []table.ColumnConfig
	for n := first; n <= last; n++ {
		configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
}
