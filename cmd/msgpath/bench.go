package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/verdict"
)

// Where a checkout keeps what the acceptance table speaks of.
const (
	baselineFile = "docs/baseline.md"
	checkFile    = "check.json" // in the output folder, written by make check
)

// benchCommands is what there is to measure.
type benchCommands struct {
	Micro benchCommand `cmd:"" help:"Measure one node without a network, on each path."`
	Macro benchCommand `cmd:"" help:"Measure two nodes over loopback, on each path."`
	All   benchCommand `cmd:"" help:"Measure micro and macro."`

	Archive archiveCommand `cmd:"" help:"Measure inserts into archives, beside the bare drivers."`
	Filter  filterCommand  `cmd:"" help:"Measure what light peers cost a node that pushes to them."`
	Sync    syncCommand    `cmd:"" help:"Measure what it costs two stores to find what they do not share."`
	Recover recoverCommand `cmd:"" help:"Measure how a node gets by store-sync what gossip did not bring it."`
}

type benchCommand struct {
	Scenario string `kong:"-"` // the command's name: micro, macro or all

	Messages int      `default:"-1" help:"Measured messages a run; -1: ${messages}, or those of the corpus."`
	Warmup   int      `default:"-1" help:"Messages before them, not counted; -1: ${warmup_micro} in micro, ${warmup_macro} in macro."`
	Seed     uint64   `default:"${seed}" help:"Seed of the workload."`
	Profile  string   `placeholder:"SIZES@MIX" help:"Payload sizes and their mix in percent. Default: ${profile}."`
	Corpus   string   `placeholder:"FILE" help:"Measure with the messages that relaynode --record has recorded in FILE, in place of generated ones."`
	Window   int      `default:"${window}" help:"Most messages in flight in macro; in micro it is one."`
	Rate     float64  `placeholder:"R" help:"Send R messages a second in macro, whatever is in flight: an open loop. Default: a closed one."`
	Runs     int      `default:"${runs}" help:"Runs of each scenario on each path, interleaved."`
	Hash     string   `default:"blake3" enum:"blake3,waku-sha256" help:"Message hash: blake3 or waku-sha256."`
	Archive  string   `default:"${archive}" help:"sqlite::memory:, sqlite:FILE (made for each run and removed), memory or ${discard} (keeps keys alone)."`
	Filter   int      `name:"filter-peers" placeholder:"F" help:"Push each message to F light peers too, each a host of its own that must get it once; not on path raw. Scenarios are named micro_filterF and macro_filterF. Default: none."`
	Path     []string `help:"Paths, comma separated; default ${paths} (raw in macro only)."`
	Cold     bool     `help:"Start each run with memory that is not mapped yet."`
	LogLevel string   `default:"error" enum:"debug,info,warn,error" help:"Level of the nodes' log on stderr: debug, info, warn, error."`
	Counts   bool     `help:"Print what each site counted, and no times."`
	Out      string   `default:"out" help:"Folder for bench.csv, sites.csv, bench.txt, bench.json and, of an open loop, latency/*.hgrm."`
	CSV      string   `name:"csv" placeholder:"-|seed" help:"-: print only the CSV on stdout; seed: only the 13 columns and three rows of one path."`
	JSON     string   `name:"json" placeholder:"-" help:"-: print only the JSON on stdout."`

	profileFlags
}

func benchVars() kong.Vars {
	return kong.Vars{
		"messages":     strconv.Itoa(bench.DefaultMessages),
		"warmup_micro": strconv.Itoa(bench.DefaultWarmupMicro),
		"warmup_macro": strconv.Itoa(bench.DefaultWarmupMacro),
		"seed":         strconv.Itoa(bench.DefaultSeed),
		"profile":      bench.DefaultProfile().String(),
		"window":       strconv.Itoa(bench.DefaultWindow),
		"runs":         strconv.Itoa(bench.DefaultRuns),
		"archive":      bench.DefaultArchive,
		"discard":      bench.Discard,
		"paths":        strings.Join(bench.Paths(), ","),
	}
}

// AfterApply takes the scenario from the command's name.
func (b *benchCommand) AfterApply(line *kong.Context) error {
	b.Scenario = line.Selected().Name
	return nil
}

