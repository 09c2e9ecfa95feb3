package counterstest

import (
	"testing"

	"github.com/msgpath/msgpath/counters"
)

// PerOp starts the measured part of a benchmark: it resets the timer and returns
// a function that ends it and reports what set counted in between, divided by the
// number of iterations: "decodes/op", "hashes/op", "id-hashes/op", "encodes/op",
// "copies/op", and for events that happened "decoded-B/op" and so on.
//
// It serves both kinds of loop, over b.Loop and up to b.N. What was counted
// before, in set-up or in a shorter trial run with a smaller b.N, is not mixed
// in, so that the figures are the same at any -benchtime. Work that goes on in
// other goroutines must have ended when the function is called.
//
// A build that does not count reports no such metric.
func PerOp(b *testing.B, set counters.Set) (report func()) {
	before := counters.Load(set)
	b.ResetTimer()
	return func() {
		b.StopTimer()
		if !counters.Enabled {
			return
		}
		delta := counters.Total(counters.Since(before, counters.Load(set)))
		for _, e := range events {
			n, bytes := e.of(delta)
			b.ReportMetric(float64(n)/float64(b.N), e.name+"/op")
			if n > 0 {
				b.ReportMetric(float64(bytes)/float64(b.N), e.bytes+"/op")
			}
		}
	}
}
