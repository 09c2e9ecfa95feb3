package corpus

import (
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkRecord is what recording costs the goroutine that hands messages over,
// and the one that writes them, together.
func BenchmarkRecord(b *testing.B) {
	w, err := Create(Options{Path: filepath.Join(b.TempDir(), "x.corpus"), Files: 1})
	if err != nil {
		b.Fatal(err)
	}
	r := Record{At: time.Now(), Topic: "/waku/2/rs/0/0", Message: make([]byte, 10_000)}
	b.SetBytes(int64(len(r.Message)))
	b.ReportAllocs()
	for b.Loop() {
		w.Record(r)
		w.write(<-w.queue)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
