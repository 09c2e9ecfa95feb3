package bench

import (
	_ "embed" // performance.md.tmpl
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/limits"
)

//go:embed performance.md.tmpl
var performanceText string

var performanceTemplate = template.Must(template.New("performance.md").Funcs(template.FuncMap{
	"shell": verdict.ShellLine,
	"short": func(commit string) string { return commit[:min(12, len(commit))] },
	"gb":    func(n uint64) string { return fmt.Sprintf("%.0f", float64(n)/1e9) },
}).Parse(performanceText))

// WritePerformance writes docs/performance.md about a session of [Limits]. plots is
// the folder of its plots as a link, "" for none. Every figure in it is computed
// from d; what was tried and why is in the template.
func WritePerformance(w io.Writer, d limits.Document, plots string) error {
	var b strings.Builder
	data := struct {
		limits.Document
		Plots string
	}{d, plots}
	if err := performanceTemplate.Execute(&b, data); err != nil {
		return fmt.Errorf("bench: write performance document: %w", err)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("bench: write performance document: %w", err)
	}
	return nil
}
