package storesync

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

var sizes = []int{10_000, 100_000, 1_000_000}

// randomKeys returns n keys of consecutive timestamps, in ascending order.
func randomKeys(n int) []message.Key {
	random := rand.New(rand.NewPCG(1, 2))
	keys := make([]message.Key, n)
	for i := range keys {
		keys[i].Timestamp = int64(i) * 1000
		for at := 0; at < len(keys[i].Hash); at += 8 {
			binary.LittleEndian.PutUint64(keys[i].Hash[at:], random.Uint64())
		}
	}
	return keys
}

func setOf(keys []message.Key) *Set {
	s := new(Set)
	for _, k := range keys {
		s.Insert(k)
	}
	return s
}

// BenchmarkFill makes a set of n keys, in ascending order (as messages come) and
// in none.
func BenchmarkFill(b *testing.B) {
	for _, n := range sizes {
		keys := randomKeys(n)
		for _, order := range []string{"ascending", "random"} {
			if order == "random" {
				rand.New(rand.NewPCG(3, 4)).Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			}
			b.Run(fmt.Sprintf("n=%d/%s", n, order), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					setOf(keys)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/key")
			})
		}
	}
}

// BenchmarkInsertDelete inserts and deletes one key in a set of n others, at its
// end and anywhere.
func BenchmarkInsertDelete(b *testing.B) {
	for _, n := range sizes {
		s := setOf(randomKeys(n))
		for name, at := range map[string]func(i int) int64{
			"end":      func(int) int64 { return int64(n) * 1000 },
			"anywhere": func(i int) int64 { return int64(i * 7919 % n * 1000) },
		} {
			b.Run(fmt.Sprintf("n=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					k := message.Key{Timestamp: at(i)}
					s.Insert(k)
					s.Delete(k)
				}
			})
		}
	}
}

// BenchmarkSnapshot takes a snapshot of a million keys, asks it, and inserts a key
// after it.
func BenchmarkSnapshot(b *testing.B) {
	const n = 1_000_000
	s := setOf(randomKeys(n))
	all := s.Snapshot(0, math.MaxInt64)
	random := rand.New(rand.NewPCG(5, 6))
	b.Run("take", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Snapshot(random.Int64N(n*1000), math.MaxInt64)
		}
	})
	b.Run("fingerprint", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			from := random.IntN(n)
			all.Fingerprint(from, from+random.IntN(n-from))
		}
	})
	b.Run("at", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			all.At(random.IntN(n))
		}
	})
	b.Run("find", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			all.Find(negentropy.Item{Timestamp: uint64(random.IntN(n * 1000))})
		}
	})
	b.Run("take and insert", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Snapshot(0, math.MaxInt64)
			k := message.Key{Timestamp: random.Int64N(n * 1000)}
			s.Insert(k)
			s.Delete(k)
		}
	})
}
