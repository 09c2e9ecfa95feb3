package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/segments"
	"github.com/msgpath/msgpath/message"
)

// tiny makes segments of one to three of the rows of placed.
var tiny = Options{inline: 1, segment: 20, epoch: 3}

func mustDelete(t *testing.T, d *Database, rows []archive.Row) {
	t.Helper()
	if err := d.Delete(t.Context(), keysOf(rows)); err != nil {
		t.Fatal(err)
	}
}

func keysOf(rows []archive.Row) (keys []message.Key) {
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	return keys
}

// requireHolds fails unless d has exactly these rows, whole, by selection and by
// hash, and says their size.
func requireHolds(t testing.TB, d *Database, rows []archive.Row) {
	t.Helper()
	got, err := d.Select(t.Context(), archive.Selection{Data: true, Sizes: true, Limit: len(rows) + 10})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(keysOf(got), keysOf(rows)) {
		t.Fatalf("got %d rows, want %d:\n%v\nwant\n%v", len(got), len(rows), keysOf(got), keysOf(rows))
	}
	want := archive.Size{Messages: int64(len(rows))}
	for i, r := range rows {
		want.Bytes += archive.SizeOf(r.Topic, r.Message)
		one, err := archive.Get(t.Context(), d, r.Key.Hash)
		if err != nil {
			t.Fatal(err)
		}
		for _, have := range []archive.Row{got[i], one} {
			if string(have.Message.GetPayload()) != string(r.Message.GetPayload()) {
				t.Fatalf("row %d has another payload", i)
			}
		}
		if got[i].Size != archive.SizeOf(r.Topic, r.Message) {
			t.Fatalf("row %d is said to take %d bytes", i, got[i].Size)
		}
	}
	if size, err := d.Size(t.Context()); err != nil || size != want {
		t.Fatalf("size: %+v, %v, want %+v", size, err, want)
	}
}

// held returns the numbers of the segments that are known of, and whose files are
// there.
func held(t testing.TB, d *Database) (known, files []int64) {
	t.Helper()
	known, err := integers(t.Context(), d.reader, "SELECT number FROM segments WHERE number > 0 ORDER BY number")
	if err != nil {
		t.Fatal(err)
	}
	if files, err = d.dir.Segments(); err != nil {
		t.Fatal(err)
	}
	return known, files
}

func requireSegments(t testing.TB, d *Database, want ...int64) {
	t.Helper()
	if known, files := held(t, d); !slices.Equal(known, want) || !slices.Equal(files, want) {
		t.Fatalf("segments %v, files %v, want %v", known, files, want)
	}
}

// Segments go with their last row, in any order, and the last one stays.
func TestSegmentsAreDropped(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, tiny, name)
	rows := placed(8) // 8+9+10 bytes, 11+12, 13+14, 15
	mustInsert(t, d, rows)
	requireSegments(t, d, 1, 2, 3, 4)
	mustDelete(t, d, rows[3:5])
	requireSegments(t, d, 1, 3, 4)
	mustDelete(t, d, rows[:2])
	requireSegments(t, d, 1, 3, 4)
	mustDelete(t, d, rows[2:3])
	requireSegments(t, d, 3, 4)
	requireHolds(t, d, rows[5:])
	mustDelete(t, d, rows) // the last segment stays, to tell where the next payload goes
	requireSegments(t, d, 4)
	requireHolds(t, d, nil)
	d = openFile(t, tiny, name)
	mustInsert(t, d, rows[:2]) // 15+8 bytes, 9
	requireSegments(t, d, 4, 5)
	mustDelete(t, d, rows[:1])
	requireSegments(t, d, 5)
	requireHolds(t, d, rows[1:2])
}

// Where the next payload goes never moves back, so that what was synchronised does
// not speak of payloads that came later: a loss of power is seen in each of them.
func TestTheEndOfPayloadsStays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{inline: 1}, name)
	rows := placed(6)
	mustInsert(t, d, rows[:3])
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustDelete(t, d, rows[:3])
	d = openFile(t, Options{inline: 1}, name)
	mustInsert(t, d, rows[3:])
	payloads, err := os.ReadFile(filepath.Join(PayloadDir(name), "00000001"))
	if want := 8 + 9 + 10 + 11 + 12 + 13; err != nil || len(payloads) != want {
		t.Fatalf("%d bytes, %v, want %d", len(payloads), err, want)
	}
	clear(payloads[27:])
	requireRecovered(t, crash(t, name, payloads), rows[3:], func(int) bool { return false })
}

// What a loss of power took counts no more, and its segments are removed.
func TestLostRowsLeaveNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	rows := placed(8)
	mustInsert(t, openFile(t, tiny, name), rows)
	to := crash(t, name, nil)
	if err := os.WriteFile(filepath.Join(PayloadDir(to), "00000003"), rows[5].Message.GetPayload(), 0o600); err != nil {
		t.Fatal(err)
	}
	d := openFile(t, tiny, to)
	if d.Lost() != 7 {
		t.Fatalf("lost %d rows, want 7", d.Lost())
	}
	requireHolds(t, d, rows[5:6])
	requireSegments(t, d, 3, 4)
	mustInsert(t, d, rows[:1])
	requireHolds(t, d, []archive.Row{rows[0], rows[5]})
}

