package negentropy

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkSession reconciles two sets of one million items, of which 10,000,
// scattered, are on one side only, with and without a limit on frames.
func BenchmarkSession(b *testing.B) {
	const n, differences = 1_000_000, 10_000
	random := rand.New(rand.NewPCG(1, 2))
	items := make([]Item, n)
	for i := range items {
		items[i].Timestamp = uint64(i) * 1000
		for at := 0; at < idSize; at += 8 {
			binary.LittleEndian.PutUint64(items[i].ID[at:], random.Uint64())
		}
	}
	var own [2][]Item
	lacks := make(map[int]int, differences)
	for len(lacks) < differences {
		lacks[random.IntN(n)] = len(lacks) % 2
	}
	for i, item := range items {
		side, lacked := lacks[i]
		for s := range own {
			if !lacked || s != side {
				own[s] = append(own[s], item)
			}
		}
	}
	va, vb := vector(b, own[0]), vector(b, own[1])
	for _, frameBytes := range []int{0, 1 << 20, 64 << 10} {
		b.Run(fmt.Sprintf("frame=%d", frameBytes), func(b *testing.B) {
			limits := Limits{FrameBytes: frameBytes}
			var s transcript
			b.ReportAllocs()
			for b.Loop() {
				s = run(b, va, vb, limits, limits)
			}
			if got := len(s.Have) + len(s.Need); got != differences {
				b.Fatalf("found %d differences, want %d", got, differences)
			}
			total, longest := s.bytes()
			b.ReportMetric(float64(s.rounds()), "rounds")
			b.ReportMetric(float64(total), "wire-B")
			b.ReportMetric(float64(longest), "longest-B")
		})
	}
}

// BenchmarkFingerprint sums the ids of one million items.
func BenchmarkFingerprint(b *testing.B) {
	v := vector(b, numbered(0, 1_000_000))
	for b.Loop() {
		v.Fingerprint(0, v.Len())
	}
}
