package report

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	kilobyte = 1e3
	megabyte = 1e6
)

// ledgerParts are what allocated bytes are made of.
var ledgerParts = []struct {
	key
	metric string
}{
	{key{"copied", purple}, "copied-B/msg"},
	{key{"encoded", teal}, "encoded-B/msg"},
	{key{"unexplained", grey}, "unexplained-B/msg"},
}

// bytes returns the figure of allocated bytes and what they were for.
func (l *ledger) bytes() figure {
	f := figure{
		name: "bytes", title: "Bytes per message",
		reading: "Allocated bytes of the process, all nodes. Counted copies and encodes explain a part; a decode or copy that nobody counted would be in the rest.",
	}
	f.sketch = append(f.sketch, l.bytesKeys())
	var said []string
	for _, scenario := range l.scenarios() {
		s := strip{title: scenario, unit: "kB per message", head: "allocated / unexplained", group: len(l.sides)}
		for _, of := range l.subjects(scenario) {
			s.rows = append(s.rows, l.bytesRow(of, scenario))
			said = append(said, fmt.Sprintf("%s %s %s, unexplained %s", scenario, l.name(of),
				l.kilobytes(of, scenario, "B/msg"), l.kilobytes(of, scenario, "unexplained-B/msg")))
		}
		f.sketch, f.grids = append(f.sketch, s), append(f.grids, l.memoryGrid(scenario))
	}
	f.summary = "Allocated kB per message: " + strings.Join(said, "; ") + "."
	return f
}

// undivided is what allocated bytes are drawn as where their parts are not known.
var undivided = key{"allocated, parts n/a", blue}

// bytesKeys names the tones that the bars have.
func (l *ledger) bytesKeys() (keys legend) {
	if l.counted() {
		for _, p := range ledgerParts {
			keys = append(keys, p.key)
		}
	}
	for _, scenario := range l.scenarios() {
		for _, s := range l.subjects(scenario) {
			for _, p := range l.bytesRow(s, scenario).parts {
				if p.tone == undivided.tone && !slices.Contains(keys, undivided) {
					keys = append(keys, undivided)
				}
			}
		}
	}
	return keys
}

// kilobytes prints a median in kB.
func (l *ledger) kilobytes(s subject, scenario, metric string) string {
	return l.whole(s, scenario, metric).scaled(kilobyte).text(quantity)
}

// bytesRow returns a bar of the parts, or of the whole where its parts are not
// known.
func (l *ledger) bytesRow(s subject, scenario string) row {
	allocated := l.whole(s, scenario, "B/msg").scaled(kilobyte)
	r := row{name: l.name(s), note: allocated.text(quantity) + " / " + l.kilobytes(s, scenario, "unexplained-B/msg")}
	if !allocated.known() {
		return r
	}
	for _, p := range ledgerParts {
		v := l.whole(s, scenario, p.metric).scaled(kilobyte)
		if !v.known() {
			r.parts = []part{{allocated.median(), undivided.tone}}
			return r
		}
		r.parts = append(r.parts, part{v.median(), p.tone})
	}
	return r
}

// memoryGrid returns everything that is known of a scenario's memory.
func (l *ledger) memoryGrid(scenario string) grid {
	g := grid{Caption: "Memory, " + scenario + " (medians over runs)", Head: l.names("", scenario)}
	for _, line := range []struct {
		name, metric string
		per          float64
	}{
		{"allocated kB/msg", "B/msg", kilobyte},
		{"copied kB/msg, counted", "copied-B/msg", kilobyte},
		{"encoded kB/msg, counted", "encoded-B/msg", kilobyte},
		{"unexplained kB/msg", "unexplained-B/msg", kilobyte},
		{"allocations/msg", "allocs/msg", 1},
		{"peak heap MB", "peak-heap-B", megabyte},
		{"live heap after − before, MB", "live-heap-B", megabyte},
	} {
		r := gridRow{Name: line.name}
		for _, s := range l.subjects(scenario) {
			r.Cells = append(r.Cells, l.whole(s, scenario, line.metric).scaled(line.per).text(quantity))
		}
		g.Rows = append(g.Rows, r)
	}
	return g
}

// heap returns the figure of the heap over messages.
func (l *ledger) heap() figure {
	f := figure{
		name: "heap", title: "Heap over messages",
		reading: "Each line is a run. A sample counts live objects and those not yet swept, so that a line falls where the collector ran.",
		summary: "Heap samples of each run, from the first message to the last; their peaks are in the table.",
	}
	for _, scenario := range l.scenarios() {
		c := curves{title: scenario + ", heap in MB", unit: "messages delivered"}
		var paths []string
		for _, s := range l.subjects(scenario) {
			paths = appendNew(paths, s.path)
		}
		for _, path := range paths {
			c.cells = append(c.cells, l.heapCell(path, scenario))
		}
		for side := range l.sides {
			if l.several() {
				c.keys = append(c.keys, key{l.sides[side].Name, l.tone(subject{side: side})})
			}
		}
		f.sketch = append(f.sketch, c)
		f.grids = append(f.grids, l.heapGrid(scenario))
	}
	return f
}

// heapCell returns a line for each run of a path on every side.
func (l *ledger) heapCell(path, scenario string) cell {
	c := cell{title: path}
	for side := range l.sides {
		s := subject{side, path}
		for _, run := range l.runs(s, scenario) {
			var points plotter.XYs
			for _, h := range run.Heap {
				points = append(points, plotter.XY{X: float64(h.Messages), Y: float64(h.Bytes) / megabyte})
			}
			if len(points) > 0 {
				c.lines = append(c.lines, curve{points, l.tone(s)})
			}
		}
	}
	return c
}

func (l *ledger) heapGrid(scenario string) grid {
	g := grid{Caption: "Heap in MB, " + scenario, Head: []string{"path", "first sample", "last sample", "peak", "runs"}}
	for _, s := range l.subjects(scenario) {
		var first, last []float64
		for _, run := range l.runs(s, scenario) {
			if n := len(run.Heap); n > 0 {
				first = append(first, float64(run.Heap[0].Bytes)/megabyte)
				last = append(last, float64(run.Heap[n-1].Bytes)/megabyte)
			}
		}
		g.Rows = append(g.Rows, gridRow{Name: l.name(s), Cells: []string{
			newSample(first).text(quantity), newSample(last).text(quantity),
			l.whole(s, scenario, "peak-heap-B").scaled(megabyte).text(quantity), count(float64(len(l.runs(s, scenario)))),
		}})
	}
	return g
}

// legend names tones in one line: it is a [sketch].
type legend []key

func (legend) height(vg.Length) vg.Length { return 16 }

func (k legend) paint(c draw.Canvas) {
	const size = 12
	x, y := c.Min.X, (c.Min.Y+c.Max.Y)/2
	for _, one := range k {
		box(c, one.tone, x, y-size/2, size, size)
		name := lettering{tone: ink}
		name.draw(c, x+size+6, y, one.name)
		x += size + 6 + name.width(one.name) + columnGap
	}
}
