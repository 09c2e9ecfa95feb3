package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/msgpath/msgpath/verdict/scale"
)

// trends is small charts of growth beside each other, both scales logarithmic.
// The vertical scales have ends of their own and one height in powers of ten, so
// that one slope is one exponent, and flat is flat, wherever it is drawn.
type trends struct {
	title  string
	unit   string // of the vertical scales
	trends []trend
}

// A trend is one chart.
type trend struct {
	title, unit string
	lines       []growthLine
}

// growthLine is one path of a trend.
type growthLine struct {
	name   string
	fit    string // its exponent
	tone   tone
	hollow bool
	points []whisker
	curve  plotter.XYs // both ends of the fitted line; nil: none
}

// A whisker is a median with the least and the most.
type whisker struct {
	x float64
	scale.Spread
}

// newTrend returns the chart of a row's CPU time in µs.
func newTrend(row scale.Row) trend {
	const nanos = 1e3 // of a µs
	p := trend{title: row.Name, unit: row.Unit}
	for i, s := range row.Series {
		fit := s.Fit(scale.CPU)
		line := growthLine{name: s.Path, fit: signedFit(fit), tone: blue}
		if i > 0 {
			line.tone, line.hollow = muted, true
		}
		for _, point := range s.Points {
			if of, ok := point.Spread(scale.CPU); ok && of.Min > 0 {
				line.points = append(line.points, whisker{float64(point.X), scale.Spread{Median: of.Median / nanos, Min: of.Min / nanos, Max: of.Max / nanos}})
			}
		}
		if n := len(line.points); n > 0 {
			for _, x := range []float64{line.points[0].x, line.points[n-1].x} {
				if y, ok := fit.At(x); ok {
					line.curve = append(line.curve, plotter.XY{X: x, Y: y / nanos})
				}
			}
		}
		p.lines = append(p.lines, line)
	}
	return p
}

// Sizes of trends.
const (
	trendLeast vg.Length = 154
	trendChart vg.Length = 118
	trendGap   vg.Length = 16
	trendLine  vg.Length = 16 // of the title
)

// titleLines is how many lines each title takes: the name, and one for each path.
func (s trends) titleLines() int {
	most := 0
	for _, p := range s.trends {
		most = max(most, len(p.lines))
	}
	return 1 + most
}

// room is the height of one trend.
func (s trends) room() vg.Length {
	return vg.Length(s.titleLines())*trendLine + 6 + trendChart + cellScale + unitRoom
}

func (s trends) tiles() tiles {
	return tiles{
		count: len(s.trends), most: len(s.trends), least: trendLeast,
		high: s.room(), gap: trendGap, below: trendGap,
	}
}

func (s trends) height(width vg.Length) vg.Length { return stripTitle + s.tiles().height(width) }

func (s trends) paint(c draw.Canvas) {
	heading(c, s.title, s.unit)
	high := s.powersHigh()
	for i, p := range s.trends {
		p.paint(s.tiles().area(c, i), vg.Length(s.titleLines())*trendLine+6, high)
	}
}

// powersHigh returns how many powers of ten the highest chart needs, at least
// one.
func (s trends) powersHigh() float64 {
	high := 1.0
	for _, p := range s.trends {
		if least, most := p.ends(); most > 0 {
			high = math.Max(high, math.Log10(most/least))
		}
	}
	return high * 1.15 // room above and below
}

// ends returns the least and the most of all that is drawn, 0 where nothing is.
func (p trend) ends() (least, most float64) {
	least = math.Inf(1)
	for _, l := range p.lines {
		for _, b := range l.points {
			least, most = math.Min(least, b.Min), math.Max(most, b.Max)
		}
		for _, at := range l.curve {
			least, most = math.Min(least, at.Y), math.Max(most, at.Y)
		}
	}
	return least, most
}

func (p trend) paint(c draw.Canvas, titleRoom vg.Length, high float64) {
	y := c.Max.Y - trendLine/2
	name := lettering{tone: ink, bold: true}
	room := c.Max.X - c.Min.X
	name.draw(c, c.Min.X, y, name.fit(p.title, room))
	for _, l := range p.lines {
		y -= trendLine
		l.paintName(c, y, room)
	}
	if least, _ := p.ends(); !math.IsInf(least, 1) {
		chart := newPlot()
		p.scale(chart, high)
		chart.Add(p)
		chart.Draw(draw.Crop(draw.Crop(c, 0, 0, unitRoom, -titleRoom), sideRoom-axisWidth(chart), 0, 0, 0))
	} else {
		lettering{tone: muted}.draw(c, c.Min.X+sideRoom, c.Min.Y+unitRoom+cellScale+10, notAvailable)
	}
	unit := lettering{tone: muted}
	unit.draw(c, c.Min.X+sideRoom, c.Min.Y+unitRoom/2, unit.fit(p.unit, room-sideRoom))
}

// paintName writes a path and its exponent behind the mark of its dots.
func (l growthLine) paintName(c draw.Canvas, y, room vg.Length) {
	at := vg.Point{X: c.Min.X + dotRadius, Y: y}
	l.dot(c, at)
	name := lettering{tone: l.tone}
	left := 3 * dotRadius
	name.draw(c, c.Min.X+left, y, name.fit(l.name+"  "+l.fit, room-left))
}

func (l growthLine) dot(c draw.Canvas, at vg.Point) {
	const radius = 3.25
	if l.hollow {
		ring(c, l.tone, at, radius)
	} else {
		disc(c, l.tone, at, radius)
	}
}

// scale sets the ends of both scales.
func (p trend) scale(chart *plot.Plot, high float64) {
	least, most := p.ends()
	middle := math.Sqrt(least * most)
	half := math.Pow(10, high/2)
	chart.Y.Min, chart.Y.Max = middle/half, middle*half
	chart.Y.Scale, chart.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	first, last := math.Inf(1), 0.0
	for _, l := range p.lines {
		for _, b := range l.points {
			first, last = math.Min(first, b.x), math.Max(last, b.x)
		}
	}
	chart.X.Scale, chart.X.Tick.Marker = plot.LogScale{}, plot.ConstantTicks{{Value: first, Label: brief(first)}}
	if last > first {
		chart.X.Tick.Marker = plot.ConstantTicks{{Value: first, Label: brief(first)}, {Value: last, Label: brief(last)}}
	}
	const margin = 0.07 // of the width, so that a dot is whole
	edge := math.Pow(math.Max(last/first, 2), margin)
	chart.X.Min, chart.X.Max = first/edge, last*edge
}

// brief prints a round number in as few signs as it takes: 20k, 1M.
func brief(v float64) string {
	switch {
	case v >= 1e6:
		return plain(v/1e6) + "M"
	case v >= 1e4:
		return plain(v/1e3) + "k"
	}
	return plain(v)
}

// Plot implements [plot.Plotter].
func (p trend) Plot(c draw.Canvas, chart *plot.Plot) {
	x, y := chart.Transforms(&c)
	across(c, chart)
	for _, l := range p.lines {
		if len(l.curve) == 2 {
			c.StrokeLine2(line(l.tone, 1.25), x(l.curve[0].X), y(l.curve[0].Y), x(l.curve[1].X), y(l.curve[1].Y))
		}
		for _, b := range l.points {
			c.StrokeLine2(line(l.tone, 1.75), x(b.x), y(b.Min), x(b.x), y(b.Max))
		}
	}
	for _, l := range p.lines {
		for _, b := range l.points {
			l.dot(c, vg.Point{X: x(b.x), Y: y(b.Median)})
		}
	}
}
