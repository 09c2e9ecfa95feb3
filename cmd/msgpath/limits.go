package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/mod/modfile"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/internal/provezero"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/limits"
	"github.com/msgpath/msgpath/verdict/report"
)

type benchLimitsCommand struct {
	Out      string `default:"out/limits" help:"Folder for limits.json."`
	Dir      string `placeholder:"FOLDER" help:"Where the archive on disk is made for each run; default: the folder of --out."`
	Pairs    int    `default:"${limits_pairs}" help:"Runs of each arm, by turns."`
	Messages int    `default:"${limits_messages}" help:"Measured messages of a run of macro."`
	Micro    int    `default:"${limits_micro}" help:"Measured messages of a run of micro."`
	Alone    int    `default:"${limits_alone}" help:"Runs of a receiver that is alone in its process."`
	Module   string `default:"." help:"This project's checkout, of which both builds are made to measure what counting costs; none: not measured."`
}

func limitsVars() kong.Vars {
	o := bench.DefaultLimits("")
	return kong.Vars{
		"limits_pairs":    strconv.Itoa(o.Runs),
		"limits_messages": strconv.Itoa(o.Messages),
		"limits_micro":    strconv.Itoa(o.Micro),
		"limits_alone":    strconv.Itoa(o.Alone),
	}
}

// Help tells what is written and the exit codes.
func (benchLimitsCommand) Help() string {
	return "Arms run by turns; each limit is judged by the interval of its median over pairs of runs. Interrupted, it writes nothing. " +
		"Exit codes: 0 nothing failed; 1 a limit failed; 2 wrong usage, or a file that cannot be written; 3 an invalid run; " +
		"4 there is no limit, or one could not be measured."
}

// Names of files.
const (
	limitsFile  = "limits.json"
	archiveFile = "limits.sqlite" // in the folder of --dir, made for each run and removed
)

// Run measures, writes the file and prints the tables.
func (b *benchLimitsCommand) Run(ctx context.Context, out *output) error {
	if err := b.validate(); err != nil {
		return err
	}
	if err := b.claim(); err != nil {
		return err
	}
	o, err := b.options(out)
	if err != nil {
		return err
	}
	d, err := bench.Limits(ctx, o)
	if err != nil {
		return err
	}
	out.code = d.ExitCode()
	if err := errors.Join(b.write(d), limits.WriteText(out.stdout, d)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.stdout, "\nResults are in %s: %s (msgpath performance)\n", b.Out, limitsFile)
	return err
}

// validate says what would be found wrong only after the session: what counting costs
// is measured last.
func (b *benchLimitsCommand) validate() error {
	if b.Module == noModule {
		return nil
	}
	var errs []error
	if b.Pairs < provezero.MinPairs {
		errs = append(errs, fmt.Errorf("--pairs %d: want at least %d, or --module %s", b.Pairs, provezero.MinPairs, noModule))
	}
	if err := checkModule(b.Module); err != nil {
		errs = append(errs, fmt.Errorf("--module %s: %w; %s leaves out what counting costs", b.Module, err, noModule))
	}
	return errors.Join(errs...)
}

// noModule is the --module of whoever has no checkout.
const noModule = "none"

// checkModule is an error if a folder is not the top of a checkout of this project.
func checkModule(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return fmt.Errorf("no checkout of %s: %w", bench.ModulePath, err)
	}
	if modfile.ModulePath(text) != bench.ModulePath {
		return fmt.Errorf("its go.mod is not that of %s", bench.ModulePath)
	}
	return nil
}

// claim sees that the result and the archive can be written.
func (b *benchLimitsCommand) claim() error {
	if err := claimFolder(b.Out, limitsFile); err != nil {
		return fmt.Errorf("--out %s: %w", b.Out, err)
	}
	if err := claimFolder(b.dir()); err != nil {
		return fmt.Errorf("--dir %s: %w", b.dir(), err)
	}
	files, err := os.ReadDir(b.dir())
	if err != nil {
		return fmt.Errorf("--dir %s: %w", b.dir(), err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), archiveFile) { // every run on disk would be invalid
			return fmt.Errorf("--dir %s: %s exists: each run makes its archive anew and removes it", b.dir(), f.Name())
		}
	}
	return nil
}

