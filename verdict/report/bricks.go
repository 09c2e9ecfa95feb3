package report

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A wall is bars of bricks, in panels that share one scale: a brick is what one
// site does for each message.
type wall struct {
	panels []panel
	group  int // bars that stay together where a panel is cut
}

// A panel is one event on one node.
type panel struct {
	title string
	event event
	bars  []bar
}

// A bar is what one subject does on that node. A bar that is not known is
// "n/a".
type bar struct {
	path, side string // side is "" where there is one only
	known      bool
	bricks     []brick
	change     string // from the first side, "" for none
}

// A brick is a part of a bar.
type brick struct {
	name  string
	value float64
}

func (b bar) total() (sum float64) {
	for _, brick := range b.bricks {
		sum += brick.value
	}
	return sum
}

// Sizes of a wall.
const (
	slotLeast vg.Length = 76  // a bar with room for a site's name
	slotMost  vg.Length = 110 // no bar is wider
	axisRoom  vg.Length = 24  // for the labels of the vertical axis
	panelGap  vg.Length = 20
	titleRoom vg.Length = 24 // a panel's title
	totalRoom vg.Length = 20 // the number above a bar
)

// bands places panels beside each other as far as their bars have room, and cuts
// a panel that has none.
func (w wall) bands(width vg.Length) (bands [][]panel) {
	room := width + panelGap
	left := vg.Length(0)
	for _, p := range w.cut(width) {
		need := axisRoom + slotLeast*vg.Length(len(p.bars)) + panelGap
		if need > left {
			bands, left = append(bands, nil), room
		}
		last := len(bands) - 1
		bands[last], left = append(bands[last], p), left-need
	}
	return bands
}

// cut divides panels that are wider than the drawing, between groups of bars.
func (w wall) cut(width vg.Length) (cut []panel) {
	most := int((width - axisRoom) / slotLeast)
	most = max(w.group, most-most%w.group)
	for _, p := range w.panels {
		for bars := range slices.Chunk(p.bars, most) {
			cut = append(cut, panel{p.title, p.event, bars})
		}
	}
	return cut
}

// slot returns how wide each bar of a band is, with its share of the space
// between.
func slot(band []panel, width vg.Length) vg.Length {
	bars := 0
	for _, p := range band {
		bars += len(p.bars)
	}
	fixed := axisRoom*vg.Length(len(band)) + panelGap*vg.Length(len(band)-1)
	return min(slotMost, (width-fixed)/vg.Length(bars))
}

// top returns the end of the scale.
func (w wall) top() float64 {
	most := 1.0
	for _, p := range w.panels {
		for _, b := range p.bars {
			most = max(most, b.total())
		}
	}
	return most
}

// stack returns the height of the highest bar.
func (w wall) stack() vg.Length {
	return vg.Length(min(240, max(72, 27*w.top())))
}

// labels returns the height of what stands below a bar.
func (w wall) labels() vg.Length {
	if w.group > 1 {
		return 40
	}
	return 24
}

func (w wall) band() vg.Length { return titleRoom + totalRoom + w.stack() + w.labels() }

func (w wall) height(width vg.Length) vg.Length {
	n := vg.Length(len(w.bands(width)))
	return n*w.band() + (n-1)*panelGap
}

func (w wall) paint(c draw.Canvas) {
	width := c.Max.X - c.Min.X
	y := c.Max.Y
	for _, band := range w.bands(width) {
		x, each := c.Min.X, slot(band, width)
		for _, p := range band {
			end := x + axisRoom + each*vg.Length(len(p.bars))
			area := c
			area.Rectangle = vg.Rectangle{Min: vg.Point{X: x, Y: y - w.band()}, Max: vg.Point{X: end, Y: y}}
			w.paintPanel(area, p)
			x = end + panelGap
		}
		y -= w.band() + panelGap
	}
}

