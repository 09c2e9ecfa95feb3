package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// A grid is a table: it says in text what a plot shows.
type grid struct {
	Caption string
	Head    []string
	Rows    []gridRow
	Prose   bool // its cells are words, not numbers
}

// A gridRow is one line of a grid, whose first cell is its name.
type gridRow struct {
	Name   string
	Note   string // below the name, smaller
	Cells  []string
	Strong bool // a sum
	Group  bool // a heading for the rows below, with no cells
}

// Value is a cell as the page needs it.
type value struct {
	Text string
	None bool // n/a
}

// Values returns the cells of a row.
func (r gridRow) Values() (all []value) {
	for _, text := range r.Cells {
		all = append(all, value{text, text == notAvailable})
	}
	return all
}

// Span returns the number of columns.
func (g grid) Span() int { return len(g.Head) }

// markdown returns the grid as a table in Markdown under its caption.
func (g grid) markdown() string {
	t := table.NewWriter()
	head := make(table.Row, len(g.Head))
	for i, name := range g.Head {
		head[i] = clean(name)
	}
	t.AppendHeader(head)
	for _, r := range g.Rows {
		cells := table.Row{clean(r.Name)}
		for i := range len(g.Head) - 1 {
			text := ""
			if i < len(r.Cells) {
				text = r.Cells[i]
			}
			cells = append(cells, clean(text))
		}
		t.AppendRow(cells)
	}
	return clean(g.Caption) + "\n\n" + t.RenderMarkdown() + "\n"
}

func markdown(grids []grid) string {
	var all []string
	for _, g := range grids {
		all = append(all, g.markdown())
	}
	return strings.Join(all, "\n")
}
