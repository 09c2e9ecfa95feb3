package bench

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/verdict"
)

var sink [][]byte // what a test allocates, so that it is on the heap

// TestMeterAllocations allocates a known amount, of which a known part stays.
func TestMeterAllocations(t *testing.T) {
	const n, size, kept = 2000, 4096, 500
	defer func() { sink = nil }()
	sink = make([][]byte, 0, n)
	m, run := NewMeter(2), verdict.Run{}
	m.Start()
	for range n {
		sink = append(sink, make([]byte, size))
	}
	m.Sample(n)
	clear(sink[kept:])
	sink = sink[:kept]
	m.Stop(&run)
	// The runtime and the test's other goroutines allocate a little as well.
	if run.Allocs < n || run.Allocs > n+n/10 {
		t.Errorf("%d allocations, want %d", run.Allocs, n)
	}
	if run.AllocBytes < n*size || run.AllocBytes > n*size*11/10 {
		t.Errorf("%d bytes allocated, want %d", run.AllocBytes, n*size)
	}
	if run.LiveDelta < kept*size*9/10 || run.LiveDelta > kept*size*11/10 {
		t.Errorf("live heap grew by %d bytes, want %d", run.LiveDelta, kept*size)
	}
}

func TestMeterCountsCollectionsWithin(t *testing.T) {
	m, run := NewMeter(0), verdict.Run{}
	m.Start()
	m.Stop(&run)
	without := run.GCCollect
	m.Start()
	for range 3 {
		runtime.GC()
	}
	m.Stop(&run)
	// The collections of Start and Stop themselves count nowhere.
	if without != 0 || run.GCCollect != 3 {
		t.Errorf("%d and %d collections, want 0 and 3", without, run.GCCollect)
	}
}

func TestMeterHeapSeries(t *testing.T) {
	const size = 32 << 20
	defer func() { sink = nil }()
	m, run := NewMeter(3), verdict.Run{}
	m.Start()
	sink = [][]byte{make([]byte, size)}
	m.Sample(50)
	sink = nil
	runtime.GC()
	m.Sample(100)
	m.Stop(&run)
	var delivered []int
	for _, h := range run.Heap {
		delivered = append(delivered, h.Messages)
	}
	if !slices.Equal(delivered, []int{0, 50, 100}) {
		t.Fatalf("samples at %v messages, want 0, 50, 100", delivered)
	}
	start, full, end := run.Heap[0].Bytes, run.Heap[1].Bytes, run.Heap[2].Bytes
	if full < start+size*9/10 || end > full-size*9/10 { // other garbage may go meanwhile
		t.Errorf("heap went %d, %d, %d bytes over an allocation of %d", start, full, end, size)
	}
	if run.PeakHeap != full {
		t.Errorf("peak heap %d, want %d", run.PeakHeap, full)
	}
}

// TestMeterTimes works without a pause, so that CPU time is at least a part of
// the wall time and, on n processors, at most n times as much.
func TestMeterTimes(t *testing.T) {
	m, run := NewMeter(0), verdict.Run{}
	before := time.Now()
	m.Start()
	work := time.Now()
	for sum := uint64(1); time.Since(work) < 50*time.Millisecond; {
		for range 1000 {
			sum ^= rand.Uint64()
		}
		runtime.KeepAlive(sum)
	}
	m.Stop(&run)
	outer := time.Since(before)
	if run.WallNanos < 50e6 || run.WallNanos > outer.Nanoseconds() {
		t.Errorf("wall time %d ns, want 50 ms to %v", run.WallNanos, outer)
	}
	if run.CPUNanos < 1e6 || run.CPUNanos > (outer.Nanoseconds()+20e6)*int64(runtime.NumCPU()) {
		t.Errorf("CPU time %d ns in %d ns", run.CPUNanos, run.WallNanos)
	}
}

// TestMeterSampleAllocatesNothing guards what is measured against the measuring.
func TestMeterSampleAllocatesNothing(t *testing.T) {
	const samples = 20
	m := NewMeter(samples + 1)
	m.Start()
	if n := testing.AllocsPerRun(samples, func() { m.Sample(1) }); n != 0 {
		t.Errorf("a sample makes %v allocations", n)
	}
	m.Stop(new(verdict.Run))
}

func TestMeterStartsAfresh(t *testing.T) {
	m, first, second := NewMeter(1), verdict.Run{}, verdict.Run{}
	m.Start()
	m.Sample(50)
	m.Stop(&first)
	m.Start()
	m.Stop(&second)
	if len(first.Heap) != 2 || len(second.Heap) != 1 || first.Heap[1].Messages != 50 {
		t.Errorf("samples %v, then %v: want two, then one", first.Heap, second.Heap)
	}
	untouched := verdict.Run{WallNanos: 1, PeakHeap: 2}
	m.Stop(&untouched)
	if untouched.WallNanos != 1 || untouched.PeakHeap != 2 || untouched.Heap != nil {
		t.Errorf("a second Stop changed the run: %+v", untouched)
	}
}

func BenchmarkMeterSample(b *testing.B) {
	m := NewMeter(0)
	b.ReportAllocs()
	for b.Loop() {
		m.samples = m.samples[:0]
		m.Sample(1)
	}
}

func TestLatenciesAreExactBelow2048(t *testing.T) {
	l := NewLatencies()
	for ns := 1; ns <= 2000; ns++ {
		l.Record(time.Duration(ns))
	}
	if l.Count() != 2000 || l.P50() != 1000 || l.P99() != 1980 {
		t.Errorf("of 1…2000: count %d, p50 %d, p99 %d", l.Count(), l.P50(), l.P99())
	}
}

// TestLatenciesResolution compares with the sorted values: a quantile is the
// value of that rank, or at most 0.1 % more.
func TestLatenciesResolution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, maxLatency.Nanoseconds()), 1, 300).Draw(t, "ns")
		l := NewLatencies()
		for _, ns := range values {
			l.Record(time.Duration(ns))
		}
		slices.Sort(values)
		for percent, got := range map[int]int64{50: l.P50(), 99: l.P99()} {
			exact := values[max((len(values)*percent+99)/100, 1)-1]
			if got < exact || got > exact+exact/1000+1 {
				t.Fatalf("p%d of %d values is %d, want %d", percent, len(values), got, exact)
			}
		}
		if l.Clipped() != 0 {
			t.Fatalf("%d clipped", l.Clipped())
		}
	})
}

func TestLatenciesClip(t *testing.T) {
	l := NewLatencies()
	if l.P50() != 0 || l.P99() != 0 || l.Count() != 0 {
		t.Errorf("empty: p50 %d, p99 %d, count %d", l.P50(), l.P99(), l.Count())
	}
	l.Record(-time.Second)
	l.Record(0)
	l.Record(maxLatency)
	if l.Clipped() != 1 {
		t.Errorf("%d clipped, want the negative one", l.Clipped())
	}
	l.Record(maxLatency + 1)
	if l.Clipped() != 2 || l.Count() != 4 {
		t.Errorf("%d of %d clipped, want 2 of 4", l.Clipped(), l.Count())
	}
	if p99, hour := l.P99(), maxLatency.Nanoseconds(); p99 < hour || p99 > hour+hour/1000 {
		t.Errorf("p99 %d, want an hour", p99)
	}
	l.Reset()
	if l.Count() != 0 || l.Clipped() != 0 || l.P99() != 0 {
		t.Errorf("after Reset: count %d, clipped %d, p99 %d", l.Count(), l.Clipped(), l.P99())
	}
}
