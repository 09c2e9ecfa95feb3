package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/internal/provezero"
)

type proveZeroCommand struct {
	Proof    proofCommand    `cmd:"" default:"withargs" help:"Prove that the production build of a node carries no counters."`
	Overhead overheadCommand `cmd:"" help:"Measure what counting costs in CPU time, on this project's benchmark."`
}

type proofCommand struct {
	Node     string   `arg:"" optional:"" default:"./cmd/relaynode" help:"Main package of the node."`
	Dir      string   `short:"C" default:"." type:"existingdir" help:"Folder of the node's module."`
	Sites    string   `placeholder:"FILE" help:"Committed list of sites, one a line; none: what the source declares."`
	Arch     []string `default:"${architectures}" help:"Architectures for which machine code is compared."`
	Code     bool     `help:"Only compare machine code, without controls: for work on the source, no proof."`
	Packages []string `placeholder:"PKG" help:"With --code, compare these instead of all that the node links and counting can reach."`
	Summary  string   `placeholder:"FILE" help:"File for one line that says what was looked at."`
	LDFlags  string   `name:"ldflags" placeholder:"FLAGS" help:"Flags for the linker."`
}

type overheadCommand struct {
	Dir     string `short:"C" default:"." type:"existingdir" help:"Folder of the module."`
	Command string `default:"./cmd/msgpath" help:"Main package of the benchmark."`
	Pairs   int    `default:"${pairs}" help:"Pairs of runs."`
}

func proveZeroVars() kong.Vars {
	return kong.Vars{
		"architectures": strings.Join(provezero.Architectures(), ","),
		"pairs":         strconv.Itoa(provezero.MinPairs),
	}
}

// Run prints a row for each check.
func (p *proofCommand) Run(ctx context.Context, out *output) error {
	err := provezero.Prove(ctx, provezero.Options{
		Dir: p.Dir, Node: p.Node, Sites: p.Sites, Arches: p.Arch, LDFlags: p.LDFlags,
		Summary: p.Summary, CodeOnly: p.Code, Packages: p.Packages,
	}, out.stdout)
	return out.proved(err)
}

// Run prints the ratio of the builds' CPU times.
func (o *overheadCommand) Run(ctx context.Context, out *output) error {
	measured := provezero.Overhead{Dir: o.Dir, Command: o.Command, Pairs: o.Pairs}
	return out.proved(provezero.Measure(ctx, measured, out.stdout, out.stderr))
}

// proved sets the exit code for an error of package provezero, and returns
// those that end every command alike.
func (out *output) proved(err error) error {
	if err == nil || errors.Is(err, provezero.ErrUsage) || errors.Is(err, context.Canceled) {
		return err
	}
	fmt.Fprintln(out.stderr, "msgpath:", err)
	out.code = provezero.ExitCode(err)
	return nil
}
