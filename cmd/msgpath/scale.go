package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/scale"
)

type benchScaleCommand struct {
	Only  []string `placeholder:"ROW" help:"Rows, comma separated; default: ${scale_rows}."`
	Quick bool     `help:"A tenth of the messages and fewer values: to try it, not to learn from it."`
	Runs  int      `default:"${scale_runs}" help:"Runs of each value on each path, interleaved."`
	Seed  uint64   `default:"${seed}" help:"Seed of the workload."`
	Out   string   `default:"out/scale" help:"Folder for scale.csv and scale.json. The archive's row makes its databases in it and removes them."`
}

func benchScaleVars() kong.Vars {
	return kong.Vars{
		"scale_rows": strings.Join(bench.ScaleRows(), ","),
		"scale_runs": fmt.Sprint(bench.DefaultScaleRuns),
	}
}

// Help tells what is measured and the exit codes.
func (benchScaleCommand) Help() string {
	return "Each row varies one thing and holds all others; path zerocopy, and raw beside it where raw has the same. " +
		"The table has medians and, in brackets, the least and the most of all runs. Interrupted, it writes nothing: a fit to half of a row would be one of something else. " +
		"Exit codes: 0 ok; 1 a message was encoded by this project more or less than once; 2 wrong usage, or a file that cannot be written; 3 an invalid run, or encodes that are n/a; 4 nothing was measured."
}

// AfterApply refuses a list of no rows.
func (b *benchScaleCommand) AfterApply(line *kong.Context) error {
	return refuseEmpty(line, "only", b.Only)
}

// Run measures, writes the files and prints the table.
func (b *benchScaleCommand) Run(ctx context.Context, out *output) error {
	o := bench.ScaleOptions{
		Only: b.Only, Quick: b.Quick, Runs: b.Runs, Seed: b.Seed, Folder: b.Out,
		CommandLine: append([]string{"msgpath"}, out.args...), LogLevel: slog.LevelError, LogTo: out.stderr,
		Progress: out.stderr,
	}
	if err := b.validate(o); err != nil {
		return err
	}
	if err := claimFolder(b.Out, "scale.csv", "scale.json"); err != nil {
		return fmt.Errorf("--out %s: %w", b.Out, err)
	}
	result, err := bench.Scale(ctx, o)
	if err != nil {
		return err
	}
	if err := b.write(result); err != nil {
		return err
	}
	if out.code = result.ExitCode(); out.code != verdict.ExitOK {
		defer fmt.Fprintf(out.stderr, "msgpath: exit code %d: see the end of the table\n", out.code)
	}
	if err := scale.WriteText(out.stdout, result); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.stdout, "\nResults are in %s: scale.csv, scale.json (msgpath report … --scale)\n", b.Out)
	return err
}

func (b *benchScaleCommand) validate(o bench.ScaleOptions) error {
	var runs error
	if b.Runs < 1 {
		runs = fmt.Errorf("--runs %d: want at least 1", b.Runs)
	}
	return errors.Join(runs, o.Validate())
}

// write writes the files of the output folder, each whole or not at all.
func (b *benchScaleCommand) write(result scale.Result) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer, scale.Result) error
	}{{"scale.csv", scale.WriteCSV}, {"scale.json", scale.WriteJSON}} {
		var text bytes.Buffer
		if err := f.write(&text, result); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(b.Out, f.name), text.Bytes()); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return nil
}

// readScale reads a scale.json, or that of a folder.
func readScale(name string) (scale.Result, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "scale.json")
	}
	f, err := os.Open(name)
	if err != nil {
		return scale.Result{}, err
	}
	defer f.Close()
	result, err := scale.ReadJSON(f)
	if err != nil {
		return scale.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return result, nil
}
