package segments

import (
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkAppend appends 640 KiB to a segment that grows, from the memory that a Dir
// writes from on this system and from Go's own, and does so beside goroutines that
// compute. Run it with -cpu=4 -count=5 or so, so that the appends have a thread, on a
// quiet machine with 2 cores.
func BenchmarkAppend(b *testing.B) {
	ours := newBlocks
	defer func() { newBlocks = ours }()
	for _, memory := range []struct {
		name string
		new  func() ([]byte, func() error)
	}{{"huge page", ours}, {"small pages", heapBlocks}} {
		for _, busy := range []struct {
			name       string
			goroutines int
		}{{"idle", 0}, {"busy", 2}} {
			b.Run(memory.name+"/"+busy.name, func(b *testing.B) {
				newBlocks = memory.new
				defer compute(busy.goroutines)()
				benchmarkAppend(b)
			})
		}
	}
}

func benchmarkAppend(b *testing.B) {
	d := New(b.TempDir())
	defer func() {
		if err := d.Close(); err != nil {
			b.Error(err)
		}
	}()
	payload := make([]byte, 640<<10)
	b.SetBytes(int64(len(payload)))
	place := Place{Segment: 1}
	for b.Loop() {
		if err := d.Append(place, payload); err != nil {
			b.Fatal(err)
		}
		place.Offset += int64(len(payload))
	}
}

// compute keeps so many cores busy until it is stopped.
func compute(goroutines int) (stop func()) {
	var done atomic.Bool
	var sum atomic.Uint64
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for x := uint64(1); !done.Load(); {
				for range 10_000 {
					x = x*6364136223846793005 + 1
				}
				sum.Store(x)
			}
		})
	}
	return func() {
		done.Store(true)
		all.Wait()
	}
}
