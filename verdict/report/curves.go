package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curves is small charts beside each other that share both scales.
type curves struct {
	title string
	unit  string // of the horizontal scale
	keys  []key  // what the colours mean; none where there is one
	cells []cell
}

// A key is the name of a tone.
type key struct {
	name string
	tone tone
}

// A cell is one chart: a line for each run. With none it is "n/a".
type cell struct {
	title string
	lines []curve
}

// A curve is one line.
type curve struct {
	points plotter.XYs
	tone   tone
}

// Sizes of curves.
const (
	cellLeast vg.Length = 150
	cellChart vg.Length = 104
	cellGap   vg.Length = 12
	cellTitle vg.Length = 22
	cellScale vg.Length = 22
	unitRoom  vg.Length = 20
	sideRoom  vg.Length = 34 // the labels of the vertical scale
)

func (s curves) tiles() tiles {
	return tiles{
		count: len(s.cells), most: len(s.cells), least: cellLeast, widest: 2 * cellLeast,
		high: cellTitle + cellChart + cellScale, gap: cellGap, below: cellGap,
	}
}

func (s curves) height(width vg.Length) vg.Length {
	return stripTitle + s.tiles().height(width) + unitRoom
}

func (s curves) paint(c draw.Canvas) {
	lettering{tone: ink, bold: true, size: 14}.draw(c, c.Min.X, c.Max.Y-stripTitle/2, s.title)
	s.paintKeys(c)
	for i, cell := range s.cells {
		s.paintCell(s.tiles().area(c, i), cell)
	}
	lettering{tone: muted}.draw(c, c.Min.X+sideRoom, c.Min.Y+unitRoom/2-2, s.unit)
}

// paintKeys writes the names of the tones at the right end of the title.
func (s curves) paintKeys(c draw.Canvas) {
	x, y := c.Max.X, c.Max.Y-stripTitle/2
	for i := len(s.keys) - 1; i >= 0; i-- {
		name := lettering{tone: muted, align: 1}
		name.draw(c, x, y, s.keys[i].name)
		x -= name.width(s.keys[i].name) + 6
		c.StrokeLine2(line(s.keys[i].tone, 2), x-16, y, x, y)
		x -= 16 + columnGap
	}
}

func (s curves) paintCell(c draw.Canvas, of cell) {
	title := lettering{tone: ink}
	title.draw(c, c.Min.X+sideRoom, c.Max.Y-cellTitle/2, title.fit(of.title, c.Max.X-c.Min.X-sideRoom))
	chart := newPlot()
	s.scale(chart)
	chart.Add(plotLines(of))
	chart.Draw(draw.Crop(c, sideRoom-axisWidth(chart), 0, 0, -cellTitle))
}

// scale sets the ends of both scales, from 0 to the greatest of all charts.
func (s curves) scale(chart *plot.Plot) {
	chart.X.Min, chart.Y.Min, chart.X.Max, chart.Y.Max = 0, 0, 1, 1e-9
	for _, cell := range s.cells {
		for _, l := range cell.lines {
			for _, p := range l.points {
				chart.X.Max, chart.Y.Max = max(chart.X.Max, p.X), max(chart.Y.Max, 1.04*p.Y)
			}
		}
	}
	chart.X.Tick.Marker = plot.TickerFunc(ends)
	chart.Y.Tick.Marker = plot.TickerFunc(ticks)
}

// ends labels both ends of a scale, so that neighbours do not touch.
func ends(low, high float64) []plot.Tick {
	return []plot.Tick{{Value: low, Label: plain(low)}, {Value: high, Label: plain(high)}}
}

// plotLines paints the lines of a chart: it is a [plot.Plotter].
type plotLines cell

// Plot implements [plot.Plotter].
func (l plotLines) Plot(c draw.Canvas, chart *plot.Plot) {
	x, y := chart.Transforms(&c)
	across(c, chart)
	if len(l.lines) == 0 {
		lettering{tone: muted}.draw(c, c.Min.X+4, c.Min.Y+10, notAvailable)
	}
	for _, one := range l.lines {
		var points []vg.Point
		for _, p := range one.points {
			points = append(points, vg.Point{X: x(p.X), Y: y(p.Y)})
		}
		c.StrokeLines(line(one.tone, 1.25), points)
	}
}
