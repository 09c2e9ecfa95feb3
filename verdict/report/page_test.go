package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/verdict"
	"golang.org/x/net/html"
)

// TestText holds every word of each kind of page, those in plots included.
func TestText(t *testing.T) {
	for name, in := range cases() {
		t.Run(name, func(t *testing.T) {
			equal(t, name+".txt", []byte(text(parse(t, written(t, in)))))
		})
	}
}

// TestMarkup: the page without its plots and style, so that its structure is
// seen when it changes.
func TestMarkup(t *testing.T) {
	page := written(t, cases()["one"])
	page = regexp.MustCompile(`(?s)<svg.*?</svg>`).ReplaceAll(page, []byte("[plot]"))
	page = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAll(page, []byte("[style]"))
	equal(t, "one.html", page)
}

func parse(t testing.TB, page []byte) *html.Node {
	t.Helper()
	document, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

var blocks = []string{"p", "h1", "h2", "h3", "tr", "li", "caption", "summary", "text", "pre", "svg", "figcaption", "table"}

// text returns what a page says, a line for each block.
func text(document *html.Node) string {
	var b strings.Builder
	visit(document, func(n *html.Node) {
		switch {
		case n.Type == html.TextNode && n.Parent.Data != "style":
			if words := strings.Join(strings.Fields(n.Data), " "); words != "" {
				b.WriteString(words + " ")
			}
		case slices.Contains(blocks, n.Data):
			b.WriteString("\n")
			if label := attribute(n, "aria-label"); label != "" {
				b.WriteString("[" + label + "]")
			}
		}
	})
	lines := strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	return strings.Join(lines, "\n") + "\n"
}

func visit(n *html.Node, do func(*html.Node)) {
	do(n)
	for child := range n.ChildNodes() {
		visit(child, do)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestPages: what holds for each kind of page, whatever names are in it.
func TestPages(t *testing.T) {
	for name, in := range cases() {
		t.Run(name, func(t *testing.T) {
			for _, err := range faults(written(t, in)) {
				t.Error(err)
			}
		})
	}
}

// elements that the template and the plots make.
var allowed = strings.Fields(`html head meta title style body header main section h1 h2 h3 p span div b ul ol li table caption thead tbody
	tr th td small code pre figure figcaption details summary svg g path text desc rect`)

// faults returns what is wrong with a page: tags that do not match, elements and
// attributes that nobody wrote, anything that is loaded, ids that are there
// twice, tables and plots without a name.
func faults(page []byte) (errs []error) {
	errs = append(errs, balance(page))
	if loads := regexp.MustCompile(`(?i)@import|url\(|https?://`).Find(page); loads != nil {
		errs = append(errs, fmt.Errorf("the page loads something: %s", loads))
	}
	ids := make(map[string]int)
	document, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return append(errs, err)
	}
	visit(document, func(n *html.Node) {
		if n.Type != html.ElementNode {
			return
		}
		if !slices.Contains(allowed, n.Data) {
			errs = append(errs, fmt.Errorf("element %s", n.Data))
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" {
				errs = append(errs, fmt.Errorf("attribute %s=%q of %s", a.Key, a.Val, n.Data))
			}
			if a.Key == "id" {
				ids[a.Val]++
			}
		}
		errs = append(errs, nameless(n))
	})
	for id, n := range ids {
		if n > 1 {
			errs = append(errs, fmt.Errorf("id %s is there %d times", id, n))
		}
	}
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// nameless returns an error for an element that a screen reader could not name.
func nameless(n *html.Node) error {
	switch n.Data {
	case "table":
		first := n.FirstChild
		for first != nil && first.Type != html.ElementNode {
			first = first.NextSibling
		}
		if first == nil || first.Data != "caption" {
			return errors.New("a table has no caption")
		}
	case "th":
		if attribute(n, "scope") == "" {
			return errors.New("a heading of a table has no scope")
		}
	case "svg":
		if attribute(n, "aria-label") == "" || attribute(n, "role") != "img" {
			return errors.New("a plot has no label")
		}
	}
	return nil
}

// balance returns an error unless each tag has its end.
func balance(page []byte) error {
	var open []string
	for tokens := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := tokens.Next()
		name, _ := tokens.TagName()
		switch {
		case kind == html.ErrorToken && errors.Is(tokens.Err(), io.EOF):
			if len(open) > 0 {
				return fmt.Errorf("not closed: %v", open)
			}
			return nil
		case kind == html.ErrorToken:
			return tokens.Err()
		case kind == html.StartTagToken && string(name) != "meta":
			open = append(open, string(name))
		case kind == html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != string(name) {
				return fmt.Errorf("</%s> within %v", name, open)
			}
			open = open[:len(open)-1]
		}
	}
}

// TestFaults: the checks above find what they are for.
func TestFaults(t *testing.T) {
	for _, bad := range []string{
		`<p>a<b>c</p>`, `<script>1</script>`, `<p onclick="x">a</p>`, `<style>@import "x"</style>`,
		`<p id="a">a</p><p id="a">b</p>`, `<table><tbody></tbody></table>`, `<table><caption>c</caption><tr><th>a</th></tr></table>`,
		`<svg></svg>`, `<svg role="img" aria-label="a"><image href="x"></image></svg>`, `<p>http://x</p>`,
	} {
		if len(faults([]byte(bad))) == 0 {
			t.Errorf("nothing is wrong with %s", bad)
		}
	}
}

// TestPlots: each plot is a well-formed file under its name, on a ground.
func TestPlots(t *testing.T) {
	for name, in := range cases() {
		t.Run(name, func(t *testing.T) {
			plots, err := Plots(in.Sides)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range plots {
				names = append(names, p.Name)
				if err := wellFormed(p.SVG); err != nil {
					t.Errorf("%s: %v", p.Name, err)
				}
				for _, part := range []string{`xmlns="http://www.w3.org/2000/svg"`, "<title", "<desc", `fill="#FFFFFF"`, "<text"} {
					if !strings.Contains(p.SVG, part) {
						t.Errorf("%s lacks %s", p.Name, part)
					}
				}
				if p.Alt == "" || !strings.Contains(p.Text, "| --- |") {
					t.Errorf("%s has no text equivalent: %q, %q", p.Name, p.Alt, p.Text)
				}
			}
			want := []string{"counts", "throughput", "latency", "bytes", "heap"}
			switch name {
			case "empty":
				want = nil
			case "uncounted":
				want = want[1:]
			case "openloop", "opened":
				want = slices.Insert(want, 3, "openloop")
			}
			if !slices.Equal(names, want) {
				t.Errorf("plots are %q, want %q", names, want)
			}
		})
	}
}

func wellFormed(svg string) error {
	for in := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := in.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestPlotText holds the tables that documents take.
func TestPlotText(t *testing.T) {
	plots, err := Plots(cases()["two"].Sides)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range plots {
		fmt.Fprintf(&all, "# %s: %s\n\n%s\n\n%s\n", p.Name, p.Title, p.Alt, p.Text)
	}
	equal(t, "plots.md", []byte(all.String()))
}

// TestTones: a plot in a page has no colour of its own, and one in a file no
// variable.
func TestTones(t *testing.T) {
	page := string(written(t, cases()["two"]))
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		if literal := regexp.MustCompile(`:#[0-9A-Fa-f]{3,6}`).FindString(svg); literal != "" {
			t.Fatalf("a plot in the page has the colour %s", literal)
		}
	}
	plots, err := Plots(cases()["two"].Sides)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plots {
		if strings.Contains(p.SVG, "var(") || !strings.Contains(p.SVG, paints[ink].light) {
			t.Errorf("%s is not in light colours", p.Name)
		}
	}
}

// TestUnknownIsNotZero: without counts no cell of a count is a number.
func TestUnknownIsNotZero(t *testing.T) {
	l := newLedger(cases()["uncounted"].Sides)
	seen := 0
	unknown := func(where, text string) {
		if seen++; text != notAvailable {
			t.Errorf("%s: %q, want n/a", where, text)
		}
	}
	for _, g := range l.counts().grids {
		for _, r := range g.Rows {
			for _, text := range r.Cells {
				unknown(g.Caption+", "+r.Name, text)
			}
		}
	}
	for _, g := range l.keyGrids() {
		for _, r := range g.Rows {
			for i, f := range keyFigures {
				if f.exact {
					unknown(g.Scenario+", "+f.Name, r.Cells[i].Text)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d cells are looked at", seen)
	}
}

func TestOutcome(t *testing.T) {
	line := func(v verdict.Verdict, decides bool) Line { return Line{Verdict: v, Decides: decides} }
	unverified := fixture()
	unverified.Verified = false
	for _, tt := range []struct {
		name  string
		side  verdict.Result
		lines []Line
		want  verdict.Verdict
	}{
		{"nothing judged", fixture(), nil, verdict.NotApplicable},
		{"nothing decides", fixture(), []Line{line(verdict.Pass, false)}, verdict.NotApplicable},
		{"passes", fixture(), []Line{line(verdict.Warn, false), line(verdict.Pass, true)}, verdict.Pass},
		{"one is open", fixture(), []Line{line(verdict.Pass, true), line(verdict.Inconclusive, true)}, verdict.Inconclusive},
		{"open stays open", fixture(), []Line{line(verdict.Inconclusive, true), line(verdict.Pass, true)}, verdict.Inconclusive},
		{"what is not known stays so", fixture(), []Line{line(verdict.NotApplicable, true), line(verdict.Pass, true)}, verdict.NotApplicable},
		{"the first that is open is told", fixture(), []Line{line(verdict.NotApplicable, true), line(verdict.Inconclusive, true)}, verdict.NotApplicable},
		{"one fails after one that is not known", fixture(), []Line{line(verdict.NotApplicable, true), line(verdict.Fail, true)}, verdict.Fail},
		{"one fails", fixture(), []Line{line(verdict.Pass, true), line(verdict.Fail, false)}, verdict.Fail},
		{"invalid run", lost(), []Line{line(verdict.Pass, true)}, Invalid},
		{"unverified", unverified, []Line{line(verdict.Pass, true)}, Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Outcome([]Side{{"", tt.side}}, tt.lines); got != tt.want {
				t.Errorf("Outcome = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestWriteErrors(t *testing.T) {
	broken := fixture()
	broken.Kind = "other"
	for name, sides := range map[string][]Side{"no side": nil, "invalid result": {{"a", fixture()}, {"b", broken}}} {
		if err := Write(io.Discard, Input{Sides: sides}); err == nil || !strings.HasPrefix(err.Error(), "report: write page: ") {
			t.Errorf("%s: Write returned %v", name, err)
		}
		if _, err := Plots(sides); err == nil || !strings.HasPrefix(err.Error(), "report: draw plots: ") {
			t.Errorf("%s: Plots returned %v", name, err)
		}
	}
	closed, w := io.Pipe()
	closed.Close()
	if err := Write(w, cases()["one"]); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Write to a closed pipe returned %v", err)
	}
}

// FuzzNames: no name makes markup, whatever is in it.
func FuzzNames(f *testing.F) {
	f.Add("baseline", "relay.site", "0123456789abcdef")
	f.Add("<script>", "\x00]]>&", "\"'")
	f.Fuzz(func(t *testing.T, path, site, commit string) {
		r := fixture()
		r.Runs, r.Environment.Commit = r.Runs[:1], commit
		r.Runs[0].Path, r.Runs[0].Nodes[0].Sites[0].Site = path, site
		if r.Validate() != nil {
			return
		}
		sides := []Side{{"", r}}
		counts := newLedger(sides).counts()
		svg, err := standalone(counts.sketch, narrow, counts.title, counts.summary)
		if err != nil {
			t.Fatal(err)
		}
		if err := wellFormed(svg); err != nil {
			t.Error(err)
		}
		for _, err := range faults(written(t, Input{Sides: sides})) {
			if !strings.Contains(err.Error(), "loads something") { // a name may be an address
				t.Error(err)
			}
		}
	})
}

// The line of a ceiling is that of a path that only relays, not of any path that
// is called so.
func TestCeiling(t *testing.T) {
	working := fixture()
	for i, run := range working.Runs {
		if run.Path == "raw" {
			working.Runs[i].Nodes[0].Sites = append(run.Nodes[0].Sites, at("theirs.handler", 1, 0, 0, 0))
		}
	}
	renamed := fixture()
	for i := range renamed.Runs {
		if renamed.Runs[i].Path == "raw" {
			renamed.Runs[i].Path = "bare"
		}
	}
	for name, tt := range map[string]struct {
		result verdict.Result
		want   bool
	}{
		"relays": {fixture(), true}, "not counted": {uncounted(), true},
		"decodes": {working, false}, "another name": {renamed, false},
	} {
		rate, label := newLedger([]Side{{"a", tt.result}}).ceiling(verdict.Macro)
		if got := rate != nil; got != tt.want || got != (label != "") {
			t.Errorf("%s: a ceiling: %t, called %q, want %t", name, got, label, tt.want)
		}
	}
}
