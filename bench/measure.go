package bench

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"syscall"
	"time"

	"github.com/msgpath/msgpath/verdict"
)

// heapMetric counts live objects and dead ones not yet swept.
const heapMetric = "/memory/classes/heap/objects:bytes"

// A Meter measures what the process spends between Start and Stop. All work of
// the process counts, whoever does it, so one Meter runs at a time. Everything
// that stops the world is done outside the measured time, and the Meter itself
// allocates nothing within it as long as there are no more samples than it was
// made for.
//
// Start, Sample and Stop may be called from different goroutines but not at the
// same time.
type Meter struct {
	began   time.Time
	cpu     int64            // ns, of the process, at Start
	before  heapTotals       // after the collection at Start
	stats   runtime.MemStats // kept so that reading allocates nothing
	probe   []metrics.Sample
	samples []verdict.Heap
}

// heapTotals are since the start of the process but for live.
type heapTotals struct {
	allocBytes, allocs, live uint64
	collections              uint32
}

// NewMeter returns a Meter with room for the given number of samples.
func NewMeter(samples int) *Meter {
	m := &Meter{
		probe:   []metrics.Sample{{Name: heapMetric}},
		samples: make([]verdict.Heap, 0, max(samples, 0)+1), // one at Start
	}
	metrics.Read(m.probe) // the first reading sets up the runtime's own tables
	return m
}

// Start collects garbage, reads the totals and begins the measured time. A
// Meter may be started again after Stop.
func (m *Meter) Start() {
	m.samples = m.samples[:0]
	collect()
	m.before = m.totals()
	m.Sample(0)
	m.cpu = processCPU()
	m.began = time.Now()
}

// Sample records the heap with the number of messages delivered so far. It
// takes a few microseconds and does not stop the world.
func (m *Meter) Sample(delivered int) {
	metrics.Read(m.probe)
	m.samples = append(m.samples, verdict.Heap{Messages: delivered, Bytes: m.probe[0].Value.Uint64()})
}

// collect frees what nothing holds. A sync.Pool gives up what it holds at the
// second collection only.
func collect() {
	runtime.GC()
	runtime.GC()
}

// Stop ends the measured time and fills in WallNanos, CPUNanos, GCCollect,
// AllocBytes, Allocs, LiveDelta, PeakHeap and Heap of run. The live heap is read
// after two more collections, which count nowhere. Without a Start it changes
// nothing.
func (m *Meter) Stop(run *verdict.Run) {
	if m.began.IsZero() {
		return
	}
	wall := time.Since(m.began)
	run.CPUNanos = processCPU() - m.cpu
	run.WallNanos = wall.Nanoseconds()
	after := m.totals()
	run.GCCollect = after.collections - m.before.collections
	run.AllocBytes = after.allocBytes - m.before.allocBytes
	run.Allocs = after.allocs - m.before.allocs
	collect()
	run.LiveDelta = int64(m.totals().live) - int64(m.before.live)
	run.Heap = append([]verdict.Heap(nil), m.samples...)
	run.PeakHeap = 0
	for _, h := range run.Heap {
		run.PeakHeap = max(run.PeakHeap, h.Bytes)
	}
	m.began = time.Time{}
}

// totals stops the world.
func (m *Meter) totals() heapTotals {
	runtime.ReadMemStats(&m.stats)
	return heapTotals{
		allocBytes:  m.stats.TotalAlloc,
		allocs:      m.stats.Mallocs,
		live:        m.stats.HeapAlloc,
		collections: m.stats.NumGC,
	}
}

// processCPU returns the user and system time of the process so far, in ns. The
// kernel keeps it in microseconds.
func processCPU() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		// The call has no cause to fail but a wrong argument.
		panic(fmt.Sprintf("bench: read process times: %v", err))
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
