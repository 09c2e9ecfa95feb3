package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/internal/commits"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/diff"
)

// defaultRounds is how many runs of each commit can decide about times: with
// fewer, no U test of all that is compared could.
const defaultRounds = 8

type benchDiffCommand struct {
	Before      string   `arg:"" help:"Commit, branch or tag to compare with."`
	After       string   `arg:"" default:"HEAD" help:"Commit, branch or tag that is compared; uncommitted changes are not measured."`
	Scenario    string   `default:"all" enum:"micro,macro,all" help:"micro, macro or all."`
	Rounds      int      `default:"${rounds}" help:"Runs of each commit, by turns."`
	Messages    int      `default:"${messages}" help:"Measured messages a run."`
	Path        []string `help:"Paths, comma separated; default: all."`
	StrictTimes bool     `help:"Exit 1 also where times or memory are worse."`
	Format      string   `default:"text" enum:"text,markdown,csv,json" help:"text, markdown, csv or json."`
	Out         string   `default:"out/diff" help:"Folder for the results of all runs and the comparison in all formats."`
}

func benchDiffVars() kong.Vars { return kong.Vars{"rounds": strconv.Itoa(defaultRounds)} }

// Run builds two commits, runs them by turns, and prints what differs.
func (b *benchDiffCommand) Run(ctx context.Context, out *output) error {
	o := b.options()
	if err := o.Validate(); err != nil {
		return err
	}
	if changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output(); err == nil && len(changed) > 0 {
		fmt.Fprintln(out.stderr, "msgpath: the working tree has uncommitted changes: they are not measured")
	}
	progress := bench.NewProgress(out.stderr, o.Steps())
	o.Step = progress.Step
	before, after, err := commits.Run(ctx, o)
	progress.Done()
	if err != nil {
		return err
	}
	return b.compare(out, before, after)
}

func (b *benchDiffCommand) options() commits.Options {
	return commits.Options{
		Before: b.Before, After: b.After, Rounds: b.Rounds, Out: b.Out,
		Package: "./cmd/msgpath", Expect: "bench.json",
		Flags: []string{"-tags=msgpathcounters", "-ldflags=-X github.com/msgpath/msgpath/bench.commit=COMMIT"},
		Args: func(out string) []string {
			return append([]string{"bench", b.Scenario, "--runs=1", "--out=" + out}, b.workload()...)
		},
	}
}

// workload returns the flags that say what a run measures.
func (b *benchDiffCommand) workload() []string {
	flags := []string{"--messages=" + strconv.Itoa(b.Messages)}
	if len(b.Path) > 0 {
		flags = append(flags, "--path="+strings.Join(b.Path, ","))
	}
	return flags
}

// again returns the arguments that compare the same commits in the same way.
func (b *benchDiffCommand) again(before, after string) []string {
	args := []string{"bench-diff", before, after, "--scenario=" + b.Scenario, "--rounds=" + strconv.Itoa(b.Rounds)}
	return append(args, b.workload()...)
}

func (b *benchDiffCommand) compare(out *output, before, after commits.Side) error {
	records := make([]verdict.Record, 2)
	for i, side := range []commits.Side{before, after} {
		var err error
		if records[i], err = recordOf(side.Files); err != nil {
			return out.unusable(fmt.Errorf("%s, %s: %w", side.Name, side.Ref, err))
		}
	}
	again := []string{
		"make build",
		verdict.ShellLine(append([]string{"bin/msgpath"}, b.again(before.Commit, after.Commit)...)),
	}
	c := diff.Compare(records[0], records[1], diff.Options{StrictTimes: b.StrictTimes, MadeBy: again})
	out.code = c.ExitCode
	for _, f := range diffFormats {
		var text bytes.Buffer
		if err := f.write(&text, c); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(b.Out, "diff"+f.suffix), text.Bytes()); err != nil {
			return fmt.Errorf("write comparison: %w", err)
		}
		if f.name == b.Format {
			if _, err := text.WriteTo(out.stdout); err != nil {
				return err
			}
		}
	}
	return nil
}
