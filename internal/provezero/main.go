package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// Exit statuses.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitInvalid = 3
	exitNothing = 4
)

var (
	errUsage   = errors.New("wrong usage")
	errInvalid = errors.New("invalid run")
	errNothing = errors.New("nothing was examined")
	errFailed  = errors.New("not proved")
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var err error
	if len(args) > 0 && args[0] == "overhead" {
		err = runOverhead(ctx, args[1:], stdout, stderr)
	} else {
		err = runProof(ctx, args, stdout, stderr)
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	fmt.Fprintln(stderr, err)
	return exitStatus(err)
}

func exitStatus(err error) int {
	switch {
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errInvalid):
		return exitInvalid
	case errors.Is(err, errNothing):
		return exitNothing
	}
	return exitFailed
}

// parse parses args; what is left over is wrong usage.
func parse(flags *flag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err != nil {
		return fmt.Errorf("provezero: %w: %w", errUsage, err)
	}
	return nil
}

func runProof(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var p proof
	var pkgs, arch, summary string
	flags := flag.NewFlagSet("provezero", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&p.node, "node", "./cmd/relaynode", "main package of the node")
	flags.StringVar(&pkgs, "packages", "", "with -code, packages to compare instead of all that the node links and that counting can reach")
	flags.StringVar(&p.sites, "sites", "internal/lint/sites.txt", "committed list of sites")
	flags.StringVar(&arch, "arch", "amd64,arm64", "architectures for which machine code is compared")
	flags.BoolVar(&p.codeOnly, "code", false, "only compare machine code, without controls: for work on the source, no proof")
	flags.StringVar(&p.tool.dir, "C", ".", "directory of the module")
	flags.StringVar(&summary, "summary", "", "file for one line that says what was looked at")
	flags.StringVar(&p.ldflags, "ldflags", "", "flags for the linker, when the node is built")
	if err := parse(flags, args); err != nil {
		return err
	}
	p.arches = strings.Split(arch, ",")
	if pkgs != "" {
		p.packages = strings.Split(pkgs, ",")
	}
	if err := p.check(summary); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "provezero")
	if err != nil {
		return fmt.Errorf("provezero: make directory: %w", err)
	}
	defer os.RemoveAll(tmp)
	p.tool.tmp = tmp
	rows, err := p.prove(ctx)
	printRows(stdout, rows)
	if summary != "" && len(rows) > 0 {
		err = errors.Join(err, os.WriteFile(summary, []byte(summarizeRows(rows)+"\n"), 0o644))
	}
	return err
}

// check refuses flags that would let a part pass for the proof.
func (p *proof) check(summary string) error {
	if len(p.packages) > 0 && !p.codeOnly {
		return fmt.Errorf("provezero: %w: -packages needs -code: a choice of packages proves nothing", errUsage)
	}
	if summary != "" && p.codeOnly {
		return fmt.Errorf("provezero: %w: -summary with -code: code alone is no proof", errUsage)
	}
	return nil
}