func (w wall) paintPanel(c draw.Canvas, p panel) {
	x, y := c.Min.X+axisRoom, c.Max.Y-titleRoom/2
	unit := lettering{tone: p.event.tone, bold: true, align: 1}
	unit.draw(c, c.Max.X, y, p.event.name+" per message")
	title := lettering{tone: ink, bold: true}
	title.draw(c, x, y, title.fit(p.title, c.Max.X-x-columnGap-unit.width(p.event.name+" per message")))

	chart := newPlot()
	chart.X.Min, chart.X.Max = 0, float64(len(p.bars))
	chart.X.Padding, chart.X.Tick.Marker = 0, plot.ConstantTicks{}
	chart.Y.Min, chart.Y.Max = 0, w.top()
	chart.Y.Tick.Marker = plot.TickerFunc(wholeTicks)
	chart.Add(masonry{w, p})
	chart.Draw(draw.Crop(c, axisRoom-axisWidth(chart), 0, w.labels(), -titleRoom-totalRoom))
}

// axisWidth returns the room that a chart takes for the labels of its vertical
// axis.
func axisWidth(chart *plot.Plot) (width vg.Length) {
	for _, v := range major(chart.Y) {
		width = max(width, lettering{}.width(plain(v)))
	}
	return width + lettering{}.width(" ")
}

// wholeTicks labels whole numbers, at most six.
func wholeTicks(low, high float64) (ticks []plot.Tick) {
	step := math.Ceil((high - low) / 5)
	for v := low; v <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: plain(v)})
	}
	return ticks
}

// masonry paints the bars of a panel: it is a [plot.Plotter].
type masonry struct {
	wall  wall
	panel panel
}

// Plot implements [plot.Plotter].
func (m masonry) Plot(c draw.Canvas, chart *plot.Plot) {
	_, y := chart.Transforms(&c)
	for _, v := range major(chart.Y) {
		c.StrokeLine2(line(rule, 1), c.Min.X, y(v), c.Max.X, y(v))
	}
	each := (c.Max.X - c.Min.X) / vg.Length(len(m.panel.bars))
	for i, b := range m.panel.bars {
		left, width := m.place(i, each)
		m.paintBar(c, b, c.Min.X+left+width/2, width, y)
	}
}

// place returns where bar i begins and how wide it is: those of a group stand
// close to each other, and apart from the next group.
func (m masonry) place(i int, each vg.Length) (left, width vg.Length) {
	const apart, between = 8, 2
	group := vg.Length(m.wall.group)
	width = (group*each - apart - between*(group-1)) / group
	first, n := i/m.wall.group*m.wall.group, i%m.wall.group
	return vg.Length(first)*each + apart/2 + vg.Length(n)*(width+between), width
}

// paintBar paints one bar with its number above and its name below.
func (m masonry) paintBar(c draw.Canvas, b bar, middle, width vg.Length, y func(float64) vg.Length) {
	name := lettering{tone: ink, align: 0.5}
	name.draw(c, middle, y(0)-14, name.fit(b.path, width))
	side := lettering{tone: muted, align: 0.5}
	side.draw(c, middle, y(0)-30, side.fit(b.side, width))
	if !b.known {
		lettering{tone: muted, align: 0.5}.draw(c, middle, y(0)+10, notAvailable)
		return
	}
	sum := 0.0
	for _, part := range b.bricks {
		m.paintBrick(c, part, middle, width, y(sum), y(sum+part.value))
		sum += part.value
	}
	lettering{tone: ink, bold: true, align: 0.5}.draw(c, middle, y(sum)+10, strings.TrimSpace(count(sum)+" "+b.change))
}

// paintBrick paints one brick and, where it fits, its name. The gap to the next
// brick is what tells them apart.
func (m masonry) paintBrick(c draw.Canvas, b brick, middle, width, low, high vg.Length) {
	const gap = 1.5
	box(c, m.panel.event.tone, middle-width/2, low+gap/2, width, max(0.5, high-low-gap))
	name := lettering{tone: onFill, size: 11, align: 0.5}
	if high-low >= 14 {
		name.draw(c, middle, (low+high)/2, name.fit(b.label(), width-2))
	}
}

// label returns a brick's name, and how many events it is where it is not one.
func (b brick) label() string {
	if b.value == 1 {
		return b.name
	}
	return b.name + " " + count(b.value)
}
