package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A strip is rows on one horizontal scale, each with a name on its left and a
// number on its right.
type strip struct {
	title string
	about string // beside the title
	unit  string // of the scale
	head  string // above the numbers
	rows  []row
	group int // rows that stay together
	log   bool
	mark  *float64 // a vertical line
	what  string   // its name
}

// A row is one subject: dots, or parts of a bar. With neither it is "n/a".
type row struct {
	name, note string
	dots       []dots
	parts      []part
}

// dots is one figure, each run a dot, with a tick at the median.
type dots struct {
	values sample
	hollow bool
	tone   tone
}

// A part is a stretch of a bar.
type part struct {
	value float64
	tone  tone
}

// Sizes of a strip.
const (
	rowRoom    vg.Length = 30
	textRoom   vg.Length = 18 // a row's name and number, where they are above it
	groupGap   vg.Length = 10
	markRoom   vg.Length = 20 // the name of the line
	scaleRoom  vg.Length = 44 // the labels and the unit of the scale
	columnGap  vg.Length = 14
	barHeight  vg.Length = 18
	dotRadius  vg.Length = 4
	stripTitle vg.Length = 26
	besides    vg.Length = 480 // narrower, a row's name and number are above it
)

// A layout is where the parts of a strip lie in one width.
type layout struct {
	strip
	left, right vg.Length // edges
	name, note  vg.Length // room beside the rows
	above       bool      // names and numbers are above the rows
}

func (s strip) layout(left, right vg.Length) layout {
	l := layout{strip: s, left: left, right: right, above: right-left < besides}
	if l.above {
		l.name, l.note = 6, 10 // half a label of the scale
		return l
	}
	l.note = lettering{}.width(s.head) / 2
	for _, r := range s.rows {
		l.name = max(l.name, lettering{}.width(r.name))
		l.note = max(l.note, lettering{bold: true}.width(r.note))
	}
	l.name = min(l.name, (right-left)*0.42) + columnGap
	l.note += columnGap
	return l
}

// row returns how far below the top of the rows the middle of row i is.
func (l layout) row(i int) vg.Length {
	each, gap, group := rowRoom, vg.Length(0), max(1, l.group)
	if l.above {
		each += textRoom
	}
	if group > 1 {
		gap = groupGap
	}
	return each*vg.Length(i+1) + gap*vg.Length(i/group) - rowRoom/2
}

func (l layout) body() vg.Length { return l.row(len(l.rows)-1) + rowRoom/2 }

func (s strip) top() vg.Length {
	if s.mark != nil {
		return stripTitle + markRoom
	}
	return stripTitle
}

func (s strip) height(width vg.Length) vg.Length {
	return s.top() + s.layout(0, width).body() + scaleRoom
}

func (s strip) paint(c draw.Canvas) {
	l := s.layout(c.Min.X, c.Max.X)
	heading(c, s.title, s.about)
	lettering{tone: muted, align: 1}.draw(c, c.Max.X, c.Max.Y-stripTitle/2, s.head)

	chart := newPlot()
	chart.X.Label.Text = s.unit
	chart.Y.Min, chart.Y.Max, chart.Y.Tick.Marker = 0, 1, plot.ConstantTicks{}
	s.scale(&chart.X)
	chart.Add(l)
	chart.Draw(draw.Crop(c, l.name, -l.note, 0, -s.top()))
}

// scale sets the ends of the axis and its ticks.
func (s strip) scale(axis *plot.Axis) {
	low, high := math.Inf(1), 0.0
	for _, v := range s.values() {
		low, high = min(low, v), max(high, v)
	}
	axis.Min, axis.Max, axis.Tick.Marker = 0, max(high*1.04, 1e-9), plot.TickerFunc(ticks)
	if s.log && low > 0 && high > 0 {
		axis.Min, axis.Max = low/1.3, high*1.3
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	}
}

