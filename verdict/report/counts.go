package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// An event is what a call site does to a message.
type event struct {
	name, metric string
	tone         tone
}

var (
	events = []event{ // those that are drawn
		{"decodes", "decodes/msg", blue},
		{"hashes", "hashes/msg", orange},
	}
	tabled = append(events[:len(events):len(events)],
		event{"copies", "copies/msg", purple},
		event{"encodes", "encodes/msg", teal},
		event{"id hashes", "id-hashes/msg", grey},
	)
)

// counts returns the figure of decodes and hashes by node and site.
func (l *ledger) counts() figure {
	f := figure{
		name: "counts", title: "Decodes and hashes by call site",
		reading: "A brick is what one call site does for each message; the number above a bar is their sum. Counts are exact and the same on any machine.",
		summary: l.countsSummary(),
	}
	f.sketch = pile{l.wall()}
	for _, scenario := range l.scenarios() {
		f.grids = append(f.grids, l.countsGrid(scenario))
	}
	return f
}

// wall returns a panel for each node and event.
func (l *ledger) wall() wall {
	w := wall{group: len(l.sides)}
	for _, scenario := range l.scenarios() {
		for _, node := range l.nodes(scenario) {
			for _, e := range events {
				p := panel{title: nodeTitle(scenario, node), event: e}
				for _, s := range l.subjects(scenario) {
					p.bars = append(p.bars, l.bar(s, scenario, node.Name, e))
				}
				w.panels = append(w.panels, p)
			}
		}
	}
	return w
}

func nodeTitle(scenario string, node verdict.Node) string {
	if node.Role == verdict.RoleAll {
		return scenario + ", " + node.Name
	}
	return fmt.Sprintf("%s, %s (%s)", scenario, node.Name, node.Role)
}

// bar returns the bricks of one node of a subject: one for each site.
func (l *ledger) bar(s subject, scenario, node string, e event) bar {
	b := bar{path: s.path}
	if l.several() {
		b.side = l.sides[s.side].Name
	}
	now := l.sample(s, scenario, node, "", e.metric)
	b.known = now.known()
	if base := l.sample(subject{0, s.path}, scenario, node, "", e.metric); base.known() && now.known() && base.median() != now.median() {
		b.change = "(" + signed(strconv.FormatFloat(now.median()-base.median(), 'g', 4, 64)) + ")"
	}
	for _, site := range l.sites(scenario, node, e.metric) {
		if at := l.sample(s, scenario, node, site, e.metric); at.known() && at.median() > 0 {
			b.bricks = append(b.bricks, brick{short(site), at.median()})
		}
	}
	return b
}

// countsGrid returns all events of a scenario, by node and site.
func (l *ledger) countsGrid(scenario string) grid {
	g := grid{Caption: "Events per message by node and call site, " + scenario, Head: l.names("site", scenario)}
	for _, node := range l.nodes(scenario) {
		for _, e := range tabled {
			if sites := l.sites(scenario, node.Name, e.metric); len(sites) > 0 || e.metric == events[0].metric {
				g.Rows = append(g.Rows, gridRow{Name: nodeTitle(scenario, node) + ": " + e.name, Group: true})
				g.Rows = append(g.Rows, l.siteRows(scenario, node.Name, e.metric, sites)...)
			}
		}
	}
	return g
}

// siteRows returns a row for each site and one for their sum.
func (l *ledger) siteRows(scenario, node, metric string, sites []string) (rows []gridRow) {
	for _, site := range append(sites, "") {
		r := gridRow{Name: site, Note: strings.Join(l.lines(scenario, node, site, metric), " ")}
		if site == "" {
			r = gridRow{Name: "sum", Strong: true}
		}
		for _, s := range l.subjects(scenario) {
			r.Cells = append(r.Cells, l.sample(s, scenario, node, site, metric).exact())
		}
		rows = append(rows, r)
	}
	return rows
}

// countsSummary says the sums of the first scenario.
func (l *ledger) countsSummary() string {
	scenario := l.scenarios()[0]
	var parts []string
	for _, s := range l.subjects(scenario) {
		parts = append(parts, fmt.Sprintf("%s: decodes %s, hashes %s", l.name(s),
			l.whole(s, scenario, events[0].metric).exact(), l.whole(s, scenario, events[1].metric).exact()))
	}
	return fmt.Sprintf("Per message in %s: %s.", scenario, strings.Join(parts, "; "))
}
