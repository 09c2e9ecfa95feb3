package limits

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/msgpath/msgpath/verdict"
)

// WriteText writes the limits and the arms as tables for a person, at most 110
// columns wide, without colour.
func WriteText(w io.Writer, d Document) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s", d.headline(), verdict.PlainTable(d.limitTable()))
	fmt.Fprintln(&b, "\n  Ratios are medians over pairs of runs. In msg/s and 1 / CPU time more is better.")
	for _, note := range d.notes() {
		fmt.Fprintln(&b, "  "+note)
	}
	fmt.Fprintf(&b, "\nWhat was measured, medians over runs\n\n%s", verdict.PlainTable(d.armTable()))
	for _, p := range d.Profiles {
		fmt.Fprintf(&b, "\nWhere the CPU time of %s goes\n\n%s", p.Arm, verdict.PlainTable(p.table()))
	}
	for _, i := range d.Invalid {
		fmt.Fprintf(&b, "\nINVALID %s, %s: %s\n", i.Scenario, i.Path, i.Reason)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("limits: write text: %w", err)
	}
	return nil
}

// headline says in one line what came of the limits.
func (d Document) headline() string {
	count := make(map[verdict.Verdict]int)
	for _, l := range d.Limits {
		count[l.Verdict]++
	}
	var parts []string
	for _, v := range []verdict.Verdict{verdict.Pass, verdict.Fail, verdict.Inconclusive, verdict.NotApplicable} {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[v], v))
		}
	}
	return fmt.Sprintf("%d limits: %s", len(d.Limits), strings.Join(parts, ", "))
}

func (d Document) notes() (notes []string) {
	for _, l := range d.Limits {
		if l.Note != "" {
			notes = append(notes, l.Name+": "+l.Note)
		}
	}
	return notes
}

func (d Document) limitTable() table.Writer {
	t := newTable("llrrrrl", "what", "figure", "target", "median", fmt.Sprintf("%.0f %% interval", 100*verdict.Confidence), "n", "verdict")
	last := ""
	for _, l := range d.Limits {
		name := l.Name
		if name == last {
			name = ""
		}
		last = l.Name
		t.AppendRow(table.Row{name, l.Figure, l.Target(), l.median(), l.interval(), len(l.Values), string(l.Verdict)})
	}
	return t
}

func (d Document) armTable() table.Writer {
	t := newTable("lrrrrrrr", "arm", "runs", "messages", "msg/s", "CPU µs/msg", "allocs/msg", "allocated kB/msg", "live heap MB")
	for _, a := range d.Arms {
		t.AppendRow(table.Row{a.Name, a.Runs, a.Messages, digits(a.Rate), digits(a.CPU / 1e3), digits(a.Allocs), digits(a.Allocated / 1e3), digits(a.LiveHeap / 1e6)})
	}
	return t
}

func (p Profile) table() table.Writer {
	t := newTable("rl", "%", "function")
	for _, s := range p.Lines {
		t.AppendRow(table.Row{fmt.Sprintf("%.1f", s.Percent), s.Function})
	}
	return t
}

// newTable returns a table with heads, whose columns are aligned by letters.
func newTable(letters string, heads ...any) table.Writer {
	t := verdict.AlignedTable(letters)
	t.AppendHeader(heads)
	return t
}

// LimitsMarkdown returns the table of limits, and what is said of them.
func (d Document) LimitsMarkdown() string {
	out := d.limitTable().RenderMarkdown() + "\n"
	for _, note := range d.notes() {
		out += "\n- " + note
	}
	return out
}

// ArmsMarkdown returns the table of arms.
func (d Document) ArmsMarkdown() string { return d.armTable().RenderMarkdown() }

// Markdown returns the table of a profile.
func (p Profile) Markdown() string { return p.table().RenderMarkdown() }
