package archive_test

import (
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
)

func BenchmarkMemory(b *testing.B) {
	archivetest.Benchmark(b, func(*testing.B) archive.Backend { return archive.NewMemory() })
}
