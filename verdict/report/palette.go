package report

import (
	"fmt"
	"image/color"
	"strings"
)

// A tone is a colour by its purpose. Drawings are made in the light colours,
// each of which is different, so that a page can name tones instead and let its
// reader's preference choose.
type tone int

const (
	ink    tone = iota // text
	muted              // axes, and what only helps
	rule               // grid lines
	blue               // decodes; the one accent
	orange             // hashes
	purple             // copies
	teal               // encodes
	grey               // what is not accounted for
	onFill             // text on blue, orange, purple and teal
	paper              // behind everything
	tones              // how many there are
)

// paint is what a tone looks like. Blue and orange stay apart for every common
// kind of colour blindness; every pair that is text on its ground has a contrast
// of 4.5 or more.
type paint struct{ name, light, dark string }

var paints = [tones]paint{
	ink:    {"ink", "#15191E", "#E8EAED"},
	muted:  {"muted", "#57606A", "#A4ADB8"},
	rule:   {"rule", "#DDE1E6", "#343B44"},
	blue:   {"blue", "#0A62A3", "#74B6EE"},
	orange: {"orange", "#AC4A00", "#F2A65E"},
	purple: {"purple", "#713C96", "#C6A2E6"},
	teal:   {"teal", "#0B6F62", "#64C4B4"},
	grey:   {"grey", "#A9B2BC", "#69737F"},
	onFill: {"on-fill", "#FEFEFE", "#0F1317"},
	paper:  {"paper", "#FFFFFF", "#12161A"},
}

// RGBA makes a tone a [color.Color]: the light one.
func (t tone) RGBA() (r, g, b, a uint32) { return rgb(paints[t].light).RGBA() }

// rgb returns a colour of the table above.
func rgb(hex string) color.RGBA {
	c := color.RGBA{A: 255}
	if _, err := fmt.Sscanf(hex, "#%02X%02X%02X", &c.R, &c.G, &c.B); err != nil {
		panic("report: no colour: " + hex)
	}
	return c
}

// variable returns the tone as CSS names it.
func (t tone) variable() string { return "var(--" + paints[t].name + ")" }

// named replaces the light colours of a drawing by the tones' names.
func named(svg string) string {
	var pairs []string
	for t := range tones {
		pairs = append(pairs, paints[t].light, t.variable())
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

// custom returns the tones as CSS custom properties.
func custom(of func(paint) string) string {
	var b strings.Builder
	for _, p := range paints {
		fmt.Fprintf(&b, "--%s:%s;", p.name, of(p))
	}
	return b.String()
}

func lightTones() string { return custom(func(p paint) string { return p.light }) }
func darkTones() string  { return custom(func(p paint) string { return p.dark }) }