// A process that was killed between a delete and the removal of its segments leaves
// files that the next one removes.
func TestOrphansAreRemoved(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, tiny, name)
	rows := placed(8)
	mustInsert(t, d, rows)
	mustDelete(t, d, rows[:5])
	for _, left := range []string{"00000001", "00000002", "1", "000000001", "note.txt"} {
		if err := os.WriteFile(filepath.Join(PayloadDir(name), left), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d = openFile(t, tiny, name)
	requireSegments(t, d, 3, 4)
	requireHolds(t, d, rows[5:])
	if others, err := os.ReadDir(PayloadDir(name)); err != nil || len(others) != 5 {
		t.Errorf("%v, %v, want the files that are no segments to stay", others, err)
	}
}

// A segment that cannot be removed is the error of the next delete, which deletes
// nothing; then all is well again.
func TestSegmentThatStays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, tiny, name)
	rows := placed(8)
	mustInsert(t, d, rows)
	first := filepath.Join(PayloadDir(name), "00000001")
	if err := errors.Join(os.Remove(first), os.MkdirAll(filepath.Join(first, "in the way"), 0o755)); err != nil {
		t.Fatal(err)
	}
	mustDelete(t, d, rows[:3])
	if err := d.Delete(t.Context(), keysOf(rows[3:5])); err == nil {
		t.Fatal("no error")
	}
	requireHolds(t, d, rows[3:])
	if err := os.Remove(filepath.Join(first, "in the way")); err != nil {
		t.Fatal(err)
	}
	mustDelete(t, d, rows[3:5])
	requireSegments(t, d, 3, 4)
	requireHolds(t, d, rows[5:])
}

// No segment is removed before the log that says so is on the disk.
func TestLogThatIsNotSynchronisedKeepsSegments(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d, err := tiny.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	rows := placed(8)
	mustInsert(t, d, rows)
	d.log = filepath.Join(name, "no folder")
	mustDelete(t, d, rows[:5])
	if known, files := held(t, d); len(known) != 2 || len(files) != 4 {
		t.Errorf("segments %v, files %v", known, files)
	}
	if err := d.Delete(t.Context(), keysOf(rows[5:])); !errors.Is(err, errUnsynced) {
		t.Errorf("delete: %v, want %v", err, errUnsynced)
	}
	if err := d.Close(); !errors.Is(err, errUnsynced) {
		t.Errorf("close: %v, want %v", err, errUnsynced)
	}
	d = openFile(t, tiny, name)
	requireSegments(t, d, 3, 4)
	requireHolds(t, d, rows[5:])
}

// hooked calls before ahead of each read.
type hooked struct {
	store
	before func(at segments.Place)
}

func (h hooked) Read(at segments.Place) ([]byte, error) {
	h.before(at)
	return h.store.Read(at)
}

// A row that is deleted after it was found and before its payload is read is left
// out, or given; damage is told of rows that are there only. One that was inserted
// again meanwhile is given.
func TestRowsDeletedUnderAReader(t *testing.T) {
	for _, name := range []string{Memory, filepath.Join(t.TempDir(), "archive.db")} {
		d := openFile(t, tiny, name)
		rows := placed(30)
		mustInsert(t, d, rows)
		whole := d.payloads
		all := archive.Selection{Data: true, Limit: 20}
		deleted := 0
		deleteNext := func(segments.Place) {
			if deleted < 6 {
				mustDelete(t, d, rows[deleted:deleted+3])
				deleted += 3
			}
		}
		d.payloads = hooked{whole, deleteNext}
		got, err := d.Select(t.Context(), all)
		if err != nil || !slices.Equal(keysOf(got), keysOf(rows[6:26])) {
			t.Errorf("%s: %v, %v, want the 20 rows that are there", name, keysOf(got), err)
		}

		again := false
		d.payloads = hooked{whole, func(segments.Place) {
			if !again {
				again = true
				mustDelete(t, d, rows[20:])
				mustInsert(t, d, rows[20:])
			}
		}}
		if got, err := archive.Get(t.Context(), d, rows[20].Key.Hash); err != nil || got.Key != rows[20].Key {
			t.Errorf("%s: a row inserted again: %v", name, err)
		}
		d.payloads = whole
	}
}

// A page is as long as it was asked for, or the last, also where a row of it is
// deleted under each selection.
func TestSelectGoesOnBehindDeletedRows(t *testing.T) {
	for _, name := range []string{Memory, "file"} {
		for _, descending := range []bool{false, true} {
			if name != Memory {
				name = filepath.Join(t.TempDir(), "archive.db")
			}
			d := openFile(t, tiny, name)
			rows := placed(30)
			mustInsert(t, d, rows)
			s := archive.Selection{After: &rows[11].Key, Data: true, Limit: 2, Descending: descending}
			order := slices.Clone(rows[12:]) // each in a segment of its own
			if descending {
				slices.Reverse(order)
			}
			reads, next := 0, 1
			whole := d.payloads
			d.payloads = hooked{whole, func(segments.Place) {
				if reads++; reads%2 == 1 { // at the first of two the second goes, or the only one
					mustDelete(t, d, order[next:next+1])
					next++
				}
			}}
			want := []archive.Row{order[0], order[selections+2]}
			if got, err := d.Select(t.Context(), s); err != nil || !slices.Equal(keysOf(got), keysOf(want)) {
				t.Errorf("%s, descending %v: %v, %v, want %v", name, descending, keysOf(got), err, keysOf(want))
			}
			d.payloads = whole
		}
	}
}

