package report

import (
	"image/color"
	"math"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		got, want string
	}{
		{count(6), "6"},
		{count(0), "0"},
		{count(5.9999), "6.000"},
		{count(0.25), "0.250"},
		{count(1234567), "1,234,567"},
		{quantity(0), "0"},
		{quantity(4750.4), "4,750"},
		{quantity(99.96), "100"},
		{quantity(12.345), "12.3"},
		{quantity(1.816), "1.82"},
		{quantity(0.07531), "0.0753"},
		{quantity(0.9999), "1.00"},
		{quantity(-1234.5), "−1,234"},
		{plain(0.30000000000000004), "0.3"},
		{plain(4000), "4,000"},
		{sample(nil).exact(), "n/a"},
		{sample{2, 2}.exact(), "2"},
		{sample{2, 3}.exact(), "2–3 !"},
		{sample(nil).text(count), "n/a"},
		{sample{1, 2, 10}.text(count), "2"},
		{sample{1, 3}.text(count), "2"},
		{sample{1, 3}.spread(), "1.00–3.00"},
		{change(sample{4}, sample{3}), "−25.0 %"},
		{change(sample{4}, sample{5}), "+25.0 %"},
		{change(sample{4}, sample{0}), "−100 %"},
		{change(sample{4}, sample{4}), ""},
		{change(sample{0}, sample{4}), "from 0"},
		{change(nil, sample{4}), ""},
		{change(sample{4}, nil), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// TestContrast: what is text in a plot can be read on its ground in light and in
// dark, and what is drawn stands out from the paper.
func TestContrast(t *testing.T) {
	for _, tt := range []struct {
		front, ground tone
		least         float64
	}{
		{ink, paper, 7},
		{muted, paper, 4.5},
		{blue, paper, 4.5}, // headings of panels
		{orange, paper, 4.5},
		{onFill, blue, 4.5},
		{onFill, orange, 4.5},
		{purple, paper, 3},
		{teal, paper, 3},
	} {
		for _, of := range []func(paint) string{func(p paint) string { return p.light }, func(p paint) string { return p.dark }} {
			front, ground := of(paints[tt.front]), of(paints[tt.ground])
			if got := contrast(rgb(front), rgb(ground)); got < tt.least {
				t.Errorf("%s %s on %s %s: contrast %.2f, want %.1f", paints[tt.front].name, front, paints[tt.ground].name, ground, got, tt.least)
			}
		}
	}
	if got := contrast(color.RGBA{A: 255}, color.RGBA{255, 255, 255, 255}); math.Abs(got-21) > 1e-9 {
		t.Errorf("black on white has contrast %v, want 21", got)
	}
}

// TestTonesApart: a light colour that two tones share could not be told apart
// in a drawing.
func TestTonesApart(t *testing.T) {
	seen := make(map[string]string)
	for _, p := range paints {
		if other, there := seen[strings.ToUpper(p.light)]; there {
			t.Errorf("%s and %s are both %s", p.name, other, p.light)
		}
		seen[strings.ToUpper(p.light)] = p.name
	}
}

// contrast is that of WCAG 2.2.
func contrast(a, b color.RGBA) float64 {
	high, low := max(luminance(a), luminance(b)), min(luminance(a), luminance(b))
	return (high + 0.05) / (low + 0.05)
}

func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
