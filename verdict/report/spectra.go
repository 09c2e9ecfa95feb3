package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spectra is charts of a time by percentile that share both scales, each
// logarithmic: from one label of the horizontal scale to the next, a tenth of the
// slower share is left.
type spectra struct {
	title string
	unit  string // of the vertical scale
	cells []spectrum
}

// A spectrum is one chart.
type spectrum struct {
	title string
	note  string // at the right end of the title
	lines []spectrumLine
}

// A spectrumLine is one distribution.
type spectrumLine struct {
	steps  []step
	mark   step // a point of it, which has a dot
	tone   tone
	dashes []vg.Length
}

// A step says how long the given share of all took, or less.
type step struct {
	slower float64 // 1 in so many took longer: 1 is the least, 100 the 99th percentile
	value  float64 // above 0
}

// Sizes of spectra.
const (
	spectrumLeast vg.Length = 250
	spectrumChart vg.Length = 168
	spectrumGap   vg.Length = 20
)

// A dash is how the second of two lines is drawn.
var dash = []vg.Length{4, 3}

func (s spectra) tiles() tiles {
	return tiles{
		count: len(s.cells), most: 2, least: spectrumLeast,
		high: cellTitle + spectrumChart + cellScale, gap: spectrumGap, below: cellGap,
	}
}

func (s spectra) height(width vg.Length) vg.Length {
	return stripTitle + s.tiles().height(width) + unitRoom
}

func (s spectra) paint(c draw.Canvas) {
	heading(c, s.title, s.unit)
	for i, cell := range s.cells {
		s.paintCell(s.tiles().area(c, i), cell)
	}
	lettering{tone: muted}.draw(c, c.Min.X+sideRoom, c.Min.Y+unitRoom/2-2, "percentile of messages")
}

func (s spectra) paintCell(c draw.Canvas, of spectrum) {
	name, note := lettering{tone: ink}, lettering{tone: muted, align: 1}
	y := c.Max.Y - cellTitle/2
	name.draw(c, c.Min.X+sideRoom, y, name.fit(of.title, c.Max.X-c.Min.X-sideRoom-note.width(of.note)-columnGap))
	note.draw(c, c.Max.X, y, of.note)
	chart := newPlot()
	s.scale(chart)
	chart.Add(of)
	const halfLabel = 12 // of the last percentile
	chart.Draw(draw.Crop(c, sideRoom-axisWidth(chart), -halfLabel, 0, -cellTitle))
}

// scale sets the ends of both scales to those of all charts, and their labels.
func (s spectra) scale(chart *plot.Plot) {
	low, high, slowest := math.Inf(1), 0.0, 10.0
	for _, cell := range s.cells {
		for _, l := range cell.lines {
			for _, p := range l.steps {
				low, high, slowest = min(low, p.value), max(high, p.value), max(slowest, p.slower)
			}
		}
	}
	if high == 0 {
		low, high = 1, 10
	}
	chart.X.Min, chart.X.Max = 1, slowest
	chart.X.Scale, chart.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(percentiles)
	chart.Y.Min, chart.Y.Max = powerBelow(low), math.Max(high*1.1, 10*powerBelow(low))
	chart.Y.Scale, chart.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powers)
}

// powerBelow returns the power of ten that is not greater.
func powerBelow(v float64) float64 { return math.Pow(10, math.Floor(math.Log10(v))) }

// percentiles labels the share of messages that were no slower: 0, 50, 90, 99,
// 99.9 and so on.
func percentiles(low, high float64) (ticks []plot.Tick) {
	for _, slower := range []float64{1, 2} {
		ticks = append(ticks, plot.Tick{Value: slower, Label: plain(100 - 100/slower)})
	}
	for slower := 10.0; slower <= high; slower *= 10 {
		ticks = append(ticks, plot.Tick{Value: slower, Label: plain(100 - 100/slower)})
	}
	return ticks
}

// powers labels each power of ten.
func powers(low, high float64) (ticks []plot.Tick) {
	for v := powerBelow(low); v <= high; v *= 10 {
		ticks = append(ticks, plot.Tick{Value: v, Label: plain(v)})
	}
	return ticks
}

// Plot implements [plot.Plotter].
func (of spectrum) Plot(c draw.Canvas, chart *plot.Plot) {
	x, y := chart.Transforms(&c)
	across(c, chart)
	upright(c, chart)
	if len(of.lines) == 0 {
		lettering{tone: muted}.draw(c, c.Min.X+4, c.Min.Y+10, notAvailable)
	}
	for _, one := range of.lines {
		var points []vg.Point
		for _, p := range one.steps {
			points = append(points, vg.Point{X: x(p.slower), Y: y(p.value)})
		}
		c.StrokeLines(line(one.tone, 1.75, one.dashes...), points)
	}
	for _, one := range of.lines {
		at := vg.Point{X: x(min(one.mark.slower, chart.X.Max)), Y: y(one.mark.value)}
		if one.dashes != nil {
			ring(c, one.tone, at, dotRadius)
		} else {
			disc(c, one.tone, at, dotRadius)
		}
	}
}

// A lineKey says what kinds of lines mean, below each other where they do not fit
// beside: it is a [sketch].
type lineKey []lineName

// A lineName is the name of one kind of line.
type lineName struct {
	name   string
	tone   tone
	dashes []vg.Length
}

const (
	lineSample vg.Length = 28
	lineRoom   vg.Length = 18
)

func (k lineKey) beside(width vg.Length) bool {
	sum := vg.Length(0)
	for _, one := range k {
		sum += lineSample + 6 + lettering{}.width(one.name) + columnGap
	}
	return sum-columnGap <= width
}

func (k lineKey) height(width vg.Length) vg.Length {
	if k.beside(width) {
		return lineRoom
	}
	return lineRoom * vg.Length(len(k))
}

func (k lineKey) paint(c draw.Canvas) {
	beside := k.beside(c.Max.X - c.Min.X)
	x, y := c.Min.X, c.Max.Y-lineRoom/2
	for _, one := range k {
		c.StrokeLine2(line(one.tone, 1.75, one.dashes...), x, y, x+lineSample, y)
		name := lettering{tone: ink}
		name.draw(c, x+lineSample+6, y, one.name)
		if beside {
			x += lineSample + 6 + name.width(one.name) + columnGap
		} else {
			y -= lineRoom
		}
	}
}
