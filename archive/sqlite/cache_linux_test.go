package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
)

// cached reports whether the page cache holds the first byte of a file. It skips
// the test where there is no disk, or where the file system cannot tell.
func cached(t *testing.T, f *os.File) bool {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(f.Name(), &s); err != nil {
		t.Fatal(err)
	}
	if s.Type == unix.TMPFS_MAGIC {
		t.Skip("no disk")
	}
	_, err := unix.Preadv2(int(f.Fd()), [][]byte{make([]byte, 1)}, 0, unix.RWF_NOWAIT)
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		t.Skipf("read of what is cached: %v", err)
	}
	return err == nil
}

// The system keeps payloads that it could not write as if it had; only the disk
// tells which. So Open looks there: what it does not read itself has left the cache.
func TestOpenReadsTheDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	rows := []archive.Row{archivetest.Numbered(1, 1, 4<<20), archivetest.Numbered(2, 2, 10_000)}
	d := openFile(t, Options{}, name)
	mustInsert(t, d, rows[:1])
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustInsert(t, d, rows[1:])
	f, err := os.Open(filepath.Join(PayloadDir(name), "00000001"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(make([]byte, 1)); err != nil || !cached(t, f) {
		t.Fatalf("what was read is not in the cache: %v", err)
	}
	const attempts = 20 // the system leaves a page that something else is doing with at the moment
	for n := 0; cached(t, f); n++ {
		if n == attempts {
			t.Fatal("payloads that were read came from the cache")
		}
		if e := openFile(t, Options{}, name); e.Lost() != 0 {
			t.Fatalf("%d rows lost", e.Lost())
		}
	}
}
