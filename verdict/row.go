package verdict

import (
	"slices"

	"github.com/msgpath/msgpath/counters"
)

// megabyte is 10^6 bytes, as in every MB column.
const megabyte = 1e6

// Row is one line of the CSV: one run as seen by one role. Pointers are nil
// where the CSV says "n/a"; a row read from the 13 columns of [SeedHeader]
// has only those fields.
//
// Wall time, and with it messages per second, is the run's and the same in each
// of its rows. Times per message and latencies are seen by who receives: they
// are nil for [RolePublisher]. What belongs to the process (live heap, GC, CPU,
// allocations) is nil for any role but [RoleAll]. Counts are those of the
// role's nodes, of [RoleAll] the sum over all nodes, and nil if one of these
// nodes was not counted. Published is the publishing node's, so 0 for
// [RoleReceiver]. Delivered of [RoleAll] is the receiving nodes', so that the two
// are equal where nothing was lost; of [RolePublisher] it is what a publisher
// that is subscribed to its own topic delivered to itself.
type Row struct {
	Scenario string
	Messages int
	Profile  string

	WallMillis        *float64
	MessagesPerSecond *float64
	NanosPerP50       *float64
	NanosPerP99       *float64
	Decodes           *float64 // per message, as the next
	Hashes            *float64
	HashedMB          *float64 // per run, as every MB
	DecodedMB         *float64
	LiveDeltaMB       *float64
	GCCollections     *float64

	Path string
	Role string
	Run  int

	CPUNanos   *float64 // per message, as the next
	IDHashes   *float64
	IDHashedMB *float64
	Encodes    *float64 // per message
	CopiedMB   *float64
	AllocMB    *float64
	Allocs     *float64 // per message
	PeakHeapMB *float64
	LatencyP50 *float64 // ns, as the next
	LatencyP99 *float64
	Published  *float64 // messages of the run, as the next
	Delivered  *float64
	Rejected   *float64
	Duplicates *float64
	Dropped    *float64
	Verified   *bool

	// Of a result in an open loop only.
	Rate      *float64 // messages per second that were to be sent
	Missed    *float64 // messages that were sent late
	Latencies RowLatencies
}

// Rows returns the rows of each run in order: "all" and, where the nodes of the
// run have roles of their own, "publisher" and "receiver". An invalid run has
// none.
func Rows(r Result) []Row {
	var rows []Row
	for _, run := range r.Runs {
		for _, role := range roles(run) {
			rows = append(rows, newRow(r, run, role))
		}
	}
	return rows
}

// roles returns the roles that have a row in run.
func roles(run Run) []string {
	present := []string{RoleAll}
	for _, role := range []string{RolePublisher, RoleReceiver} {
		if len(ofRole(run.Nodes, role)) > 0 {
			present = append(present, role)
		}
	}
	return present
}

// ofRole returns the nodes that a row of this role speaks of.
func ofRole(nodes []Node, role string) []Node {
	if role == RoleAll {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.Role != role })
}

func newRow(r Result, run Run, role string) Row {
	verified := run.Verified
	row := Row{
		Scenario: run.Scenario, Messages: run.Messages, Profile: r.Settings.Profile,
		WallMillis:        known(float64(run.WallNanos) / 1e6),
		MessagesPerSecond: known(perSecond(run)),
		Path:              run.Path, Role: role, Run: run.Number,
		Verified: &verified,
	}
	nodes := ofRole(run.Nodes, role)
	row.setOutcome(run, nodes, role)
	if role != RolePublisher {
		row.NanosPerP50, row.NanosPerP99 = known(float64(run.NanosPerP50)), known(float64(run.NanosPerP99))
		row.LatencyP50, row.LatencyP99 = knownInt(run.LatencyP50), knownInt(run.LatencyP99)
		if run.OpenLoop != nil {
			row.setOpenLoop(r, run.OpenLoop)
		}
	}
	if role == RoleAll {
		row.setProcess(run)
	}
	if sum, ok := countsOf(nodes); ok && r.Environment.Counting {
		row.setCounts(sum, float64(run.Messages))
	}
	return row
}

func (row *Row) setOutcome(run Run, nodes []Node, role string) {
	var published, delivered, rejected, duplicates, dropped uint64
	if role != RoleReceiver {
		published = run.Published
	}
	for _, n := range nodes {
		if role != RoleAll || n.Role != RolePublisher { // its deliveries to itself are not the path's end
			delivered += n.Delivered
		}
		rejected += n.Rejected
		duplicates += n.Duplicates
		dropped += n.Dropped
	}
	row.Published, row.Delivered = known(float64(published)), known(float64(delivered))
	row.Rejected, row.Duplicates = known(float64(rejected)), known(float64(duplicates))
	row.Dropped = known(float64(dropped))
}

func (row *Row) setProcess(run Run) {
	msgs := float64(run.Messages)
	row.LiveDeltaMB = known(float64(run.LiveDelta) / megabyte)
	row.GCCollections = known(float64(run.GCCollect))
	row.CPUNanos = known(float64(run.CPUNanos) / msgs)
	row.AllocMB = known(float64(run.AllocBytes) / megabyte)
	row.Allocs = known(float64(run.Allocs) / msgs)
	row.PeakHeapMB = known(float64(run.PeakHeap) / megabyte)
}

func (row *Row) setCounts(sum counters.Counts, msgs float64) {
	row.Decodes = known(float64(sum.Decodes) / msgs)
	row.Hashes = known(float64(sum.Hashes) / msgs)
	row.IDHashes = known(float64(sum.IDHashes) / msgs)
	row.Encodes = known(float64(sum.Encodes) / msgs)
	row.DecodedMB = known(float64(sum.DecodedBytes) / megabyte)
	row.HashedMB = known(float64(sum.HashedBytes) / megabyte)
	row.IDHashedMB = known(float64(sum.IDHashedBytes) / megabyte)
	row.CopiedMB = known(float64(sum.CopiedBytes) / megabyte)
}

// countsOf returns the sum over nodes, and false if any was not counted.
func countsOf(nodes []Node) (sum counters.Counts, ok bool) {
	for _, n := range nodes {
		if n.Sites == nil {
			return counters.Counts{}, false
		}
		sum = sum.Add(counters.Total(n.Sites))
	}
	return sum, len(nodes) > 0
}

func perSecond(run Run) float64 { return float64(run.Messages) / (float64(run.WallNanos) / 1e9) }

func known(v float64) *float64 { return &v }

func knownInt(v *int64) *float64 {
	if v == nil {
		return nil
	}
	return known(float64(*v))
}
