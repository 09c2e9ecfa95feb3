package diff

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/msgpath/msgpath/verdict"
)

// sheet is a table that is printed as text or as Markdown.
type sheet struct {
	heads [][]string // in Markdown the first only
	rows  [][]string
	align string // a letter for each column: l for left, r for right
}

func (s sheet) writer(heads [][]string) table.Writer {
	t := verdict.AlignedTable(s.align)
	for _, head := range heads {
		t.AppendHeader(rowOf(head))
	}
	for _, row := range s.rows {
		t.AppendRow(rowOf(row))
	}
	return t
}

func rowOf(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, c := range cells {
		row[i] = c
	}
	return row
}

// text returns the table without lines, each row indented.
func (s sheet) text() string { return verdict.PlainTable(s.writer(s.heads)) }

// markdown returns the table with its cells escaped.
func (s sheet) markdown() string {
	for i, row := range s.rows {
		s.rows[i] = escapeAll(row)
	}
	return s.writer([][]string{escapeAll(s.heads[0])}).RenderMarkdown() + "\n"
}

func escapeAll(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = escape(c)
	}
	return out
}

// markdownEscapes keeps names from being read as Markdown or HTML. The table
// writer itself escapes what separates columns.
var markdownEscapes = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`,
	"\r", " ", "\n", " ",
)

func escape(s string) string { return markdownEscapes.Replace(s) }
