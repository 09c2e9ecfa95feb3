package provezero

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// summarizeRows says in one line how many checks passed and which failed.
func summarizeRows(rows []row) string {
	var failed []string
	for _, r := range rows {
		if !r.ok {
			failed = append(failed, r.check+" ("+r.arch+")")
		}
	}
	text := fmt.Sprintf("%d of %d checks of symbols, sites and machine code passed", len(rows)-len(failed), len(rows))
	if len(failed) > 0 {
		text += "; failed: " + strings.Join(failed, ", ")
	}
	return text
}

// maxDetails bounds what is printed of one failed check.
const maxDetails = 20

// printRows prints one line for each check, and under a failed one what is
// wrong.
func printRows(w io.Writer, rows []row) {
	if len(rows) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "check\tarch\tfound\tverdict")
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.check, r.arch, r.found, verdictOf(r))
	}
	_ = table.Flush()
	for _, r := range rows {
		if !r.ok {
			printDetails(w, r)
		}
	}
}

func verdictOf(r row) string {
	if r.ok {
		return "PASS"
	}
	return "FAIL"
}

func printDetails(w io.Writer, r row) {
	fmt.Fprintf(w, "\n%s, %s:\n", r.check, r.arch)
	for i, d := range r.details {
		if i == maxDetails {
			fmt.Fprintf(w, "  and %d more\n", len(r.details)-i)
			return
		}
		fmt.Fprintf(w, "  %s\n", d)
	}
}
