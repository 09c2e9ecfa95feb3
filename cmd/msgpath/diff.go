package main

import (
	"io"
	"slices"

	"github.com/msgpath/msgpath/verdict/diff"
)

type diffCommand struct {
	Before string `arg:"" help:"Result from before the change: bench.json or its folder, bench.csv, sites.csv, or Go benchmark lines."`
	After  string `arg:"" help:"Result from after it."`

	MoreBefore  []string `name:"before" placeholder:"FILE" sep:"none" help:"Another file of the same side; may be repeated."`
	MoreAfter   []string `name:"after" placeholder:"FILE" sep:"none" help:"Another file of the same side; may be repeated."`
	Format      string   `enum:"text,markdown,csv,json" default:"text" help:"text, markdown, csv or json."`
	StrictTimes bool     `help:"Exit with 1 also if a time or memory figure is worse."`
}

// Help tells the exit codes.
func (diffCommand) Help() string {
	return "Exit codes: 0 nothing is worse; 1 a count rose or appeared, or a scenario, path, node, site or unit vanished; " +
		"2 wrong usage or a file that cannot be read; 3 an invalid run, or counts that are n/a; 4 nothing was compared, or nothing could be decided."
}

// Run compares two sides and sets the exit code.
func (d *diffCommand) Run(out *output) error {
	before, err := recordOf(append([]string{d.Before}, d.MoreBefore...))
	if err != nil {
		return out.unusable(err)
	}
	after, err := recordOf(append([]string{d.After}, d.MoreAfter...))
	if err != nil {
		return out.unusable(err)
	}
	c := diff.Compare(before, after, diff.Options{StrictTimes: d.StrictTimes})
	out.code = c.ExitCode
	i := slices.IndexFunc(diffFormats, func(f diffFormat) bool { return f.name == d.Format })
	return diffFormats[i].write(out.stdout, c)
}

// diffFormat is one way to print a comparison.
type diffFormat struct {
	name, suffix string
	write        func(io.Writer, diff.Comparison) error
}

var diffFormats = []diffFormat{
	{"text", ".txt", diff.WriteText},
	{"markdown", ".md", diff.WriteMarkdown},
	{"csv", ".csv", diff.WriteCSV},
	{"json", ".json", diff.WriteJSON},
}
