package bench

import (
	_ "embed" // performance.md.tmpl
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/limits"
	"github.com/msgpath/msgpath/verdict/scale"
)

//go:embed performance.md.tmpl
var performanceText string

var performanceTemplate = template.Must(template.New("performance.md").Funcs(template.FuncMap{
	"short": func(commit string) string { return commit[:min(12, len(commit))] },
	"gb":    func(n uint64) string { return fmt.Sprintf("%.0f", float64(n)/1e9) },
}).Parse(performanceText))

// Performance is what docs/performance.md is made of.
type Performance struct {
	limits.Document
	Plots string // folder of the plots as a link from the document; "": none

	Peers     *verdict.Result // of the module bench/peers; nil: not measured
	Transport *verdict.Result // of [TransportArms]
	Scale     *scale.Result
}

// WritePerformance writes docs/performance.md. Every figure in it is computed from
// p; what was tried and why is in the template.
func WritePerformance(w io.Writer, p Performance) error {
	var b strings.Builder
	if err := performanceTemplate.Execute(&b, p); err != nil {
		return fmt.Errorf("bench: write performance document: %w", err)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("bench: write performance document: %w", err)
	}
	return nil
}

// PeersMarkdown returns the table of the arms of bench/peers, and by how much a
// relay written by hand differs from a node with the same archive.
func (p Performance) PeersMarkdown() string {
	const byHand, node = "by hand", "zerocopy"
	out := limits.Of(*p.Peers).ArmsMarkdown() + "\n"
	for _, arm := range p.Peers.Settings.Paths {
		if rest, ok := strings.CutPrefix(arm, byHand); ok {
			c := CompareArms(*p.Peers, arm, node+rest)
			out += fmt.Sprintf("\n- %s beside %s: msg/s ×%v, CPU time ×%v, %d pairs", arm, node+rest, c.Rate, c.CPU, c.Runs)
		}
	}
	return out
}

// TransportMarkdown returns the table of what options do.
func (p Performance) TransportMarkdown() (string, error) {
	var b strings.Builder
	err := WriteEffects(&b, *p.Transport, true)
	return b.String(), err
}

// ScaleText returns how cost grows, as text.
func (p Performance) ScaleText() (string, error) {
	var b strings.Builder
	err := scale.WriteText(&b, *p.Scale)
	return b.String(), err
}
