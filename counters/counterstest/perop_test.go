package counterstest_test

import (
	"flag"
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/counters/counterstest"
)

// work is one operation: 3 decodes, 1 copy.
func work(set counters.Set) {
	for range 3 {
		counters.Decode(set, siteA, 10)
	}
	counters.Copy(set, siteB, 7)
}

// Both kinds of loop, each after a set-up that counts and is not to be seen.
var loops = map[string]func(b *testing.B){
	"b.Loop": func(b *testing.B) {
		set := counters.New()
		work(set)
		defer counterstest.PerOp(b, set)()
		for b.Loop() {
			work(set)
		}
	},
	"b.N": func(b *testing.B) {
		work(shared)
		defer counterstest.PerOp(b, shared)()
		for range b.N {
			work(shared)
		}
	},
	"stopped timer": func(b *testing.B) {
		defer counterstest.PerOp(b, shared)()
		for range b.N {
			b.StopTimer()
			b.StartTimer()
			work(shared)
		}
	},
}

// shared is counted in by all trial runs of a benchmark.
var shared = counters.New()

// TestPerOp: the figures are whole numbers and the same however long a benchmark
// runs and however many trial runs it took.
func TestPerOp(t *testing.T) {
	want := map[string]float64{"decodes/op": 3, "decoded-B/op": 30, "hashes/op": 0, "copies/op": 1, "copied-B/op": 7}
	if !counters.Enabled {
		want = nil
	}
	benchtime := flag.Lookup("test.benchtime").Value.String()
	defer flag.Set("test.benchtime", benchtime)
	for name, loop := range loops {
		for _, time := range []string{"1x", "7x", "1000x", "500us"} {
			t.Run(name+" "+time, func(t *testing.T) {
				if err := flag.Set("test.benchtime", time); err != nil {
					t.Fatal(err)
				}
				result := testing.Benchmark(loop)
				if result.N == 0 {
					t.Fatal("the benchmark did not run")
				}
				for unit, value := range want {
					if got, ok := result.Extra[unit]; !ok || got != value {
						t.Errorf("%v %s, %v, in %d operations; want %v", got, unit, ok, result.N, value)
					}
				}
				if !counters.Enabled && len(result.Extra) > 0 {
					t.Errorf("a build that does not count reports %v", result.Extra)
				}
			})
		}
	}
}