// Two handles insert, delete and read, as two processes would.
func TestTwoHandlesDelete(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	handles := []*Database{openFile(t, tiny, name), openFile(t, tiny, name)}
	const rounds, size = 30, 5
	var wait, readers sync.WaitGroup
	done := make(chan struct{})
	left := make([][]archive.Row, len(handles))
	for h, d := range handles {
		wait.Go(func() {
			for i := range rounds {
				var rows []archive.Row
				for j := range size {
					n := (i*len(handles)+h)*size + j
					rows = append(rows, archivetest.Numbered(uint64(n), int64(n), 8+n%13))
				}
				_, err := d.Insert(t.Context(), rows)
				left[h] = append(left[h], rows...)
				if err == nil && i >= 3 {
					err = d.Delete(t.Context(), keysOf(left[h][:size]))
					left[h] = left[h][size:]
				}
				if err == nil && i%10 == 9 {
					err = d.Checkpoint(t.Context())
				}
				if err != nil {
					t.Errorf("handle %d, round %d: %v", h, i, err)
					return
				}
			}
		})
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := d.Select(t.Context(), archive.Selection{Data: true, Limit: 100}); err != nil {
					t.Errorf("handle %d reads: %v", h, err)
					return
				}
			}
		})
	}
	wait.Wait()
	close(done)
	readers.Wait()
	want := slices.Concat(left...)
	slices.SortFunc(want, func(a, b archive.Row) int { return a.Key.Compare(b.Key) })
	for _, d := range handles {
		requireHolds(t, d, want)
	}
	mustDelete(t, handles[0], nil)
	known, files := held(t, handles[0])
	if !slices.Equal(known, files) {
		t.Errorf("segments %v, files %v", known, files)
	}
	mustDelete(t, handles[1], want)
	mustInsert(t, handles[0], placed(1))
	mustDelete(t, handles[1], nil)
	if known, _ := held(t, handles[0]); len(known) > 2 {
		t.Errorf("segments %v", known)
	}
	if epochs, err := integers(t.Context(), handles[0].reader, "SELECT number FROM epochs"); err != nil || len(epochs) > 2 {
		t.Errorf("epochs %v, %v", epochs, err)
	}
}

// In memory a payload is free when its row is deleted, whatever else its segment
// holds.
func TestDeletedPayloadIsFree(t *testing.T) {
	d := openFile(t, Options{}, Memory)
	rows := []archive.Row{archivetest.Numbered(1, 1, 50_000), archivetest.Numbered(2, 2, 50_000)}
	deleted, kept := weak.Make(&rows[0].Message.Payload[0]), weak.Make(&rows[1].Message.Payload[0])
	keys := keysOf(rows)
	mustInsert(t, d, rows)
	clear(rows)
	if err := d.Delete(t.Context(), keys[:1]); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); deleted.Value() != nil && time.Now().Before(end); {
		runtime.GC()
	}
	if deleted.Value() != nil || kept.Value() == nil {
		t.Errorf("deleted: %v, kept: %v", deleted.Value(), kept.Value())
	}
	if _, err := archive.Get(t.Context(), d, keys[1].Hash); err != nil {
		t.Error(err)
	}
}

// A file under inserts and deletes uses its pages again: it is as large after many
// rounds as after a few, without VACUUM (nwaku#2164).
func TestFileStaysBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{epoch: 300, segment: 40_000}, name)
	const kept, round = 800, 200
	var rows []archive.Row
	var sizes []int64
	for n := 0; n < 6*kept; n += round {
		fresh := make([]archive.Row, 0, round)
		for i := range round {
			size := 300
			if i%100 == 0 {
				size = InlineBytes
			}
			fresh = append(fresh, archivetest.Numbered(uint64(n+i), int64(n+i), size))
		}
		mustInsert(t, d, fresh)
		if rows = append(rows, fresh...); len(rows) > kept {
			mustDelete(t, d, rows[:round])
			rows = rows[round:]
		}
		if err := d.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	requireHolds(t, d, rows)
	if early, last := sizes[2*kept/round], sizes[len(sizes)-1]; last > early+early/10 {
		t.Errorf("the file grows: %v", sizes)
	}
	if _, files := held(t, d); len(files) > 4 {
		t.Errorf("segments %v", files)
	}
}

// A copy of what is there at any moment opens; see TestModel for what it holds.
func copyFiles(t testing.TB, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(from + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(PayloadDir(to), os.DirFS(PayloadDir(from))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func nameIn(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("archive%d.db", n)) }
