package verdict

import (
	"fmt"
	"slices"

	"github.com/msgpath/msgpath/counters"
)

// relayed is what the macro runs of the baseline path came to per message: the
// figures that the published criterion speaks of.
type relayed struct {
	runs                             int
	filter                           float64 // hashes of the receiver's filter, of which the criterion does not speak
	counted                          bool
	decodes, hashes, receiverDecodes spread
}

func relayedBaseline(r Result) (b relayed) {
	runs := slices.DeleteFunc(slices.Clone(r.Runs), func(run Run) bool {
		return Series(run.Scenario) != WithFilter(Macro, r.Settings.FilterPeers) || run.Path != "baseline"
	})
	b.runs = len(runs)
	if r.Settings.FilterPeers > 0 {
		b.filter = float64(len(filterSites))
	}
	var ok [3]bool
	b.decodes, ok[0] = spreadOf(runs, each(func(c counters.Counts) uint64 { return c.Decodes }))
	b.hashes, ok[1] = spreadOf(runs, each(func(c counters.Counts) uint64 { return c.Hashes }))
	receiver := func(n Node) bool { return n.Role == RoleReceiver }
	b.receiverDecodes, ok[2] = spreadOf(runs, eachOf(receiver, func(c counters.Counts) uint64 { return c.Decodes }))
	b.counted = ok[0] && ok[1] && ok[2]
	return b
}

// holds reports whether a relayed message is decoded at least 4 times and
// hashed 4 to 6 times, besides by the filter, and decoded exactly 4 times by its
// receiver.
func (b relayed) holds() bool {
	return b.counted && b.decodes.min >= 4 && b.hashes.min-b.filter >= 4 && b.hashes.max-b.filter <= 6 &&
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
