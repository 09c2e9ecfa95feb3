package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/sqlite"
)

func BenchmarkInMemory(b *testing.B) {
	archivetest.Benchmark(b, func(b *testing.B) archive.Backend { return open(b, sqlite.Memory) })
}

func BenchmarkFile(b *testing.B) {
	archivetest.Benchmark(b, func(b *testing.B) archive.Backend {
		return open(b, filepath.Join(b.TempDir(), "archive.db"))
	})
}
