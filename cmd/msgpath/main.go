// Command msgpath runs the message-path benchmark and writes its results.
//
// Exit codes: 0 ok, 1 a count is not what it must be, 2 wrong usage or
// configuration or a file that cannot be read or written, 3 a run was invalid or
// not counted, 4 nothing was examined, 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/verdict"
)

// Exit codes beside those of package verdict.
const (
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// commands is what the command line may say.
type commands struct {
	Bench          benchCommands         `cmd:"" help:"Measure, and write the results."`
	Baseline       baselineCommand       `cmd:"" help:"Write the baseline document of a result to stdout."`
	BenchDiff      benchDiffCommand      `cmd:"" help:"Build two commits, run their benchmarks by turns, and compare."`
	BenchLimits    benchLimitsCommand    `cmd:"" help:"Measure how near the message path comes to what transport, disk and hash allow."`
	BenchScale     benchScaleCommand     `cmd:"" help:"Measure how the cost of a message grows with messages, sizes, peers, topics and the archive."`
	BenchTransport benchTransportCommand `cmd:"" help:"Measure what each option of transport, gossipsub and garbage collector does."`
	ServeAlone     serveAloneCommand     `cmd:"" hidden:""`
	Diff           diffCommand           `cmd:"" help:"Compare what was measured before a change with what was after it."`
	Gate           gateCommand           `cmd:"" help:"Judge a run by budgets, or tighten a budget."`
	Lock           lockCommand           `cmd:"" help:"Write or check the counts that a project keeps in version control."`
	Performance    performanceCommand    `cmd:"" help:"Write the performance document of a session of bench-limits to stdout."`
	ProveZero      proveZeroCommand      `cmd:"" help:"Prove that a production build carries no counters, or measure what counting costs."`
	Report         reportCommand         `cmd:"" help:"Write one HTML page of a result, or of several beside each other."`
	Schema         schemaCommand         `cmd:"" help:"Write the JSON Schema of results to stdout."`
	Vet            vetCommand            `cmd:"" help:"Find decodes, encodes, hashes and copies that no counter tells of."`
}

// output is where a command writes and what it was called with.
type output struct {
	stdout, stderr io.Writer
	args           []string
	code           int
}

// exit is how kong asks to end the process.
type exit int

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case exit: // --help
			code = int(e)
		default:
			panic(e)
		}
	}()
	var c commands
	out := &output{stdout: stdout, stderr: stderr, args: args}
	parser, err := kong.New(&c,
		kong.Name("msgpath"),
		kong.Description("Accounts for the message path of a p2p relay."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(out),
		benchVars(),
		proveZeroVars(),
		benchDiffVars(),
		benchStudyVars(),
		benchScaleVars(),
		benchTransportVars(),
		limitsVars(),
		syncVars(),
		recoverVars(),
	)
	if err != nil {
		fmt.Fprintln(stderr, "msgpath:", err)
		return exitUsage
	}
	command, err := parser.Parse(args)
	if err == nil {
		err = command.Run()
	}
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "msgpath: interrupted; no result was written")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(stderr, "msgpath:", err)
		if _, usage := errors.AsType[*kong.ParseError](err); usage {
			fmt.Fprintln(stderr, "msgpath: see msgpath --help")
		}
		return exitUsage
	}
	return out.code
}

type schemaCommand struct{}

func (schemaCommand) Run(out *output) error {
	_, err := out.stdout.Write(verdict.Schema())
	return err
}
