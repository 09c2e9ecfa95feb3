package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A figure is a plot with what it says in words.
type figure struct {
	name    string // of its file
	title   string
	summary string // what it shows, in one sentence
	reading string // how to read it
	sketch  pile
	grids   []grid
}

// pile is sketches below each other.
type pile []sketch

const pileGap vg.Length = 24

func (p pile) height(width vg.Length) (sum vg.Length) {
	for _, s := range p {
		sum += s.height(width) + pileGap
	}
	return max(0, sum-pileGap)
}

func (p pile) paint(c draw.Canvas) {
	for _, s := range p {
		area := c
		area.Min.Y = area.Max.Y - s.height(c.Max.X-c.Min.X)
		s.paint(area)
		c.Max.Y = area.Min.Y - pileGap
	}
}

// figures returns every figure that the ledger has data for, in the order of the
// page.
func (l *ledger) figures() (all []figure) {
	if len(l.scenarios()) == 0 {
		return nil
	}
	if l.counted() {
		all = append(all, l.counts())
	}
	all = append(all, l.throughput(), l.latency())
	if len(l.openLoops()) > 0 {
		all = append(all, l.openLoop())
	}
	return append(all, l.bytes(), l.heap())
}

// counted reports whether any run was counted.
func (l *ledger) counted() bool {
	for _, scenario := range l.scenarios() {
		for _, s := range l.subjects(scenario) {
			if l.whole(s, scenario, events[0].metric).known() {
				return true
			}
		}
	}
	return false
}

// several is true where sides stand beside each other.
func (l *ledger) several() bool { return len(l.sides) > 1 }

// tone returns the colour of a subject's own marks: the last side is the one
// that is judged.
func (l *ledger) tone(s subject) tone {
	if s.side == len(l.sides)-1 {
		return blue
	}
	return muted
}

// names returns the heads of a table with a column for each subject.
func (l *ledger) names(first, scenario string) []string {
	head := []string{first}
	for _, s := range l.subjects(scenario) {
		head = append(head, l.name(s))
	}
	return head
}
