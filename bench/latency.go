package bench

import (
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/msgpath/msgpath/verdict"
)

// Bounds of [Latencies]: 1 ns to 1 h, at three significant digits.
const (
	maxLatency    = time.Hour
	latencyDigits = 3
)

// Latencies is the distribution of a time per message, in whole nanoseconds. A
// quantile is exact below 2048 ns and at most 0.1 % too high above, which is the
// width of a bucket. Times from 0 to 1 h are kept; others are counted by
// Clipped, a negative one as 0 and a longer one as 1 h.
//
// One goroutine records; quantiles are read when it has ended. The memory, about
// 270 kB, is allocated by [NewLatencies].
type Latencies struct {
	histogram *hdrhistogram.Histogram
	clipped   int
}

// NewLatencies returns an empty distribution.
func NewLatencies() *Latencies {
	return &Latencies{histogram: hdrhistogram.New(1, maxLatency.Nanoseconds(), latencyDigits)}
}

// Record adds one time.
func (l *Latencies) Record(d time.Duration) {
	kept := min(max(d, 0), maxLatency)
	if kept != d {
		l.clipped++
	}
	if err := l.histogram.RecordValue(kept.Nanoseconds()); err != nil {
		// Every value within the bounds has a bucket.
		panic(fmt.Sprintf("bench: record latency %v: %v", d, err))
	}
}

// Count returns how many times were recorded.
func (l *Latencies) Count() int { return int(l.histogram.TotalCount()) }

// Clipped returns how many of them were out of bounds.
func (l *Latencies) Clipped() int { return l.clipped }

// P50 returns the median in ns, 0 if nothing was recorded.
func (l *Latencies) P50() int64 { return l.histogram.ValueAtQuantile(50) }

// P99 returns the 99th percentile in ns, 0 if nothing was recorded.
func (l *Latencies) P99() int64 { return l.histogram.ValueAtQuantile(99) }

// Reset forgets what was recorded and keeps the memory.
func (l *Latencies) Reset() {
	l.histogram.Reset()
	l.clipped = 0
}

// Add adds all times of other.
func (l *Latencies) Add(other *Latencies) {
	l.histogram.Merge(other.histogram)
	l.clipped += other.clipped
}

// Quantiles returns the quantiles that a result tells of an open loop, in ns.
func (l *Latencies) Quantiles() verdict.Quantiles {
	return verdict.Quantiles{
		Messages: l.Count(),
		P50:      l.P50(), P90: l.histogram.ValueAtQuantile(90), P99: l.P99(),
		P999: l.histogram.ValueAtQuantile(99.9), Max: l.histogram.Max(),
	}
}

// ticksPerHalf is how many percentiles are told each time that the share of
// slower messages halves: between 50 and 75, between 75 and 87.5, and so on.
const ticksPerHalf = 5

// Points returns the distribution as the steps of its percentiles.
func (l *Latencies) Points() []verdict.Point {
	var points []verdict.Point
	for _, b := range l.histogram.CumulativeDistributionWithTicks(ticksPerHalf) {
		points = append(points, verdict.Point{Percentile: b.Quantile, Nanos: min(b.ValueAt, l.histogram.Max()), Count: int(b.Count)})
	}
	return points
}

// Print writes the distribution as text, in milliseconds, in the format that the
// plotters of HdrHistogram (hdrhistogram.org) read.
func (l *Latencies) Print(w io.Writer) error {
	if _, err := l.histogram.PercentilesPrint(w, ticksPerHalf, float64(time.Millisecond)); err != nil {
		return fmt.Errorf("bench: print latencies: %w", err)
	}
	return nil
}
