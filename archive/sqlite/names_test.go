package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
)

func mustLink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

// However a file is called, its payloads are those beside it, and they stay there
// when the working directory changes.
func TestNamesOfOneFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("real", 0o755); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "real", "archive.db")
	mustLink(t, "real", "dir")
	mustLink(t, "real/archive.db", "relative.db") // nothing is there yet
	mustLink(t, "relative.db", "second.db")
	mustLink(t, name, "absolute.db")
	var rows []archive.Row
	var handles []*Database
	for i, called := range []string{
		"second.db", "relative.db", name, "real/archive.db", "real/archive.db/", "dir/archive.db", "dir/../absolute.db", "absolute.db",
	} {
		d := openFile(t, Options{}, called)
		if d.Lost() != 0 {
			t.Fatalf("%s: %d rows lost", called, d.Lost())
		}
		rows, handles = append(rows, archivetest.Numbered(uint64(i), int64(i), 10_000)), append(handles, d)
		mustInsert(t, d, rows[i:])
	}
	t.Chdir(t.TempDir())
	for _, d := range handles {
		for i, r := range rows {
			if _, err := archive.Get(t.Context(), d, r.Key.Hash); err != nil {
				t.Errorf("%s: row %d: %v", d.name, i, err)
			}
		}
	}
	if found, err := filepath.Glob(filepath.Join(dir, "*.payloads")); err != nil || len(found) > 0 {
		t.Errorf("other folders: %v, %v", found, err)
	}
}

func TestNamesThatLeadNowhere(t *testing.T) {
	dir := t.TempDir()
	mustLink(t, "loop.db", filepath.Join(dir, "loop.db"))
	mustLink(t, "missing/archive.db", filepath.Join(dir, "missing.db"))
	for _, name := range []string{"loop.db", "missing.db", "missing/archive.db"} {
		if _, err := Open(t.Context(), filepath.Join(dir, name)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A segment that was on the disk and is not there any more was not lost with the
// power: the disk is another, or is not mounted. Rows stay.
func TestMissingSegmentIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	rows := placed(3)
	d := openFile(t, Options{inline: 1}, name)
	mustInsert(t, d, rows[:2])
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustInsert(t, d, rows[2:])
	aside := name + ".aside"
	if err := errors.Join(os.Rename(PayloadDir(name), aside), os.Mkdir(PayloadDir(name), 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v, want %v", err, fs.ErrNotExist)
	}
	if err := errors.Join(os.Remove(PayloadDir(name)), os.Rename(aside, PayloadDir(name))); err != nil {
		t.Fatal(err)
	}
	requireWhole(t, name, rows)
}
