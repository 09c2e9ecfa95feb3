package diff

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes what a reviewer needs in two minutes: the verdict and its
// causes, whether the runs can be trusted, what a message costs where most
// changed, and times. Tables are at most 100 columns wide for names of 16
// letters and there is no colour. All figures are in [WriteCSV].
func WriteText(w io.Writer, c Comparison) error {
	var b strings.Builder
	fmt.Fprintln(&b, "Verdict: "+c.headline())
	for _, line := range c.causeLines() {
		fmt.Fprintln(&b, line)
	}
	for _, note := range c.Notes {
		fmt.Fprintln(&b, "note: "+oneLine(note))
	}
	fmt.Fprintln(&b, "\nCorrectness")
	if s := c.correctness(); len(s.rows) > 0 {
		fmt.Fprint(&b, s.text())
	} else {
		fmt.Fprintln(&b, "  "+unsaidOutcome)
	}
	if len(c.Summary) > 0 {
		fmt.Fprintf(&b, "\nWhat a message costs, where most changed: counts are exact, memory is as measured\n%s", c.summarySheet().text())
	}
	if s := c.timeSheet(); len(s.rows) > 0 {
		fmt.Fprintf(&b, "\n%s\n%s", c.timeTitle(), s.text())
		for _, note := range c.footnotes() {
			fmt.Fprintln(&b, "  "+note)
		}
	}
	if lines := c.geomeanLines(); len(lines) > 0 {
		fmt.Fprintf(&b, "\nGeometric mean over what both sides have\n")
		for _, line := range lines {
			fmt.Fprintln(&b, "  "+line)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("diff: write text: %w", err)
	}
	return nil
}
