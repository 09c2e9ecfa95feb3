package verdict

import (
	"fmt"
	"slices"

	"github.com/msgpath/msgpath/counters"
)

// Expectation is what the nodes of one role must count, exactly and in every
// run, for each message.
type Expectation struct {
	Scenario string // Micro, Macro
	Path     string
	Role     string

	Decodes, Hashes, IDHashes uint64 // per message

	NoCopies  bool // no payload copy at any site
	IfCounted bool // a target that may not count: then there is nothing to check
}

// ExpectedCounts are the counts of a relayed message. In micro one node does
// everything and there is no gossip id. In macro the publisher is subscribed to
// its own topic, and the receiver has an archive and a sync set.
//
// The first two paths are what the Nim system counted before and after its
// refactor (logos-messaging/logos-delivery, message-path benchmark).
var ExpectedCounts = []Expectation{
	{Scenario: Micro, Path: "baseline", Role: RoleAll, Decodes: 2, Hashes: 2, IDHashes: 0},
	{Scenario: Micro, Path: "envelope", Role: RoleAll, Decodes: 2, Hashes: 1, IDHashes: 0},
	{Scenario: Micro, Path: "zerocopy", Role: RoleAll, Decodes: 1, Hashes: 1, IDHashes: 0, NoCopies: true},

	{Scenario: Macro, Path: "baseline", Role: RoleAll, Decodes: 6, Hashes: 5, IDHashes: 2},
	{Scenario: Macro, Path: "baseline", Role: RolePublisher, Decodes: 2, Hashes: 2, IDHashes: 1},
	{Scenario: Macro, Path: "baseline", Role: RoleReceiver, Decodes: 4, Hashes: 3, IDHashes: 1},

	{Scenario: Macro, Path: "envelope", Role: RoleAll, Decodes: 3, Hashes: 3, IDHashes: 2},
	{Scenario: Macro, Path: "envelope", Role: RolePublisher, Decodes: 1, Hashes: 2, IDHashes: 1},
	{Scenario: Macro, Path: "envelope", Role: RoleReceiver, Decodes: 2, Hashes: 1, IDHashes: 1},

	{Scenario: Macro, Path: "zerocopy", Role: RoleAll, Decodes: 1, Hashes: 2, IDHashes: 2, NoCopies: true},
	{Scenario: Macro, Path: "zerocopy", Role: RolePublisher, Decodes: 0, Hashes: 1, IDHashes: 1, NoCopies: true},
	{Scenario: Macro, Path: "zerocopy", Role: RoleReceiver, Decodes: 1, Hashes: 1, IDHashes: 1, NoCopies: true},

	{Scenario: Macro, Path: "raw", Role: RoleAll, Decodes: 0, Hashes: 0, IDHashes: 2, IfCounted: true},
}

// expectationsOf returns what is expected of a run; none of a path that is not
// in [ExpectedCounts].
func expectationsOf(run Run) (found []Expectation) {
	for _, e := range ExpectedCounts {
		if e.Scenario == Series(run.Scenario) && e.Path == run.Path {
			found = append(found, e)
		}
	}
	return found
}

// examination is what comparing runs with [ExpectedCounts] came to.
type examination struct {
	compared   int    // runs with every expectation compared
	uncounted  string // the first place that lacks a count it should have
	mismatch   string // the first figure that differs
	mismatches int
}

func examine(r Result) (x examination) {
	for _, run := range r.Runs {
		compared := false
		for _, e := range expectationsOf(run) {
			switch done, counted := x.expectation(r, run, e); {
			case done:
				compared = true
			case !counted && x.uncounted == "":
				x.uncounted = fmt.Sprintf("%s, path %s, role %s", run.Scenario, run.Path, e.Role)
			}
		}
		if compared {
			x.compared++
		}
	}
	return x
}

// expectation compares one role of one run. done is false if there was nothing
// to compare, counted is false if there should have been.
func (x *examination) expectation(r Result, run Run, e Expectation) (done, counted bool) {
	nodes := ofRole(run.Nodes, e.Role)
	where := fmt.Sprintf("%s, path %s, %s", run.Scenario, run.Path, whose(nodes, e.Role))
	if len(nodes) == 0 {
		x.differ("%s: the run has no such node", where)
		return true, true
	}
	sum, ok := countsOf(nodes)
	if !ok || !r.Environment.Counting {
		return false, e.IfCounted && r.Environment.Counting
	}
	x.compare(where, "decodes", sum.Decodes, e.Decodes*uint64(run.Messages))
	x.compare(where, "hashes", sum.Hashes, e.Hashes*uint64(run.Messages))
	x.compare(where, "hashed bytes", sum.HashedBytes, e.Hashes*r.Settings.PayloadBytes)
	x.compare(where, "id hashes", sum.IDHashes, e.IDHashes*uint64(run.Messages))
	if e.NoCopies {
		x.noCopies(where, nodes)
	}
	return true, true
}

func (x *examination) noCopies(where string, nodes []Node) {
	for _, n := range nodes {
		for _, s := range n.Sites {
			x.compare(where+", site "+s.Site, "copies", s.Copies, 0)
			x.compare(where+", site "+s.Site, "copied bytes", s.CopiedBytes, 0)
		}
	}
}

func (x *examination) compare(where, what string, got, want uint64) {
	if got != want {
		x.differ("%s: %s %d, want %d", where, what, got, want)
	}
}

func (x *examination) differ(format string, args ...any) {
	if x.mismatch == "" {
		x.mismatch = fmt.Sprintf(format, args...)
	}
	x.mismatches++
}

func whose(nodes []Node, role string) string {
	if len(nodes) == 1 && role != RoleAll {
		return fmt.Sprintf("node %s (%s)", nodes[0].Name, role)
	}
	return "role " + role
}

// relayed is what the macro runs of the baseline path came to per message: the
// figures that the published criterion speaks of.
type relayed struct {
	runs                             int
	counted                          bool
	decodes, hashes, receiverDecodes spread
}

func relayedBaseline(r Result) (b relayed) {
	runs := slices.DeleteFunc(slices.Clone(r.Runs), func(run Run) bool {
		return Series(run.Scenario) != Macro || run.Path != "baseline"
	})
	b.runs = len(runs)
	var ok [3]bool
	b.decodes, ok[0] = spreadOf(runs, each(func(c counters.Counts) uint64 { return c.Decodes }))
	b.hashes, ok[1] = spreadOf(runs, each(func(c counters.Counts) uint64 { return c.Hashes }))
	receiver := func(n Node) bool { return n.Role == RoleReceiver }
	b.receiverDecodes, ok[2] = spreadOf(runs, eachOf(receiver, func(c counters.Counts) uint64 { return c.Decodes }))
	b.counted = ok[0] && ok[1] && ok[2]
	return b
}

// holds reports whether a relayed message is decoded at least 4 times and
// hashed 4 to 6 times, and decoded exactly 4 times by its receiver.
func (b relayed) holds() bool {
	return b.counted && b.decodes.min >= 4 && b.hashes.min >= 4 && b.hashes.max <= 6 &&
		b.receiverDecodes.min == 4 && b.receiverDecodes.max == 4
}

func (b relayed) String() string {
	return fmt.Sprintf("decodes %s, hashes %s, receiver decodes %s per message",
		b.decodes, b.hashes, b.receiverDecodes)
}

func (s spread) String() string {
	if s.min == s.max {
		return fixed(s.min, 3)
	}
	return fixed(s.min, 3) + " to " + fixed(s.max, 3)
}
