package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/study"
)

// FilterStudyOptions say which numbers of light peers are measured.
type FilterStudyOptions struct {
	Peers    []int // numbers of light peers; none: DefaultFilterPeers
	Messages int   // measured messages a run; 0: DefaultMessages
	Runs     int   // of each scenario on each path; 0: DefaultRuns
	Seed     uint64

	CommandLine []string  // told in the result
	Progress    io.Writer // as Options.Progress
}

// DefaultFilterPeers returns the numbers of light peers of a FilterStudy.
func DefaultFilterPeers() []int { return []int{0, 1, 5, 20} }

func (o FilterStudyOptions) withDefaults() FilterStudyOptions {
	if len(o.Peers) == 0 {
		o.Peers = DefaultFilterPeers()
	}
	if o.Messages == 0 {
		o.Messages = DefaultMessages
	}
	if o.Runs == 0 {
		o.Runs = DefaultRuns
	}
	if o.Seed == 0 {
		o.Seed = DefaultSeed
	}
	return o
}

// Validate reports everything wrong with o.
func (o FilterStudyOptions) Validate() error {
	o = o.withDefaults()
	var errs []error
	for i, peers := range o.Peers {
		errs = append(errs, o.run(peers).Validate())
		if slices.Contains(o.Peers[:i], peers) {
			errs = append(errs, fmt.Errorf("bench: filter: %d light peers are given twice", peers))
		}
	}
	return errors.Join(errs...)
}

// run returns the options of the runs with so many light peers.
func (o FilterStudyOptions) run(peers int) Options {
	r := DefaultOptions()
	r.Paths = slices.DeleteFunc(Paths(), func(p string) bool { return p == PathRaw })
	r.FilterPeers, r.Messages, r.Runs, r.Seed = peers, o.Messages, o.Runs, o.Seed
	r.CommandLine, r.Progress = o.CommandLine, o.Progress
	return r
}

// FilterStudy measures what light peers cost a node that pushes to them. A run in
// which a light peer did not get each message once, unaltered, ends it with an error
// that wraps verdict.ErrInvalid.
func FilterStudy(ctx context.Context, o FilterStudyOptions) (study.Study, error) {
	if err := o.Validate(); err != nil {
		return study.Study{}, err
	}
	o = o.withDefaults()
	s := study.Study{
		Name: "filter", Title: "What it costs to push to light peers",
		About: []string{
			fmt.Sprintf("A node pushes each of %d messages to light peers that are subscribed over Waku's filter protocol: in micro the one node there is, in macro B, to which A publishes. Counts are per message, of all nodes together, and exact; the last three columns are medians of %d runs.", o.Messages, o.Runs),
			"A row counts only if each light peer was pushed each message exactly once, with every field that its hash covers as it was published.",
		},
		Notes: []string{"Light peers share the process with the nodes: their part of the time, memory and CPU is in these, which is to read, decode and compare each message. On baseline each consumer is handed a message without its hash, and the filter has two: that which finds out who is subscribed, and that which pushes."},
	}
	t := study.Table{Title: "Per message", Columns: []study.Column{
		{Name: "scenario"},
		{Name: "path"},
		{Name: "light peers"},
		{Name: "decodes", Digits: 3},
		{Name: "hashes", Digits: 3},
		{Name: "of the filter", Digits: 3},
		{Name: "encodes", Digits: 3},
		{Name: "copies", Digits: 3},
		{Name: "messages/s"},
		{Name: "CPU, µs"},
		{Name: "allocated, kB", Digits: 1},
	}}
	results := make([]verdict.Result, len(o.Peers))
	for i, peers := range o.Peers {
		var err error
		if results[i], err = Run(ctx, o.run(peers)); err != nil {
			return study.Study{}, err
		}
		if len(results[i].Invalid) > 0 {
			bad := results[i].Invalid[0]
			return study.Study{}, fmt.Errorf("bench: filter: %w: %s, path %s: %s", verdict.ErrInvalid, bad.Scenario, bad.Path, bad.Reason)
		}
	}
	s.Environment = results[0].Environment
	for _, scenario := range []string{Micro, Macro} {
		for _, path := range results[0].Settings.Paths {
			for i, peers := range o.Peers {
				t.Rows = append(t.Rows, filterRow(results[i], scenario, path, peers))
			}
		}
	}
	s.Tables = []study.Table{t}
	return s, nil
}

// filterRow returns the row of a scenario on a path. Counts are those of its first
// run, times of all.
func filterRow(r verdict.Result, scenario, path string, peers int) study.Row {
	var counted *verdict.Run
	var rate, cpu, bytes []float64
	for i, run := range r.Runs {
		if plain, _ := verdict.CutFilter(verdict.Series(run.Scenario)); run.Path != path || plain != scenario {
			continue
		}
		if counted == nil {
			counted = &r.Runs[i]
		}
		n := float64(run.Messages)
		rate = append(rate, n/float64(run.WallNanos)*1e9)
		cpu = append(cpu, float64(run.CPUNanos)/n/1e3)
		bytes = append(bytes, float64(run.AllocBytes)/n/1e3)
	}
	row := study.Row{scenario, path, peers}
	row = append(row, filterCounts(*counted)...)
	return append(row, int(verdict.Median(rate)), int(verdict.Median(cpu)), verdict.Median(bytes))
}

// filterCounts returns decodes, hashes, those of the filter, encodes and copies per
// message; nil in a build that does not count.
func filterCounts(run verdict.Run) study.Row {
	if !counters.Enabled {
		return study.Row{nil, nil, nil, nil, nil}
	}
	var sum counters.Counts
	var ofFilter uint64
	for _, n := range run.Nodes {
		total := counters.Total(n.Sites)
		sum.Decodes += total.Decodes
		sum.Hashes += total.Hashes
		sum.Encodes += total.Encodes
		sum.Copies += total.Copies
		for _, s := range n.Sites {
			if s.Site == "filter.filter" || s.Site == "filter.filter_push" {
				ofFilter += s.Hashes
			}
		}
	}
	each := func(n uint64) float64 { return float64(n) / float64(run.Messages) }
	return study.Row{each(sum.Decodes), each(sum.Hashes), each(ofFilter), each(sum.Encodes), each(sum.Copies)}
}
