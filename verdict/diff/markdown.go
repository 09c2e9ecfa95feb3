package diff

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// WriteMarkdown writes the same as [WriteText] for a pull request, with all
// changed rows, conditions and means folded, and at the end a block to paste that
// makes the figures again.
func WriteMarkdown(w io.Writer, c Comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", escape(c.headline()))
	for _, line := range c.causeLines() {
		fmt.Fprintf(&b, "- %s\n", emphasised(line))
	}
	for _, note := range c.Notes {
		fmt.Fprintf(&b, "- note: %s\n", escape(note))
	}
	fmt.Fprint(&b, "\n#### Correctness\n\n")
	if s := c.correctness(); len(s.rows) > 0 {
		fmt.Fprint(&b, s.markdown())
	} else {
		fmt.Fprintln(&b, unsaidOutcome)
	}
	if len(c.Summary) > 0 {
		s := c.summarySheet()
		s.heads = [][]string{joined(s.heads[0], s.heads[1])}
		fmt.Fprintf(&b, "\n#### What a message costs, where most changed: counts are exact, memory is as measured\n\n%s", s.markdown())
	}
	if s := c.timeSheet(); len(s.rows) > 0 {
		fmt.Fprintf(&b, "\n#### %s\n\n%s\n", escape(c.timeTitle()), s.markdown())
		for _, note := range c.footnotes() {
			fmt.Fprintf(&b, "- %s\n", escape(note))
		}
	}
	c.folded(&b)
	c.reproduce(&b)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("diff: write Markdown: %w", err)
	}
	return nil
}

// emphasised makes the kind of a cause stand out.
func emphasised(line string) string {
	kind, rest, _ := strings.Cut(line, ": ")
	return "**" + escape(kind) + "**: " + escape(rest)
}

// joined puts the two lines of a header into one.
func joined(over, under []string) []string {
	out := make([]string, len(under))
	for i := range under {
		out[i] = strings.TrimSpace(over[i] + " " + under[i])
	}
	return out
}

// folded writes what only some readers need.
func (c Comparison) folded(b *strings.Builder) {
	var changed [][]string
	for _, r := range ranked(c.Rows) {
		if r.changed() {
			changed = append(changed, []string{
				placeName(r.Place()), r.Unit, figure(r.Before, r), figure(r.After, r), difference(r), string(r.Answer), r.Reason,
			})
		}
	}
	fold(b, fmt.Sprintf("All changed rows (%d)", len(changed)),
		sheet{heads: [][]string{{"place", "unit", Before, After, "delta", "answer", "reason"}}, rows: changed, align: "llrrrll"})
	var conditions [][]string
	for _, x := range c.Conditions {
		differs := ""
		if x.Differs {
			differs = "differs"
		}
		conditions = append(conditions, []string{x.Name, orUnsaid(x.Before), orUnsaid(x.After), differs})
	}
	fold(b, "Environment", sheet{heads: [][]string{{"condition", Before, After, ""}}, rows: conditions, align: "llll"})
	var means [][]string
	for _, g := range c.Geomeans {
		means = append(means, []string{g.Unit, fmt.Sprintf("%+.1f %%", g.Percent), fmt.Sprint(g.Places), fmt.Sprint(g.LeftOut)})
	}
	fold(b, "Geometric means over what both sides have",
		sheet{heads: [][]string{{"unit", "delta", "places", "left out: not positive"}}, rows: means, align: "lrrr"})
}

func fold(b *strings.Builder, title string, s sheet) {
	if len(s.rows) > 0 {
		fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n%s\n</details>\n", title, s.markdown())
	}
}

// reproduce writes the commands that make both sides and compare them.
func (c Comparison) reproduce(b *strings.Builder) {
	var lines []string
	for _, s := range []Side{c.Before, c.After} {
		lines = append(lines, s.reproduce()...)
	}
	lines = append(lines, c.command())
	if c.MadeBy != nil {
		lines = c.MadeBy
	}
	fence := "```"
	for strings.Contains(strings.Join(lines, "\n"), fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n#### Reproduce\n\n%ssh\n%s\n%s\n", fence, strings.Join(lines, "\n"), fence)
}

// reproduce returns the lines that make one side, its name and files in front.
func (s Side) reproduce() []string {
	head := oneLine("# " + s.Name + ": result " + strings.Join(s.Files, ", "))
	if len(s.Reproduce) > 0 {
		return append([]string{head}, s.Reproduce...)
	}
	for _, commit := range s.Commits {
		head += oneLine(", commit " + commit)
	}
	for _, seed := range s.Seeds {
		head += oneLine(", seed " + seed)
	}
	return []string{head, "# its files do not say how they were made"}
}

// command returns the command line of this comparison.
func (c Comparison) command() string {
	program := "msgpath"
	if slices.ContainsFunc(c.After.Reproduce, func(line string) bool { return strings.HasPrefix(line, "bin/"+program+" ") }) {
		program = "bin/" + program // it was just built
	}
	args := slices.Concat([]string{program, "diff"}, first(c.Before.Files), first(c.After.Files))
	for _, file := range rest(c.Before.Files) {
		args = append(args, "--before", file)
	}
	for _, file := range rest(c.After.Files) {
		args = append(args, "--after", file)
	}
	if c.StrictTimes {
		args = append(args, "--strict-times")
	}
	return verdict.ShellLine(args)
}

func first(files []string) []string { return files[:min(1, len(files))] }
func rest(files []string) []string  { return files[min(1, len(files)):] }