// dir returns the folder of the archive on disk.
func (b *benchLimitsCommand) dir() string { return cmp.Or(b.Dir, b.Out) }

func (b *benchLimitsCommand) options(out *output) (bench.LimitsOptions, error) {
	o := bench.DefaultLimits(filepath.Join(b.dir(), archiveFile))
	o.Runs, o.Messages, o.Micro, o.Alone = b.Pairs, b.Messages, b.Micro, b.Alone
	o.CommandLine = append([]string{"msgpath"}, out.args...)
	o.LogTo, o.Progress = out.stderr, out.stderr
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	o.Receiver = func(ctx context.Context, archive string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self, "serve-alone", "--archive", archive)
		cmd.Stderr = out.stderr
		return cmd
	}
	if b.Module != noModule {
		o.Overhead = func(ctx context.Context, pairs int) ([]float64, error) {
			m := provezero.Overhead{Dir: b.Module, Command: "./cmd/msgpath", Pairs: pairs}
			return provezero.Ratios(ctx, m, out.stderr)
		}
	}
	return o, nil
}

func (b *benchLimitsCommand) write(d limits.Document) error {
	var text bytes.Buffer
	if err := limits.WriteJSON(&text, d); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(b.Out, limitsFile), text.Bytes()); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

// serveAloneCommand is the receiver that bench-limits starts.
type serveAloneCommand struct {
	Archive string `required:""`
}

func (s *serveAloneCommand) Run(ctx context.Context, out *output) error {
	return bench.ServeAlone(ctx, bench.NodeOptions{Archive: s.Archive, Logger: slog.New(slog.DiscardHandler)}, os.Stdin, out.stdout)
}

type performanceCommand struct {
	Limits    string `arg:"" help:"A limits.json."`
	Peers     string `placeholder:"FILE" help:"What bench/peers measured."`
	Transport string `placeholder:"FILE" help:"What bench-transport measured."`
	Scale     string `placeholder:"FILE" help:"A scale.json."`
	Plots     string `placeholder:"DIR" help:"Folder for limits.svg and scale.svg."`
	Link      string `placeholder:"DIR" help:"The same folder as a link from the document."`
}

// Run writes docs/performance.md's text, made of what was measured alone.
func (p *performanceCommand) Run(out *output) error {
	document, err := p.read()
	if err != nil {
		return err
	}
	if p.Plots != "" {
		if err := p.draw(document); err != nil {
			return err
		}
	}
	return bench.WritePerformance(out.stdout, document)
}

// read reads the files that are given.
func (p *performanceCommand) read() (d bench.Performance, err error) {
	d.Plots = p.Link
	f, err := os.Open(p.Limits)
	if err != nil {
		return d, err
	}
	defer f.Close()
	if d.Document, err = limits.Read(f); err != nil {
		return d, fmt.Errorf("%s: %w", p.Limits, err)
	}
	for _, file := range []struct {
		name string
		into **verdict.Result
	}{{p.Peers, &d.Peers}, {p.Transport, &d.Transport}} {
		if file.name == "" {
			continue
		}
		result, err := readResult(file.name)
		if err != nil {
			return d, err
		}
		*file.into = &result
	}
	if p.Scale != "" {
		result, err := readScale(p.Scale)
		if err != nil {
			return d, err
		}
		d.Scale = &result
	}
	return d, nil
}

// draw writes the plots.
func (p *performanceCommand) draw(d bench.Performance) error {
	plot, err := report.LimitsPlot(d.Document)
	if err != nil {
		return err
	}
	plots := []report.Plot{plot}
	if d.Scale != nil {
		if plot, err = report.ScalePlot(*d.Scale); err != nil {
			return err
		}
		plots = append(plots, plot)
	}
	return writePlots(p.Plots, plots)
}