// options returns what the flags say, with everything that is wrong with them.
func (b *benchCommand) options(out *output) (bench.Options, error) {
	o := bench.DefaultOptions()
	if b.Scenario != "all" {
		o.Scenarios = []string{b.Scenario}
	}
	o.Seed, o.Window, o.Runs, o.FilterPeers = b.Seed, b.Window, b.Runs, b.Filter
	o.Archive, o.Cold, o.Rate, o.Histograms = b.Archive, b.Cold, b.Rate, new(bench.Histograms)
	if b.Warmup != -1 {
		o.WarmupMicro, o.WarmupMacro = b.Warmup, b.Warmup
	}
	errs := []error{b.stdout(), b.profileFlags.validate(b.owner)}
	errs = append(errs, b.workload(&o))
	if h, err := message.ParseAlgorithm(b.Hash); err != nil {
		errs = append(errs, err)
	} else {
		o.Hash = h
	}
	errs = append(errs, o.LogLevel.UnmarshalText([]byte(b.LogLevel)))
	o.Paths = b.paths()
	errs = append(errs, o.Validate())
	o.CommandLine = append([]string{"msgpath"}, out.args...)
	o.LogTo, o.Progress = out.stderr, out.stderr
	return o, errors.Join(errs...)
}

// workload sets what messages are measured, and how many.
func (b *benchCommand) workload(o *bench.Options) (err error) {
	switch {
	case b.Corpus != "" && b.Profile != "":
		err = errors.New("--corpus has sizes of its own: give it or --profile")
	case b.Corpus != "":
		if o.Corpus, err = bench.LoadCorpus(b.Corpus); err == nil {
			o.Messages = o.Corpus.Len()
		}
	case b.Profile != "":
		o.Profile, err = bench.ParseProfile(b.Profile)
	}
	if b.Messages != -1 {
		o.Messages = b.Messages
	}
	return err
}

// paths returns the paths asked for: those of --path, or all of the scenario.
func (b *benchCommand) paths() []string {
	switch {
	case len(b.Path) > 0:
		return b.Path
	case b.CSV == "seed":
		return bench.Paths()[:1]
	case b.Scenario == bench.Micro || b.Filter > 0:
		return slices.DeleteFunc(bench.Paths(), func(p string) bool { return p == bench.PathRaw })
	}
	return bench.Paths()
}

func (b *benchCommand) stdout() error {
	switch {
	case b.CSV != "" && b.CSV != "-" && b.CSV != "seed":
		return fmt.Errorf("--csv=%s: want - or seed", b.CSV)
	case b.JSON != "" && b.JSON != "-":
		return fmt.Errorf("--json=%s: want -", b.JSON)
	case b.CSV != "" && b.JSON != "":
		return errors.New("--csv and --json both print on stdout: give one")
	case b.CSV != "seed":
		return nil
	case b.Filter > 0:
		return errors.New("--csv=seed prints rows without light peers: leave --filter-peers out")
	case b.Scenario != "all" || b.Runs < 2:
		return errors.New("--csv=seed prints two micro rows and one macro row: it needs scenario all and --runs 2 or more")
	case len(b.Path) > 1:
		return fmt.Errorf("--csv=seed prints the rows of one path, and --path names %d", len(b.Path))
	case slices.Contains(b.Path, bench.PathRaw):
		return errors.New("--csv=seed prints micro rows, and path raw has none")
	}
	return nil
}

// Run runs the benchmark, writes the files, prints, and judges.
func (b *benchCommand) Run(ctx context.Context, out *output) error {
	o, err := b.options(out)
	if err != nil {
		return err
	}
	if err := b.claim(); err != nil {
		return fmt.Errorf("--out %s: %w", b.Out, err)
	}
	if o.Corpus != nil {
		for _, text := range o.Corpus.Limitations(o.Messages) {
			fmt.Fprintln(out.stderr, "msgpath:", text)
		}
	}
	result, err := b.measure(ctx, o)
	if err != nil {
		return err
	}
	if err := b.write(result, o.Histograms); err != nil {
		return err
	}
	for _, i := range result.Invalid {
		fmt.Fprintf(out.stderr, "msgpath: %s of path %s is invalid: %s\n", i.Scenario, i.Path, i.Reason)
	}
	criteria := verdict.Acceptance(result, checkout(ctx, b.Out, out.stderr))
	out.code = verdict.ExitCode(result, criteria)
	err = b.print(out.stdout, result, criteria)
	if out.code != verdict.ExitOK {
		explain(out.stderr, out.code, criteria)
	}
	if err != nil && out.code == verdict.ExitInvalid { // an invalid run has no rows to print
		fmt.Fprintln(out.stderr, "msgpath:", err)
		return nil
	}
	return err
}

