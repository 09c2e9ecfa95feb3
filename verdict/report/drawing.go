package report

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"unicode"

	weight "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Widths in which a plot is drawn, in CSS pixels: text keeps its size, and what
// does not fit beside each other goes below.
const (
	wide   vg.Length = 704 // a column on a desk and on paper
	narrow vg.Length = 328 // a phone of 360
)

// fontFamily names fonts with the widths that the drawing was laid out with.
const fontFamily = "'Liberation Sans',Arial,Helvetica,sans-serif"

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// A sketch is a plot that can be drawn in any width: how high it is then, and
// how it is painted.
type sketch interface {
	height(width vg.Length) vg.Length
	paint(c draw.Canvas)
}

// svg draws a sketch as the inside of an SVG element, in light colours.
func svg(s sketch, width vg.Length) (inner string, height vg.Length, err error) {
	height = s.height(width)
	c := vgsvg.New(width, height)
	s.paint(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", 0, err
	}
	_, inner, _ = strings.Cut(b.String(), "<svg")
	_, inner, _ = strings.Cut(inner, ">")
	inner = strings.TrimSuffix(strings.TrimSpace(inner), "</svg>")
	return compact(inner), height, nil
}

// compact leaves out what the enclosing element says for all text, and what
// says nothing.
func compact(inner string) string {
	return strings.NewReplacer(
		"font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;", "",
		"font-family:Liberation Sans;font-variant:normal;font-weight:bold;font-style:normal;", "font-weight:bold;",
		"\n\tstyle=", " style=", "\t", " ",
	).Replace(inner)
}

// inline returns a sketch as part of a page, whose colours it takes.
func inline(s sketch, width vg.Length, label string) (string, error) {
	inner, height, err := svg(s, width)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s">%s</svg>`,
		width.Points(), height.Points(), html.EscapeString(clean(label)), named(inner)), nil
}

// standalone returns a sketch as a file of its own: light, on a ground, with its
// text equivalent.
func standalone(s sketch, width vg.Length, title, summary string) (string, error) {
	const margin = 16
	inner, height, err := svg(s, width)
	if err != nil {
		return "", err
	}
	w, h := width.Points()+2*margin, height.Points()+2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="%d %d %g %g" font-family="%s" role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>
<rect x="%d" y="%d" width="%g" height="%g" fill="%s"/>
%s</svg>
`, w, h, -margin, -margin, w, h, fontFamily, html.EscapeString(clean(title)), html.EscapeString(clean(summary)),
		-margin, -margin, w, h, paints[paper].light, inner), nil
}

// clean replaces what XML cannot hold and what would move the lines of a plot.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\uFFFE' || r == '\uFFFF' {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// A lettering is how text looks and where it lies beside its point: 0 begins
// there, 0.5 is centred, 1 ends there.
type lettering struct {
	tone  tone
	bold  bool
	size  vg.Length // 0 is 12
	align vg.Length
}

func (l lettering) face() font.Face {
	f := font.From(sans, l.points())
	if l.bold {
		f.Weight = weight.WeightBold
	}
	return plot.DefaultTextHandler.Cache().Lookup(f, l.points())
}

func (l lettering) points() vg.Length {
	if l.size == 0 {
		return 12
	}
	return l.size
}

func (l lettering) width(s string) vg.Length {
	face := l.face()
	return face.Width(clean(s))
}

// fit shortens s to a width.
func (l lettering) fit(s string, width vg.Length) string {
	if l.width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && l.width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// draw writes s with the middle of its capitals at y.
func (l lettering) draw(c draw.Canvas, x, y vg.Length, s string) {
	const half = 0.36 // of a capital's height, in sizes
	c.SetColor(l.tone)
	c.FillString(l.face(), vg.Point{X: x - l.align*l.width(s), Y: y - half*l.points()}, clean(s))
}

// box fills a rectangle.
func box(c draw.Canvas, t tone, x, y, width, height vg.Length) {
	c.SetColor(t)
	r := vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}
	c.Fill(r.Path())
}

// disc fills a circle on a thin ground of its own, so that neighbours stay apart.
func disc(c draw.Canvas, t tone, at vg.Point, radius vg.Length) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: paper, Radius: radius + 0.75, Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: t, Radius: radius, Shape: draw.CircleGlyph{}}, at)
}

// ring is a disc with a hole.
func ring(c draw.Canvas, t tone, at vg.Point, radius vg.Length) {
	const width = 1.75
	disc(c, t, at, radius)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: paper, Radius: radius - width, Shape: draw.CircleGlyph{}}, at)
}

func line(t tone, width vg.Length, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: t, Width: width, Dashes: dashes}
}

// newPlot returns an empty plot in the look of the report: text in its font, no
// ground, no line along the axes.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle = line(rule, 0)
		axis.Padding = 0
		axis.Tick.LineStyle = line(rule, 0)
		axis.Tick.Length = 0
		axis.Tick.Label.Font = font.From(sans, 12)
		axis.Tick.Label.Color = muted
		axis.Label.TextStyle.Font = font.From(sans, 12)
		axis.Label.TextStyle.Color = muted
		axis.Label.Padding = 4
	}
	p.X.Padding = 6               // between the labels and the drawing
	p.Y.Tick.Label.YAlign = -0.65 // -0.5 is the middle of a line, which is above that of its digits
	return p
}

// ticks labels round values between 0 and the axis's end.
func ticks(low, high float64) []plot.Tick {
	all := plot.DefaultTicks{}.Ticks(low, high)
	for i, t := range all {
		if !t.IsMinor() {
			all[i].Label = plain(t.Value)
		}
	}
	return all
}

// major returns the values that an axis labels.
func major(axis plot.Axis) (values []float64) {
	for _, t := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
		if !t.IsMinor() && t.Value >= axis.Min && t.Value <= axis.Max {
			values = append(values, t.Value)
		}
	}
	return values
}
