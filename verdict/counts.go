package verdict

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
)

// WriteCounts writes what each site of each node counted per message, paths side
// by side, and nothing else of r. A count that is not the same in every run has
// both ends and a mark.
func WriteCounts(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("verdict: write counts: %w", err)
	}
	for _, scenario := range scenarios(r.Runs) {
		for group := range slices.Chunk(arms(r.Runs, scenario), pathsPerTable) {
			if _, err := fmt.Fprintf(w, "%s, events per message:\n%s\n", scenario, countsTable(group)); err != nil {
				return fmt.Errorf("verdict: write counts: %w", err)
			}
		}
	}
	if len(r.Runs) == 0 {
		_, err := io.WriteString(w, "No run is valid.\n")
		return err
	}
	return nil
}

// siteEvent is one line of the table.
type siteEvent struct{ node, site, event string }

func countsTable(group []arm) string {
	t := newTable()
	head := table.Row{"node", "site", "event"}
	for _, a := range group {
		head = append(head, a.path)
	}
	t.AppendHeader(head)
	lines := siteEvents(group)
	for i, line := range lines {
		row := table.Row{line.node, line.site, line.event}
		if i > 0 && lines[i-1].node == line.node {
			row[0] = ""
			if lines[i-1].site == line.site {
				row[1] = ""
			}
		} else if i > 0 {
			t.AppendSeparator()
		}
		for _, a := range group {
			row = append(row, eventCell(a, line))
		}
		t.AppendRow(row)
	}
	alignRight(t, 4, len(group)+3)
	return t.Render()
}

// siteEvents returns the events that happened on any path, by node and site.
func siteEvents(group []arm) (lines []siteEvent) {
	var nodes []string
	for _, a := range group {
		for _, run := range a.runs {
			for _, n := range run.Nodes {
				if !slices.Contains(nodes, n.Name) {
					nodes = append(nodes, n.Name)
				}
			}
		}
	}
	for _, node := range nodes {
		for _, site := range sitesOf(group, node) {
			for _, e := range eventNames {
				line := siteEvent{node, site, e}
				if slices.ContainsFunc(group, func(a arm) bool { return line.happened(a.runs) }) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

func sitesOf(group []arm, node string) (names []string) {
	for _, a := range group {
		for _, run := range a.runs {
			for _, n := range run.Nodes {
				for _, s := range n.Sites {
					if n.Name == node {
						names = append(names, s.Site)
					}
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (l siteEvent) happened(runs []Run) bool {
	return slices.ContainsFunc(runs, func(run Run) bool {
		v := l.perMessage(run)
		return v != nil && *v > 0
	})
}

// perMessage returns the events of a run per message, nil where its node was not
// counted or is not there.
func (l siteEvent) perMessage(run Run) *float64 {
	for _, n := range run.Nodes {
		if n.Name != l.node || n.Sites == nil {
			continue
		}
		for _, s := range n.Sites {
			for _, e := range eventsOf(s.Counts) {
				if s.Site == l.site && e.name == l.event {
					return known(float64(e.count) / float64(run.Messages))
				}
			}
		}
		return known(0)
	}
	return nil
}

// eventCell leaves a cell empty where nothing happened, so that the eye finds
// what did.
func eventCell(a arm, l siteEvent) string {
	if text := exact(a.runs, 3, l.perMessage); text != "0.000" {
		return text
	}
	return "·"
}
