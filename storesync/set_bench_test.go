package storesync

import (
	"fmt"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/msgpath/msgpath/message"
)

// BenchmarkSet inserts and deletes one key in a set of n others, at its end (as
// messages come) and anywhere.
func BenchmarkSet(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		var s Set
		for i := range n {
			s.Insert(message.Key{Timestamp: int64(i), Hash: blake3.Sum256([]byte{1})})
		}
		for name, at := range map[string]func(i int) int64{
			"end":      func(int) int64 { return int64(n) },
			"anywhere": func(i int) int64 { return int64(i * 7919 % n) },
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
