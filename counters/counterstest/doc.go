// Package counterstest gates counts in plain Go tests and benchmarks.
//
//	func TestCounts(t *testing.T) {
//		set := counters.New()
//		relay(set, 100) // whatever does the work
//		counterstest.Exact(t, set, map[string]counters.Counts{
//			"relay.validator": {Decodes: 100},
//			"relay.handler":   {Hashes: 100, HashedBytes: 6_400},
//		})
//	}
//
//	func BenchmarkRelay(b *testing.B) {
//		set := counters.New()
//		defer counterstest.PerOp(b, set)()
//		for b.Loop() {
//			relay(set, 1)
//		}
//	}
//
// # A build that does not count
//
// Without the build tag msgpathcounters there are no counts. They are n/a then,
// and n/a is never a pass: [Exact] skips the test and names the tag, and [PerOp]
// reports no metric. Whoever wants the lack to be a failure, as in CI, calls
// [Require].
//
// # What it will not do
//
// It judges no time and no memory, and allows no tolerance: a count that may vary
// is no count to gate. It waits for nothing: the work must have ended before
// [Exact] looks. It starts no goroutine.
package counterstest
