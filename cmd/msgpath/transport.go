package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

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
	Profile  string   `default:"${profile}" help:"Payload sizes and their mix in percent. Default: ${default}."`
	Option   []string `sep:"," help:"Try only these options, comma separated. Default: all."`
	Markdown bool     `xor:"format" help:"Print the table as Markdown."`
	JSON     bool     `name:"json" xor:"format" help:"Print the ratios as JSON."`
}

func benchTransportVars() kong.Vars { return kong.Vars{"pairs": strconv.Itoa(defaultPairs)} }

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
	return b.print(out, result)
}

// claimFile sees that a file can be written before anything is measured.
func claimFile(name string) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
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
