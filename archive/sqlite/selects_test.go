package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/message"
)

// Few texts are kept prepared, whatever is asked for, and none that names many
// topics or hashes.
func TestFewSelectsStayPrepared(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	rows := placed(20)
	mustInsert(t, d, rows)
	for bits := range 256 {
		s := archive.Selection{Limit: 3, Descending: bits&1 > 0, Data: bits&2 > 0, Sizes: bits&4 > 0}
		if bits&8 > 0 {
			s.After = &message.Key{}
		}
		if bits&16 > 0 {
			s.Topic = archivetest.Topic
		}
		if bits&32 > 0 {
			s.ContentTopics = []string{rows[0].Message.GetContentTopic()}
		}
		if bits&64 > 0 {
			s.Hashes = []message.Hash{rows[4].Key.Hash}
		}
		if bits&128 > 0 {
			s.Hashes = append(s.Hashes, rows[5].Key.Hash, rows[6].Key.Hash, rows[7].Key.Hash, message.Hash{}, message.Hash{1})
		}
		want := min(3, max(1, len(s.Hashes)))
		if len(s.Hashes) == 0 || len(s.Hashes) == 5 {
			want = 3
		}
		for range 2 {
			if got, err := d.Select(t.Context(), s); err != nil || len(got) != want {
				t.Fatalf("%+v: %d rows, %v, want %d", s, len(got), err, want)
			}
		}
	}
	if n := len(d.selects.byText); n == 0 || n > selectsMax {
		t.Errorf("%d are prepared", n)
	}
	if err := d.Close(); err != nil || len(d.selects.byText) > 0 {
		t.Errorf("close: %v, %d are prepared", err, len(d.selects.byText))
	}
	if left, _ := filepath.Glob(name + "-*"); len(left) > 0 {
		t.Errorf("close left %v", left)
	}
}

// The log stays bounded under a page that a reader takes its time over, since no
// query is open meanwhile; one that is open keeps it until it ends and no longer
// (gotosocial#2808, stellar-core PR#2040, go-tableland#312).
func TestLogBesideReaders(t *testing.T) {
	const batches, size, pages = 100, 100, 100
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{pragmas: []string{fmt.Sprintf("wal_autocheckpoint(%d)", pages)}}, name)
	rows := func(from, n int) (rows []archive.Row) {
		for i := from; i < from+n; i++ {
			rows = append(rows, archivetest.Numbered(uint64(i), int64(i), 8))
		}
		return rows
	}
	logBytes := func() int64 {
		info, err := os.Stat(name + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	mustInsert(t, d, rows(0, size))
	for _, err := range archive.Keys(t.Context(), d) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batches {
			mustInsert(t, d, rows((i+1)*size, size))
		}
		break
	}
	const bound = 3 * pages * 4096
	if n := logBytes(); n > bound {
		t.Errorf("beside a page: the log has %d bytes, want at most %d", n, bound)
	}

	open, err := d.reader.QueryContext(t.Context(), "SELECT hash FROM messages")
	if err != nil || !open.Next() {
		t.Fatal(err)
	}
	for i := range batches / 2 {
		mustInsert(t, d, rows((batches+1+i)*size, size))
	}
	if n := logBytes(); n <= bound {
		t.Errorf("beside an open query: the log has %d bytes: this test sees nothing", n)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Checkpoint(t.Context()); err != nil || logBytes() != 0 {
		t.Errorf("after it: %v, the log has %d bytes", err, logBytes())
	}
}

// Rows of one epoch after the other are found by their hash, and epochs go with
// their last row. Another handle goes on with the latest one.
func TestEpochs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	o := Options{epoch: 3}
	d := openFile(t, o, name)
	rows := placed(10)
	for i := range rows[:9] {
		mustInsert(t, d, rows[i:i+1])
	}
	d = openFile(t, o, name) // the latest, number 2, is full
	mustInsert(t, d, rows[9:])
	requireEpochs := func(want ...int64) {
		t.Helper()
		got, err := integers(t.Context(), d.reader, "SELECT number FROM epochs ORDER BY number")
		if err != nil || len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != want[len(want)-1] {
			t.Fatalf("epochs %v, %v, want %v", got, err, want)
		}
	}
	requireEpochs(0, 1, 2, 3)
	requireHolds(t, d, rows)
	mustDelete(t, d, rows[:2])
	requireEpochs(0, 1, 2, 3)
	mustDelete(t, d, rows[2:5])
	requireEpochs(1, 2, 3)
	mustDelete(t, d, rows)
	requireEpochs(3)
}
