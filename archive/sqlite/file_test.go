package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/message"
)

func rows(from, n int) (rows []archive.Row) {
	for i := from; i < from+n; i++ {
		rows = append(rows, archivetest.Numbered(uint64(i), int64(i), 4096))
	}
	return rows
}

func insert(t testing.TB, d *sqlite.Database, rows []archive.Row) {
	t.Helper()
	fresh, err := d.Insert(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(fresh, false) {
		t.Fatalf("fresh = %v", fresh)
	}
}

func keys(t testing.TB, d *sqlite.Database) (keys []message.Key) {
	t.Helper()
	for k, err := range archive.Keys(t.Context(), d) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	return keys
}

func TestReopenedFileHasEverything(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive ?#%41.db") // no character means anything
	want := rows(0, 100)
	d := open(t, name)
	insert(t, d, want)
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(name + "-*"); len(left) > 0 {
		t.Errorf("close left %v", left)
	}
	d = open(t, name)
	if got := keys(t, d); len(got) != len(want) {
		t.Fatalf("got %d keys, want %d", len(got), len(want))
	}
	for _, row := range want {
		got, err := archive.Get(t.Context(), d, row.Key.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if h := message.Blake3.Sum(got.Topic, got.Message); h != row.Key.Hash {
			t.Fatalf("row hashes to %s, want %s", h, row.Key.Hash)
		}
	}
	if fresh, err := d.Insert(t.Context(), want[:1]); err != nil || fresh[0] {
		t.Fatalf("insert of a row of before: fresh %v, error %v", fresh, err)
	}
}

// What an interrupted process leaves is a file, its log and its payloads: a copy
// of them, taken while they are in use, opens with what was committed. A copy
// without the payloads does not open, and keeps its rows until it has them.
func TestCopyOfAnOpenFileHasWhatWasCommitted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := open(t, name)
	insert(t, d, rows(0, 20))
	whole, part := filepath.Join(t.TempDir(), "archive.db"), filepath.Join(t.TempDir(), "archive.db")
	if err := os.CopyFS(sqlite.PayloadDir(whole), os.DirFS(sqlite.PayloadDir(name))); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(name + suffix)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{whole, part} {
			if err := os.WriteFile(other+suffix, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d := open(t, whole); len(keys(t, d)) != 20 || d.Lost() != 0 {
		t.Errorf("with payloads: %d keys, %d lost, want 20 and 0", len(keys(t, d)), d.Lost())
	}
	if d, err := sqlite.Open(t.Context(), part); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "moved without them?") {
		t.Errorf("without payloads: %v, %v, want %v", d, err, fs.ErrNotExist)
	}
	if err := os.CopyFS(sqlite.PayloadDir(part), os.DirFS(sqlite.PayloadDir(name))); err != nil {
		t.Fatal(err)
	}
	if d := open(t, part); len(keys(t, d)) != 20 || d.Lost() != 0 {
		t.Errorf("with payloads again: %d keys, %d lost, want 20 and 0", len(keys(t, d)), d.Lost())
	}
}

// Two handles write one file and read it meanwhile, as two processes would:
// nobody is told "database is locked" (mattn/go-sqlite3#274).
func TestTwoHandlesShareAFile(t *testing.T) {
	const batches, size = 12, 5
	name := filepath.Join(t.TempDir(), "archive.db")
	handles := [2]*sqlite.Database{open(t, name), open(t, name)}
	var wait sync.WaitGroup
	for h, d := range handles {
		wait.Go(func() {
			for i := range batches {
				if _, err := d.Insert(t.Context(), rows((h*batches+i)*size, size)); err != nil {
					t.Errorf("handle %d: %v", h, err)
				}
			}
		})
		wait.Go(func() { readAll(t, d, 4) })
	}
	wait.Wait()
	for h, d := range handles {
		if got := len(keys(t, d)); got != 2*batches*size {
			t.Errorf("handle %d sees %d keys, want %d", h, got, 2*batches*size)
		}
	}
}

// readAll gets each row there is, times times over.
func readAll(t *testing.T, d *sqlite.Database, times int) {
	for range times {
		for k, err := range archive.Keys(t.Context(), d) {
			if err == nil {
				_, err = archive.Get(t.Context(), d, k.Hash)
			}
			if err != nil {
				t.Errorf("read beside writers: %v", err)
				return
			}
		}
	}
}

func TestOpenedAtTheSameTime(t *testing.T) {
	for range 3 {
		name := filepath.Join(t.TempDir(), "archive.db")
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				d, err := sqlite.Open(t.Context(), name)
				if err != nil {
					t.Errorf("open: %v", err)
					return
				}
				if _, err := d.Insert(t.Context(), rows(i*10, 10)); err != nil {
					t.Errorf("insert: %v", err)
				}
				if err := d.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
		}
		wait.Wait()
		if got := len(keys(t, open(t, name))); got != 40 {
			t.Fatalf("got %d keys, want 40", got)
		}
	}
}

// A reader that stopped in the middle of its loop holds nothing that keeps the
// log from being emptied.
func TestLogEndsWithItsLastHandle(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := open(t, name)
	insert(t, d, rows(0, 10))
	for _, err := range archive.Keys(t.Context(), d) {
		if err != nil {
			t.Fatal(err)
		}
		insert(t, d, rows(10, 500))
		break
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(name + "-*"); len(left) > 0 {
		t.Errorf("close left %v", left)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{"", "no file path"},
		{"file:x.db", "want :memory: or a file path"},
		{":memory:?cache=shared", "want :memory: or a file path"},
		{"a\x00b", "zero byte"},
		{filepath.Join(dir, "none", "archive.db"), "unable to open"},
		{dir, "unable to open"},
		{text, "not a database"},
	} {
		d, err := sqlite.Open(t.Context(), c.name)
		if err == nil {
			t.Errorf("open %q: no error", c.name)
			_ = d.Close()
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("open %q: %v, want it to say %q", c.name, err, c.want)
		}
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(ctx, sqlite.Memory); !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v", err)
	}
}
