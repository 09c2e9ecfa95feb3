package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// tiles is how charts of one size stand beside and below each other.
type tiles struct {
	count, most int       // how many there are, and may stand beside each other
	least       vg.Length // width of one
	widest      vg.Length // of one; 0: as wide as there is room
	high        vg.Length // height of one
	gap, below  vg.Length // between two beside, and below, each other
}

func (t tiles) columns(width vg.Length) int {
	fit := int((width + t.gap) / (t.least + t.gap))
	return max(1, min(fit, t.most))
}

// height returns that of all of them.
func (t tiles) height(width vg.Length) vg.Length {
	columns := t.columns(width)
	rows := (t.count + columns - 1) / columns
	return vg.Length(rows)*(t.high+t.below) - t.below
}

// area returns the place of tile i below the title of c.
func (t tiles) area(c draw.Canvas, i int) draw.Canvas {
	width := c.Max.X - c.Min.X
	columns := t.columns(width)
	each := (width+t.gap)/vg.Length(columns) - t.gap
	if t.widest > 0 {
		each = min(t.widest, each)
	}
	x := c.Min.X + vg.Length(i%columns)*(each+t.gap)
	y := c.Max.Y - stripTitle - vg.Length(i/columns)*(t.high+t.below)
	c.Rectangle = vg.Rectangle{Min: vg.Point{X: x, Y: y - t.high}, Max: vg.Point{X: x + each, Y: y}}
	return c
}

// heading paints a title and what is said beside it at the top of c.
func heading(c draw.Canvas, title, about string) {
	y := c.Max.Y - stripTitle/2
	name := lettering{tone: ink, bold: true, size: 14}
	name.draw(c, c.Min.X, y, title)
	lettering{tone: muted}.draw(c, c.Min.X+name.width(title)+10, y, about)
}

// across paints a line at each label of the vertical scale.
func across(c draw.Canvas, chart *plot.Plot) {
	_, y := chart.Transforms(&c)
	for _, v := range major(chart.Y) {
		c.StrokeLine2(line(rule, 1), c.Min.X, y(v), c.Max.X, y(v))
	}
}

// upright paints a line at each label of the horizontal scale.
func upright(c draw.Canvas, chart *plot.Plot) {
	x, _ := chart.Transforms(&c)
	for _, v := range major(chart.X) {
		c.StrokeLine2(line(rule, 1), x(v), c.Min.Y, x(v), c.Max.Y)
	}
}
