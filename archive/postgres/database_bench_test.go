package postgres_test

import (
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/internal/postgrestest"
)

// The server synchronises nothing.
func BenchmarkDatabase(b *testing.B) {
	archivetest.Benchmark(b, func(b *testing.B) archive.Backend { return open(b, postgrestest.Database(b)) })
}
