package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/message"
)

type recoverCommand struct {
	Messages int    `default:"${messages}" help:"Messages that pass while a node is away, or too slow."`
	Profile  string `default:"${profile}" help:"Payload sizes and their mix in percent."`
	Runs     int    `default:"${recover_runs}" help:"Runs of each scenario."`
	Seed     uint64 `default:"${seed}" help:"Seed of the workload."`
	Path     string `default:"zerocopy" help:"How far a decoded message is shared: baseline, envelope or zerocopy."`
	Hash     string `default:"blake3" enum:"blake3,waku-sha256" help:"Message hash: blake3 or waku-sha256."`

	studyFlags
}

func recoverVars() kong.Vars {
	return kong.Vars{"recover_runs": strconv.Itoa(bench.DefaultRecoverRuns)}
}

// Help tells what is measured and the exit codes.
func (recoverCommand) Help() string {
	return "Of three nodes one is cut off while messages pass, or so slow that gossipsub drops them; then it syncs. Writes recover.json, recover.md and, with what each site counted, recover-sites.csv. " +
		"Exit codes: 0 ok; 1 a node failed; 2 wrong usage, or a file that cannot be written; 3 in the end a node lacked a message, or held an altered one. Interrupted, it writes nothing."
}

func (c *recoverCommand) options(out *output) (bench.RecoverOptions, error) {
	o := bench.RecoverOptions{
		Messages: c.Messages, Runs: c.Runs, Seed: c.Seed, Path: c.Path,
		CommandLine: append([]string{"msgpath"}, out.args...), Progress: out.stderr,
	}
	var errs [3]error
	o.Profile, errs[0] = bench.ParseProfile(c.Profile)
	o.Hash, errs[1] = message.ParseAlgorithm(c.Hash)
	if c.Messages < 1 || c.Runs < 1 {
		errs[2] = fmt.Errorf("--messages %d and --runs %d: want at least 1 of each", c.Messages, c.Runs)
	}
	return o, errors.Join(append(errs[:], o.Validate())...)
}

// Run measures, writes the files and prints the tables.
func (c *recoverCommand) Run(ctx context.Context, out *output) error {
	o, err := c.options(out)
	if err != nil {
		return err
	}
	if err := c.claim("recover"); err != nil {
		return err
	}
	result, err := bench.Recover(ctx, o)
	if err != nil {
		return out.unusable(err)
	}
	for _, counted := range result.Tables[1:] { // none in a build that does not count
		var sites bytes.Buffer
		if err := counted.WriteCSV(&sites); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(c.Out, recoverSites), sites.Bytes()); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return c.finish(out.stdout, result)
}

// recoverSites is the file of what each site counted.
const recoverSites = "recover-sites.csv"
