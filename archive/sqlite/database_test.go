package sqlite_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, name string) *sqlite.Database {
	t.Helper()
	d, err := sqlite.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestInMemory(t *testing.T) {
	archivetest.Exercise(t, func(t *testing.T) archive.Backend { return open(t, sqlite.Memory) })
}

func TestFile(t *testing.T) {
	archivetest.Exercise(t, func(t *testing.T) archive.Backend {
		return open(t, filepath.Join(t.TempDir(), "archive.db"))
	})
}
