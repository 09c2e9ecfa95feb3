package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/bench"
)

type archiveCommand struct {
	Archive  []string `default:"${study_archives}" placeholder:"NAME" help:"Archives, comma separated: memory, sqlite::memory:, sqlite:FILE (made in a temporary folder and removed), postgres://USER@HOST/DATABASE (in a schema that is removed). Default: ${default}."`
	Batch    []int    `default:"${study_batches}" help:"Rows a transaction, comma separated."`
	Messages int      `default:"${study_messages}" help:"Messages of 1 kB for each archive and batch; of the workload a twentieth."`
	Rows     []int    `default:"${study_marks}" help:"Rows of 1 kB at which the cost of an insert is measured, comma separated, ascending."`
	Pruned   int      `default:"${study_pruned}" help:"Rows that the retention deletes while messages are stored; 0: leave that out."`
	Runs     int      `default:"${study_runs}" help:"Runs of each rate, interleaved."`
	Seed     uint64   `default:"${seed}" help:"Seed of the workload."`
	Folder   string   `help:"Folder for the databases, removed afterwards. Default: that of temporary files."`

	studyFlags
}

func benchStudyVars() kong.Vars {
	o := bench.DefaultArchiveStudyOptions()
	return kong.Vars{
		"study_archives": strings.Join(o.Backends, ","),
		"study_batches":  joinInts(o.Batches),
		"study_messages": strconv.Itoa(o.Messages),
		"study_marks":    joinInts(o.Marks),
		"study_pruned":   strconv.Itoa(o.Pruned),
		"study_runs":     strconv.Itoa(o.Runs),
		"filter_peers":   joinInts(bench.DefaultFilterPeers()),
	}
}

func joinInts(all []int) string {
	var words []string
	for _, n := range all {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ",")
}

// Run measures, writes the files and prints the tables.
func (c *archiveCommand) Run(ctx context.Context, out *output) error {
	o := bench.ArchiveStudyOptions{
		Backends: c.Archive, Batches: c.Batch, Messages: c.Messages, Marks: c.Rows, Pruned: c.Pruned,
		Runs: c.Runs, Seed: c.Seed, Folder: c.Folder,
		CommandLine: append([]string{"msgpath"}, out.args...), Progress: out.stderr,
	}
	if err := o.Validate(); err != nil {
		return err
	}
	if err := c.claim("archive"); err != nil {
		return err
	}
	s, err := bench.ArchiveStudy(ctx, o)
	if err != nil {
		return err
	}
	return c.finish(out.stdout, s)
}

type filterCommand struct {
	Peers    []int  `default:"${filter_peers}" help:"Numbers of light peers, comma separated."`
	Messages int    `default:"${messages}" help:"Measured messages a run."`
	Runs     int    `default:"${runs}" help:"Runs of each scenario on each path, interleaved."`
	Seed     uint64 `default:"${seed}" help:"Seed of the workload."`

	studyFlags
}

// Run measures, writes the files and prints the table.
func (c *filterCommand) Run(ctx context.Context, out *output) error {
	o := bench.FilterStudyOptions{
		Peers: c.Peers, Messages: c.Messages, Runs: c.Runs, Seed: c.Seed,
		CommandLine: append([]string{"msgpath"}, out.args...), Progress: out.stderr,
	}
	if err := o.Validate(); err != nil {
		return err
	}
	if err := c.claim("filter"); err != nil {
		return err
	}
	s, err := bench.FilterStudy(ctx, o)
	if err != nil {
		return out.unusable(err)
	}
	return c.finish(out.stdout, s)
}
