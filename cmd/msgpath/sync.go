package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/bench"
)

type syncCommand struct {
	Sizes []int  `default:"${sync_sizes}" placeholder:"N" help:"Numbers of ids in the stores, comma separated. Default: ${default}."`
	Runs  int    `default:"${sync_runs}" help:"Sessions of each row."`
	Seed  uint64 `default:"${seed}" help:"Seed of ids and differences."`

	studyFlags
}

func syncVars() kong.Vars {
	return kong.Vars{
		"sync_sizes": joinInts(bench.DefaultSyncSizes()),
		"sync_runs":  strconv.Itoa(bench.DefaultSyncRuns),
	}
}

// Help tells what is measured and the exit codes.
func (syncCommand) Help() string {
	return "For each size, stores without a difference, with 1, 100 and 10,000 scattered ones, and one that lacks the newest 10,000 ids, as far as the size has them; the larger ones also with a limit on frames. Writes sync.json and sync.md. " +
		"Exit codes: 0 ok; 2 wrong usage, or a file that cannot be written; 3 a session did not find exactly the differences. Interrupted, it writes nothing."
}

// AfterApply refuses a list of no sizes.
func (c *syncCommand) AfterApply(line *kong.Context) error {
	return refuseEmpty(line, "sizes", c.Sizes)
}

// Run measures, writes the files and prints the tables.
func (c *syncCommand) Run(ctx context.Context, out *output) error {
	o := bench.SyncOptions{
		Sizes: c.Sizes, Runs: c.Runs, Seed: c.Seed,
		CommandLine: append([]string{"msgpath"}, out.args...), Progress: out.stderr,
	}
	if err := c.validate(o); err != nil {
		return err
	}
	if err := c.claim("sync"); err != nil {
		return err
	}
	result, err := bench.Sync(ctx, o)
	if err != nil {
		return out.unusable(err)
	}
	return c.finish(out.stdout, result)
}

func (c *syncCommand) validate(o bench.SyncOptions) error {
	var runs error
	if c.Runs < 1 {
		runs = fmt.Errorf("--runs %d: want at least 1", c.Runs)
	}
	return errors.Join(runs, o.Validate())
}