// measure runs the benchmark and takes the profiles that were asked for. They are
// written also where it is interrupted.
func (b *benchCommand) measure(ctx context.Context, o bench.Options) (verdict.Result, error) {
	taking, err := b.start()
	if err != nil {
		return verdict.Result{}, err
	}
	limitations := taking.taken()
	result, err := bench.Run(ctx, o)
	if err := errors.Join(err, taking.stop()); err != nil {
		return verdict.Result{}, err
	}
	result.Limitations = append(result.Limitations, limitations...)
	return result, nil
}

// claim sees that the files of the output folder can be written.
func (b *benchCommand) claim() error {
	if err := claimFolder(b.Out, b.files()...); err != nil {
		return err
	}
	return claimHistograms(filepath.Join(b.Out, latencyFolder))
}

// files returns the names of what is written in the output folder, without
// histograms.
func (b *benchCommand) files() (names []string) {
	for _, f := range resultFiles {
		names = append(names, f.name)
	}
	return names
}

// owner says what else a run does with a path, which no profile may have then: ""
// for nothing.
func (b *benchCommand) owner(path string) string {
	out, err := filepath.Abs(b.Out)
	if err != nil {
		return err.Error()
	}
	latency := filepath.Join(out, latencyFolder)
	switch dir, name := filepath.Split(path); {
	case filepath.Clean(dir) == out && slices.Contains(b.files(), name):
		return "the results are written to that file"
	case path == latency, filepath.Clean(dir) == latency && filepath.Ext(name) == bench.HistogramSuffix:
		return "the latencies of an open loop have that name"
	}
	return ""
}

// explain says on stderr why the exit code is not 0.
func explain(w io.Writer, code int, criteria []verdict.Criterion) {
	for _, c := range criteria {
		if c.Number == verdict.CriterionCounts {
			fmt.Fprintf(w, "msgpath: exit code %d: counts %s: %s\n", code, c.Verdict, c.Evidence)
		}
	}
}

// resultFiles are those of the output folder.
var resultFiles = []struct {
	name  string
	write func(io.Writer, verdict.Result) error
}{
	{"bench.csv", verdict.WriteCSV},
	{"sites.csv", verdict.WriteSites},
	{"bench.txt", verdict.WriteBench},
	{"bench.json", verdict.WriteJSON},
}

// write writes the files of the output folder, each whole or not at all.
func (b *benchCommand) write(result verdict.Result, histograms *bench.Histograms) error {
	for _, f := range resultFiles {
		var text bytes.Buffer
		if err := f.write(&text, result); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(b.Out, f.name), text.Bytes()); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return writeHistograms(filepath.Join(b.Out, latencyFolder), histograms)
}

func (b *benchCommand) print(w io.Writer, result verdict.Result, criteria []verdict.Criterion) error {
	switch {
	case b.CSV == "-":
		return verdict.WriteCSV(w, result)
	case b.CSV == "seed":
		return verdict.WriteSeedCSV(w, result, result.Settings.Paths[0])
	case b.JSON == "-":
		return verdict.WriteJSON(w, result)
	case b.Counts:
		return verdict.WriteCounts(w, result)
	}
	if err := verdict.WriteText(w, result); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := verdict.WriteAcceptance(w, criteria); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\n"+b.where(result))
	return err
}

// where says where everything was written.
func (b *benchCommand) where(result verdict.Result) string {
	where := fmt.Sprintf("Results are in %s: bench.csv, sites.csv, bench.txt (benchstat -col /path), bench.json", b.Out)
	if slices.ContainsFunc(result.Runs, func(r verdict.Run) bool { return r.OpenLoop != nil }) {
		where += ", " + latencyFolder + "/*" + bench.HistogramSuffix
	}
	if profiles := b.names(); len(profiles) > 0 {
		where += "; profiles in " + strings.Join(profiles, ", ")
	}
	return where
}

// checkout returns what the checkout in the working directory knows beside a
// result: the baseline document, whether git has it as it is, and what make
// check last found.
func checkout(ctx context.Context, folder string, warn io.Writer) (c verdict.Context) {
	if doc, err := os.ReadFile(baselineFile); err == nil {
		c.BaselineDoc = doc
		c.BaselineCommitted = exec.CommandContext(ctx, "git", "ls-files", "--error-unmatch", baselineFile).Run() == nil &&
			exec.CommandContext(ctx, "git", "diff", "--quiet", "HEAD", "--", baselineFile).Run() == nil
	}
	if f, err := os.Open(filepath.Join(folder, checkFile)); err == nil {
		defer f.Close()
		check, err := verdict.ReadCheck(f)
		if err != nil {
			fmt.Fprintf(warn, "msgpath: %s is not used: %v\n", f.Name(), err)
			return c
		}
		c.Check = &check
	}
	return c
}
