package verdict

import "math"

// Published is what the Nim system's own benchmark reported of one scenario:
// 1,000 messages of the profile [PublishedProfile], by an Apple M4.
type Published struct {
	Scenario  string // Micro, Macro
	Decodes   float64
	Hashes    float64
	HashedMB  float64
	DecodedMB float64
}

// PublishedProfile and PublishedMessages are the workload of the published
// figures: byte counts can be compared with another run of the same only.
const (
	PublishedProfile  = "10/50/150kB@25/50/25"
	PublishedMessages = 1000
)

// Figures of logos-messaging/logos-delivery, branch
// experimental/chore-nocopy-e2e-perf-harness, July 2026 (harness commit
// cf8502eb4975ae6bc8a5667a5d179cd154e8e1d1): before its refactor, and after it
// hands one envelope through each dispatch.
var (
	PublishedBefore = []Published{
		{Micro, 2, 2, 130.00, 130.11},
		{Macro, 6, 5, 325.00, 390.33},
	}
	PublishedAfter = []Published{
		{Micro, 2, 1, 65.00, 130.11},
		{Macro, 3, 3, 195.00, 195.16},
	}
)

// OverheadBytes returns how many bytes an encoded message is longer than its
// payload. The published megabytes have two decimals, which leaves an
// uncertainty of a few bytes.
func (p Published) OverheadBytes() float64 {
	return (p.DecodedMB/p.Decodes - p.HashedMB/p.Hashes) * megabyte / PublishedMessages
}

// overhead returns the exact mean of bytes by which an encoded message of a run
// is longer than its payload and meta, and false where nothing was decoded.
func overhead(r Result, run Run) (float64, bool) {
	sum, ok := countsOf(run.Nodes)
	if !ok || sum.Decodes == 0 {
		return math.NaN(), false
	}
	encoded := float64(sum.DecodedBytes) / float64(sum.Decodes)
	return encoded - float64(r.Settings.PayloadBytes)/float64(run.Messages), true
}
