package provezero

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Why a proof or a measurement did not succeed. An error that wraps none of
// these is of the go command or the file system.
var (
	ErrFailed  = errors.New("not proved")           // a check failed
	ErrUsage   = errors.New("wrong usage")          // or a package or file that is not there
	ErrInvalid = errors.New("invalid run")          // a benchmark's result cannot be used
	ErrNothing = errors.New("nothing was examined") // there was nothing to check
)

// Exit codes of the command.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitInvalid = 3
	exitNothing = 4
)

// ExitCode returns the exit code for what [Prove] or [Measure] returned: 0
// proved, 1 not proved, 2 wrong usage, 3 invalid run, 4 nothing was examined.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, ErrUsage):
		return exitUsage
	case errors.Is(err, ErrInvalid):
		return exitInvalid
	case errors.Is(err, ErrNothing):
		return exitNothing
	}
	return exitFailed
}

// Options say what is to be proved. Only Node must be set.
type Options struct {
	Dir     string   // of the node's module; "" is the working directory
	Node    string   // main package of the node, as ./cmd/relaynode
	Sites   string   // committed list of sites, absolute or relative to Dir; "" takes the source's word for them
	Arches  []string // for which machine code is compared; none: amd64 and arm64
	LDFlags string   // flags for the linker
	Summary string   // file for one line that says what was looked at, relative to the working directory and not to Dir; "" for none

	CodeOnly bool     // only compare machine code, without controls: no proof
	Packages []string // with CodeOnly, what is compared instead of all that the node links and that depends on counters
}

// Architectures returns those that a proof compares if no others are asked for.
func Architectures() []string { return []string{"amd64", "arm64"} }

// Validate returns everything that is wrong with o, wrapping [ErrUsage]. It
// refuses options that would let a part pass for the proof.
func (o Options) Validate() error {
	var errs []error
	refuse := func(when bool, why string) {
		if when {
			errs = append(errs, fmt.Errorf("provezero: %w: %s", ErrUsage, why))
		}
	}
	refuse(o.Node == "", "no main package is named")
	refuse(len(o.Packages) > 0 && !o.CodeOnly, "a choice of packages proves nothing: it needs --code")
	refuse(o.Summary != "" && o.CodeOnly, "code alone is no proof: no --summary with --code")
	for _, arch := range o.Arches {
		refuse(!slices.Contains(Architectures(), arch), fmt.Sprintf("architecture %q: want amd64 or arm64", arch))
	}
	return errors.Join(errs...)
}

// Prove makes all checks and prints one row for each. What is wrong is under the
// table and in the error, which [ExitCode] tells apart.
func Prove(ctx context.Context, o Options, stdout io.Writer) error {
	if err := o.Validate(); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "provezero")
	if err != nil {
		return fmt.Errorf("provezero: make directory: %w", err)
	}
	defer os.RemoveAll(tmp)
	if len(o.Arches) == 0 {
		o.Arches = Architectures()
	}
	p := proof{Options: o, tool: goTool{dir: o.Dir, tmp: tmp}}
	rows, err := p.prove(ctx)
	printRows(stdout, rows)
	if o.Summary != "" && len(rows) > 0 {
		err = errors.Join(err, os.WriteFile(o.Summary, []byte(summarizeRows(rows)+"\n"), 0o644))
	}
	return err
}
