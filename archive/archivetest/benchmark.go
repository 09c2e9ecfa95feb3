package archivetest

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/msgpath/msgpath/archive"
)

// Benchmark measures inserts of the benchmark workload's messages, payloads of
// 10, 50 and 150 kB at 25, 50 and 25 %, in batches of 1 and 32. One operation is
// one message. The database grows by 65 kB a message: set -benchtime=2000x or so.
func Benchmark(b *testing.B, open func(b *testing.B) archive.Backend) {
	for _, size := range []int{1, 32} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			backend := open(b)
			sizes := []int{10_000, 50_000, 150_000, 50_000}
			templates := make([]archive.Row, len(sizes))
			for i := range templates {
				templates[i] = Numbered(uint64(i), int64(i), sizes[i])
			}
			batch := make([]archive.Row, 0, size)
			b.ReportAllocs()
			b.SetBytes(65_000)
			b.ResetTimer()
			for i := 0; i < b.N; i += len(batch) {
				batch = batch[:0]
				for j := i; j < min(i+size, b.N); j++ {
					batch = append(batch, rekeyed(templates[j%len(templates)], j))
				}
				mustInsert(b, backend, batch...)
			}
		})
	}
}

// rekeyed returns row under the key of another message, without hashing its
// payload, which is not what is measured.
func rekeyed(row archive.Row, n int) archive.Row {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(n))
	row.Key.Timestamp = 1_700_000_000_000_000_000 + int64(n)
	row.Key.Hash = blake3.Sum256(number[:])
	return row
}