func (s strip) values() (all []float64) {
	if s.mark != nil {
		all = append(all, *s.mark)
	}
	for _, r := range s.rows {
		for _, d := range r.dots {
			all = append(all, d.values...)
		}
		sum := 0.0
		for _, p := range r.parts {
			sum += max(0, p.value)
		}
		if len(r.parts) > 0 {
			all = append(all, sum)
		}
	}
	return all
}

// logTicks labels 1, 2 and 5 of each power of ten, and only the powers where
// there are many.
func logTicks(low, high float64) (ticks []plot.Tick) {
	steps := []float64{1, 2, 5}
	if high/low > 50 {
		steps = steps[:1]
	}
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for _, step := range steps {
			v := step * math.Pow(10, power)
			ticks = append(ticks, plot.Tick{Value: v, Label: plain(v)})
		}
	}
	return ticks
}

// Plot implements [plot.Plotter]: it paints the rows.
func (l layout) Plot(c draw.Canvas, chart *plot.Plot) {
	x, _ := chart.Transforms(&c)
	upright(c, chart)
	l.paintMark(c, x)
	for i, row := range l.rows {
		y := c.Max.Y - l.row(i)
		row.paint(c, x, y)
		l.paintText(c, row, y)
	}
}

// paintText paints a row's name and number.
func (l layout) paintText(c draw.Canvas, r row, y vg.Length) {
	name, note := lettering{tone: ink}, lettering{tone: ink, bold: true, align: 1}
	text := name.fit(r.name, l.name-columnGap)
	if l.above {
		y += rowRoom/2 + textRoom/2 - 3
		text = name.fit(r.name, l.right-l.left-note.width(r.note)-columnGap)
		for _, part := range []struct{ x, width vg.Length }{
			{l.left, name.width(text) + 4},
			{l.right - note.width(r.note) - 4, note.width(r.note) + 4},
		} {
			box(c, paper, part.x, y-textRoom/2, part.width, textRoom) // lines of the scale end at text
		}
	}
	name.draw(c, l.left, y, text)
	note.draw(c, l.right, y, r.note)
}

// paintMark paints the vertical line with its name above.
func (l layout) paintMark(c draw.Canvas, x func(float64) vg.Length) {
	if l.mark == nil {
		return
	}
	at := x(*l.mark)
	c.StrokeLine2(line(muted, 1.25, 4, 3), at, c.Min.Y, at, c.Max.Y+4)
	name := lettering{tone: muted, align: 0.5}
	if half := name.width(l.what) / 2; at+half > l.right {
		name.align = 1 // beside the edge there is room on one side only
	}
	name.draw(c, at, c.Max.Y+12, l.what)
}

func (r row) paint(c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
	if len(r.dots) == 0 && len(r.parts) == 0 {
		lettering{tone: muted}.draw(c, c.Min.X+4, y, notAvailable)
	}
	from := 0.0
	for _, p := range r.parts {
		if p.value > 0 {
			const gap = 1
			box(c, p.tone, x(from), y-barHeight/2, max(0.5, x(from+p.value)-x(from)-gap), barHeight)
			from += p.value
		}
	}
	r.paintRange(c, x, y)
	for _, d := range r.dots {
		d.paint(c, x, y)
	}
}

// paintRange joins the medians of several figures.
func (r row) paintRange(c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
	if len(r.dots) > 1 {
		first, last := r.dots[0].values.median(), r.dots[len(r.dots)-1].values.median()
		c.StrokeLine2(line(muted, 1.25), x(first), y, x(last), y)
	}
}

func (d dots) paint(c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
	for _, v := range d.values {
		at := vg.Point{X: x(v), Y: y}
		if d.hollow {
			ring(c, d.tone, at, dotRadius)
		} else {
			disc(c, d.tone, at, dotRadius)
		}
	}
	middle := x(d.values.median())
	c.StrokeLine2(line(d.tone, 2.5), middle, y-10, middle, y+10)
}
