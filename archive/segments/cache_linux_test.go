package segments_test

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/msgpath/msgpath/archive/segments"
)

// cached reports whether the page cache holds the first byte of a file. It skips
// the test where the file system cannot tell.
func cached(t *testing.T, file string) bool {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	_, err = unix.Preadv2(int(f.Fd()), [][]byte{make([]byte, 1)}, 0, unix.RWF_NOWAIT)
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		t.Skipf("read of what is cached: %v", err)
	}
	return err == nil
}

// inMemory reports whether files here have no disk that they could be read from.
func inMemory(t *testing.T, file string) bool {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(file, &s); err != nil {
		t.Fatal(err)
	}
	return s.Type == unix.TMPFS_MAGIC
}

// What is on the disk leaves the cache, and is read from the disk after that.
func TestUncache(t *testing.T) {
	d, file, places := appended(t)
	if inMemory(t, file) {
		t.Skip("no disk")
	}
	if err := d.Sync(1); err != nil {
		t.Fatal(err)
	}
	requireRead(t, d, places, 45)
	if !cached(t, file) {
		t.Fatal("what was read is not in the cache")
	}
	const attempts = 100 // the system leaves a page that something else is doing with at the moment
	for n := 0; cached(t, file); n++ {
		if n == attempts {
			t.Fatal("it is in the cache still")
		}
		if err := d.Uncache(1); err != nil {
			t.Fatal(err)
		}
	}
	requireRead(t, d, places, 45)
	if err := d.Uncache(2); err != nil {
		t.Errorf("no segment: %v", err)
	}
	if err := segments.New(file).Uncache(1); err == nil {
		t.Error("no error for a segment in a file")
	}
}
