// Command peers runs a relay written by hand beside the project's own node and
// bare gossipsub, interleaved, and writes what was measured.
//
// Exit codes: 0 ok, 1 the result could not be written, 2 wrong usage, 3 a run was
// invalid, 130 interrupted.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/bench/peers"
	"github.com/msgpath/msgpath/verdict"
)

const (
	exitFailed      = 1
	exitUsage       = 2
	exitInvalid     = 3
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are the command line.
type options struct {
	messages, runs int
	out, dir       string
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.messages, "messages", bench.DefaultMessages, "measured messages a run")
	flags.IntVar(&o.runs, "runs", 10, "runs of each arm, interleaved")
	flags.StringVar(&o.out, "out", "out/peers.json", "file for all runs")
	flags.StringVar(&o.dir, "dir", "", "folder for the database files; default: a new one below the system's for temporary files")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintln(stderr, "peers:", err)
	}
	return o, err
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	var result verdict.Result
	if err = os.MkdirAll(filepath.Dir(o.out), 0o755); err == nil {
		result, err = measure(ctx, o, args, stderr)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "peers: interrupted; no result was written")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(stderr, "peers:", err)
		return exitUsage
	}
	if err := write(o.out, stdout, result); err != nil {
		fmt.Fprintln(stderr, "peers:", err)
		return exitFailed
	}
	for _, i := range result.Invalid {
		fmt.Fprintf(stderr, "peers: %s of %s is invalid: %s\n", i.Scenario, i.Path, i.Reason)
	}
	if len(result.Invalid) > 0 {
		return exitInvalid
	}
	return 0
}

func measure(ctx context.Context, o options, args []string, stderr io.Writer) (result verdict.Result, err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "peers-"); err != nil {
			return result, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	b := bench.DefaultOptions()
	b.Messages, b.Runs = o.messages, o.runs
	b.CommandLine = append([]string{"peers"}, args...)
	b.LogTo, b.Progress = stderr, stderr
	if o.messages > 0 && ctx.Err() == nil {
		if err := peers.ReserveMemory(b); err != nil {
			fmt.Fprintln(stderr, "peers: in memory the hand-written relay pays for the first touch of pages:", err)
		}
	}
	return bench.RunArms(ctx, b, peers.Arms(o.dir))
}

func write(out string, stdout io.Writer, result verdict.Result) error {
	var text bytes.Buffer
	if err := verdict.WriteJSON(&text, result); err != nil {
		return err
	}
	if err := os.WriteFile(out, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return peers.WriteTable(stdout, result)
}
