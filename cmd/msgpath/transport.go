package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/verdict"
)

// defaultPairs is how many runs of each value make an interval that is worth
// reading.
const defaultPairs = 15

type benchTransportCommand struct {
	Out      string   `default:"out/transport.json" placeholder:"FILE" help:"Write all runs to this file. Default: ${default}."`
	From     string   `placeholder:"FILE" help:"Print the table of a file that was written before, and measure nothing."`
	Runs     int      `default:"${pairs}" help:"Runs of each value, interleaved; six make an interval."`
	Messages int      `default:"${messages}" help:"Measured messages a run."`
	Profile  string   `default:"${profile}" help:"Payload sizes and their mix in percent."`
	Option   []string `sep:"," help:"Try only these options, comma separated. Default: all."`
	Markdown bool     `xor:"format" help:"Print the table as Markdown."`
	JSON     bool     `name:"json" xor:"format" help:"Print the ratios as JSON."`
}

func benchTransportVars() kong.Vars { return kong.Vars{"pairs": strconv.Itoa(defaultPairs)} }

// Help tells the exit codes.
func (benchTransportCommand) Help() string {
	return "The table has ratios: the figure of a value by that of the option's default, of the same path and run. " +
		"Exit codes: 0 ok; 2 wrong usage, or a file that cannot be read or written; 3 an invalid run. Interrupted, it writes nothing."
}

// AfterApply refuses flags that would be without effect.
func (b *benchTransportCommand) AfterApply(line *kong.Context) error {
	var idle []string
	for _, flag := range []string{"out", "runs", "messages", "profile", "option"} {
		if b.From != "" && isGiven(line, flag) {
			idle = append(idle, "--"+flag)
		}
	}
	if len(idle) > 0 {
		return fmt.Errorf("--from measures nothing: it has no use for %s", strings.Join(idle, ", "))
	}
	if isGiven(line, "from") && b.From == "" {
		return errors.New("--from: want the name of a file")
	}
	return refuseEmpty(line, "option", b.Option)
}

// isGiven reports whether the command line has a flag, whatever its value.
func isGiven(line *kong.Context, flag string) bool {
	return slices.ContainsFunc(line.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == flag })
}

// refuseEmpty is an error if a list is given that names nothing, which is not the
// same as no list.
func refuseEmpty[T any](line *kong.Context, flag string, list []T) error {
	if len(list) == 0 && isGiven(line, flag) {
		return fmt.Errorf("--%s: the list is empty", flag)
	}
	return nil
}

// Run measures, writes the file, and prints what each value does.
func (b *benchTransportCommand) Run(ctx context.Context, out *output) error {
	if b.From != "" {
		result, err := readResult(b.From)
		if err != nil {
			return out.unusable(err)
		}
		return b.print(out, result)
	}
	arms, err := bench.TransportArms(b.Option...)
	profile, errProfile := bench.ParseProfile(b.Profile)
	if err = errors.Join(err, errProfile); err != nil {
		return err
	}
	if err := claimFile(b.Out); err != nil {
		return fmt.Errorf("--out %s: %w", b.Out, err)
	}
	result, err := bench.RunArms(ctx, b.options(profile, out), arms)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := verdict.WriteJSON(&text, result); err != nil {
		return err
	}
	if err := replaceFile(b.Out, text.Bytes()); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if err := b.print(out, result); err != nil {
		return err
	}
	return b.printWhere(out)
}

// printWhere says where the result is: under a table for a person, and on stderr
// where stdout is for a program or a document.
func (b *benchTransportCommand) printWhere(out *output) error {
	to, before := io.Writer(out.stdout), "\n"
	if b.JSON || b.Markdown {
		to, before = out.stderr, ""
	}
	_, err := fmt.Fprintf(to, "%sResults are in %s (msgpath bench-transport --from)\n", before, b.Out)
	return err
}

func (b *benchTransportCommand) options(profile bench.Profile, out *output) bench.Options {
	o := bench.DefaultOptions()
	o.Runs, o.Messages, o.Archive = b.Runs, b.Messages, bench.Discard
	o.Profile = profile
	o.CommandLine = append([]string{"msgpath"}, out.args...)
	o.LogTo, o.Progress = out.stderr, out.stderr
	return o
}

// print prints what a result says of the options, and tells of runs that lost a
// message.
func (b *benchTransportCommand) print(out *output, result verdict.Result) error {
	for _, i := range result.Invalid {
		fmt.Fprintf(out.stderr, "msgpath: %s of %s is invalid: %s\n", i.Scenario, i.Path, i.Reason)
		out.code = verdict.ExitInvalid
	}
	if !b.JSON {
		return bench.WriteEffects(out.stdout, result, b.Markdown)
	}
	encoder := json.NewEncoder(out.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(bench.Effects(result))
}
