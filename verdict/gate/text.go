package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/msgpath/msgpath/verdict"
)

// width is the most columns of the text.
const width = 100

// WriteText writes the report for a person: what came of it, what does not pass
// with its cause, and a table with one line for each verdict, the worst first.
// At most 100 columns.
func WriteText(w io.Writer, r Report) error {
	var b strings.Builder
	r.Lines = slices.SortedStableFunc(slices.Values(r.Lines), func(a, b Line) int {
		return severity(b.Verdict) - severity(a.Verdict)
	})
	b.WriteString(wrapped("", r.headline()) + "\n")
	for _, cause := range r.Invalid {
		b.WriteString(wrapped("  ", cause) + "\n")
	}
	for _, note := range r.Notes {
		b.WriteString(wrapped("  ", "note: "+note) + "\n")
	}
	for _, l := range r.Lines {
		if l.Verdict != verdict.Pass {
			b.WriteString("\n" + l.paragraph())
		}
	}
	if len(r.Lines) > 0 {
		b.WriteString("\n" + r.table() + "\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("gate: write text: %w", err)
	}
	return nil
}

// headline says in one sentence what came of it.
func (r Report) headline() string {
	parts := []string{fmt.Sprintf("%d pass", r.count(verdict.Pass))}
	for _, v := range []struct {
		verdict verdict.Verdict
		text    string
	}{
		{verdict.Fail, "%d FAIL"},
		{verdict.Warn, "%d WARN"},
		{verdict.Inconclusive, "%d INCONCLUSIVE"},
		{Unmatched, "%d match nothing"},
		{verdict.NotApplicable, "%d n/a where a number is required"},
	} {
		if n := r.count(v.verdict); n > 0 {
			parts = append(parts, fmt.Sprintf(v.text, n))
		}
	}
	outcome := map[int]string{
		verdict.ExitOK: "PASS", verdict.ExitFailed: "FAIL",
		verdict.ExitInvalid: "INVALID", verdict.ExitUnexamined: "NOT EXAMINED",
	}[r.ExitCode()]
	of := strings.Join(r.Run, ", ")
	if len(r.Base) > 0 {
		of += " against " + strings.Join(r.Base, ", ")
	}
	return fmt.Sprintf("%s (exit code %d): %s: %s", outcome, r.ExitCode(), of, strings.Join(parts, ", "))
}

func (r Report) table() string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(table.Row{"verdict", "limit", "bound", "value", "places", "samples"})
	for _, l := range r.Lines {
		t.AppendRow(table.Row{l.Verdict, l.Limit, l.Bound, l.value(), l.Places, l.Samples})
	}
	wrap := func(number, most int, align text.Align) table.ColumnConfig {
		return table.ColumnConfig{
			Number: number, WidthMax: most, WidthMaxEnforcer: text.WrapSoft, Align: align, AlignHeader: align,
		}
	}
	t.SetColumnConfigs([]table.ColumnConfig{
		wrap(2, 38, text.AlignLeft), wrap(3, 14, text.AlignLeft), wrap(4, 12, text.AlignRight),
		wrap(5, 6, text.AlignRight), wrap(6, 7, text.AlignRight),
	})
	var lines []string
	for line := range strings.SplitSeq(t.Render(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// value prints the number of a line.
func (l Line) value() string {
	switch {
	case l.Value != nil:
		return show(*l.Value, l.Metric, l.exact)
	case l.Cells == 1:
		return "1 cell"
	case l.Cells > 1:
		return fmt.Sprintf("%d cells", l.Cells)
	case l.Verdict == verdict.NotApplicable:
		return "n/a"
	}
	return ""
}

// paragraph says all there is to say of a line that does not pass.
func (l Line) paragraph() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", wrapped("", fmt.Sprintf("%s  %s", l.Verdict, l.At)))
	b.WriteString(wrapped("  ", l.Finding()) + "\n")
	if len(l.FromCode) > 0 {
		b.WriteString(wrapped("  ", "counted at: "+strings.Join(l.FromCode, ", ")) + "\n")
	}
	if l.Reason != "" && l.Verdict != verdict.NotApplicable { // it is not the limit that is to blame
		b.WriteString(wrapped("  ", "reason: "+l.Reason) + "\n")
	}
	if l.Owner != "" {
		b.WriteString(wrapped("  ", "owner: "+l.Owner) + "\n")
	}
	return b.String()
}

// Finding says in one sentence what was found where.
func (l Line) Finding() string {
	if l.Where == nil {
		return l.Limit + ": " + l.Detail
	}
	s := fmt.Sprintf("%s %s: ", l.Where, l.Metric)
	if l.Value == nil {
		return s + l.Detail
	}
	s += fmt.Sprintf("%s, want %s", l.value(), strings.TrimPrefix(strings.TrimPrefix(l.Bound, "soft "), "= "))
	if l.Base != nil {
		s += ", base " + show(*l.Base, l.Metric, l.exact)
	}
	if l.Outside > 0 {
		s += fmt.Sprintf("; %d of %d samples", l.Outside, l.Samples)
	}
	if l.Detail != "" {
		s += "; " + l.Detail
	}
	return s
}

// wrapped breaks a text into indented lines of at most [width] columns.
func wrapped(indent, s string) string {
	lines := strings.Split(text.WrapSoft(s, width-len(indent)), "\n")
	for i := range lines {
		lines[i] = indent + strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
