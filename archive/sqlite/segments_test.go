package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/segments"
)

// small makes much happen with little: each payload goes to a segment, segments
// are short, and every few inserts something is flushed.
var small = Options{inline: 1, segment: 5000, pending: 3000}

func openFile(t *testing.T, o Options, name string) *Database {
	t.Helper()
	d, err := o.Open(t.Context(), name)
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

// single leaves a test to runs without the race detector.
func single(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("others show its goroutines: it runs without the race detector")
	}
}

func TestSmallSegments(t *testing.T) {
	archivetest.Exercise(t, func(t *testing.T) archive.Backend {
		return openFile(t, small, filepath.Join(t.TempDir(), "archive.db"))
	})
}

func TestSmallSegmentsInMemory(t *testing.T) {
	single(t)
	archivetest.Exercise(t, func(t *testing.T) archive.Backend { return openFile(t, small, Memory) })
}

// Payloads of one length, of several batches and segments: each row has its own,
// after a batch that was refused and with rows that were there before.
func TestPayloadsInMemory(t *testing.T) {
	d := openFile(t, Options{inline: 1, segment: 100}, Memory)
	refuse(t, d, 13)
	var rows []archive.Row
	for i := range uint64(40) {
		rows = append(rows, archivetest.Numbered(i, int64(i), 32))
	}
	mustInsert(t, d, rows[:10])
	if _, err := d.Insert(t.Context(), rows[10:20]); err == nil {
		t.Fatal("no error")
	}
	mustInsert(t, d, rows[20:30])
	if fresh, err := d.Insert(t.Context(), rows[25:]); err != nil || !slices.Equal(fresh, append(make([]bool, 5), slices.Repeat([]bool{true}, 10)...)) {
		t.Fatalf("insert: %v, %v", fresh, err)
	}
	requireGets(t, d, slices.Concat(rows[:10], rows[20:]))
	if want := (segments.Place{Segment: 8, Offset: 64}); d.next != want { // 4 a segment
		t.Errorf("the next payload goes to %+v, want %+v", d.next, want)
	}
}

// refuse has the database refuse a row.
func refuse(t *testing.T, d *Database, timestamp int) {
	t.Helper()
	if _, err := d.writer.ExecContext(t.Context(), fmt.Sprintf(`CREATE TRIGGER refuse BEFORE INSERT ON messages
		WHEN NEW.timestamp = %d BEGIN SELECT RAISE(ABORT, 'it is refused'); END`, timestamp)); err != nil {
		t.Fatal(err)
	}
}

func TestSyncEach(t *testing.T) {
	o := small
	o.Sync = SyncEach
	archivetest.Exercise(t, func(t *testing.T) archive.Backend {
		return openFile(t, o, filepath.Join(t.TempDir(), "archive.db"))
	})
}

// placed returns rows with payloads of 8 to 8+n-1 bytes.
func placed(n int) (rows []archive.Row) {
	for i := range n {
		rows = append(rows, archivetest.Numbered(uint64(i), int64(i), 8+i))
	}
	return rows
}

func mustInsert(t *testing.T, d *Database, rows []archive.Row) {
	t.Helper()
	if fresh, err := d.Insert(t.Context(), rows); err != nil || slices.Contains(fresh, false) {
		t.Fatalf("insert: %v, %v", fresh, err)
	}
}

// crash copies what a process leaves that was killed now. payloads is what is
// left of the first segment.
func crash(t *testing.T, from string, payloads []byte) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "archive.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(from + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(PayloadDir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(PayloadDir(to), "00000001"), payloads, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// requireRecovered opens a file after a crash that damaged the payloads that
// intact is false for: their rows are gone, the others whole, and everything can
// be inserted again.
func requireRecovered(t *testing.T, name string, rows []archive.Row, intact func(i int) bool) {
	t.Helper()
	d, err := Options{inline: 1}.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for i, r := range rows {
		got, err := archive.Get(t.Context(), d, r.Key.Hash)
		switch {
		case !intact(i):
			lost++
			if !errors.Is(err, archive.ErrNotFound) {
				t.Fatalf("row %d, whose payload is damaged: %v, want %v", i, err, archive.ErrNotFound)
			}
		case err != nil || string(got.Message.GetPayload()) != string(r.Message.GetPayload()):
			t.Fatalf("row %d, whose payload is intact: %v", i, err)
		}
	}
	if d.Lost() != lost {
		t.Fatalf("says that it lost %d rows, want %d", d.Lost(), lost)
	}
	if _, err := d.Insert(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	requireWhole(t, name, rows)
}

func requireGets(t *testing.T, d *Database, rows []archive.Row) {
	t.Helper()
	for i, r := range rows {
		if got, err := archive.Get(t.Context(), d, r.Key.Hash); err != nil || string(got.Message.GetPayload()) != string(r.Message.GetPayload()) {
			t.Fatalf("row %d afterwards: %v", i, err)
		}
	}
}

func requireWhole(t *testing.T, name string, rows []archive.Row) {
	t.Helper()
	d, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	requireGets(t, d, rows)
	if d.Lost() != 0 {
		t.Fatalf("lost %d rows afterwards", d.Lost())
	}
}

// unsyncedFile returns a file whose rows are in two batches of one segment, and
// the segment's bytes. It stays open.
func unsyncedFile(t *testing.T) (name string, rows []archive.Row, payloads []byte) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "archive.db")
	rows = placed(4)
	d := openFile(t, Options{inline: 1}, name)
	for at := 0; at < len(rows); at += 2 {
		mustInsert(t, d, rows[at:at+2])
	}
	payloads, err := os.ReadFile(filepath.Join(PayloadDir(name), "00000001"))
	if err != nil {
		t.Fatal(err)
	}
	return name, rows, payloads
}

// Power was lost after the rows reached the disk and before all of the payloads
// did: at every length that the segment may be left with, and with zeros from
// there on, as a file system leaves a file that it had grown already.
func TestPayloadsTornAtEveryLength(t *testing.T) {
	single(t)
	name, rows, payloads := unsyncedFile(t)
	for n := range len(payloads) + 1 {
		end := 0
		intact := func(i int) bool {
			end = 0
			for _, r := range rows[:i+1] {
				end += len(r.Message.GetPayload())
			}
			return end <= n
		}
		requireRecovered(t, crash(t, name, payloads[:n]), rows, intact)

		zeros := slices.Concat(payloads[:n], make([]byte, len(payloads)-n))
		requireRecovered(t, crash(t, name, zeros), rows, func(i int) bool {
			intact(i)
			return string(zeros[end-8-i:end]) == string(rows[i].Message.GetPayload())
		})
	}
}

// Any byte that did not reach the disk costs its row and no other.
func TestEveryDamagedByteIsSeen(t *testing.T) {
	single(t)
	name, rows, payloads := unsyncedFile(t)
	for at := range payloads {
		damaged := slices.Clone(payloads)
		damaged[at] ^= 0x80
		start := 0
		requireRecovered(t, crash(t, name, damaged), rows, func(i int) bool {
			start = 0
			for _, r := range rows[:i] {
				start += len(r.Message.GetPayload())
			}
			return at < start || at >= start+len(rows[i].Message.GetPayload())
		})
	}
}

// Power was lost after payloads reached the disk and before their rows did: the
// tail is cut off, in the last segment and in one that had just been begun.
func TestTornTailsAreCutOff(t *testing.T) {
	name, rows, payloads := unsyncedFile(t)
	to := crash(t, name, append(slices.Clone(payloads), "of a batch that was not committed"...))
	next := filepath.Join(PayloadDir(to), "00000002")
	if err := os.WriteFile(next, []byte("of the same batch"), 0o600); err != nil {
		t.Fatal(err)
	}
	requireRecovered(t, to, rows, func(int) bool { return true })
	for file, want := range map[string]int{filepath.Join(PayloadDir(to), "00000001"): len(payloads), next: 0} {
		if info, err := os.Stat(file); err != nil || info.Size() != int64(want) {
			t.Errorf("%s: %v, %v, want %d bytes", file, info, err, want)
		}
	}
}

// What was synchronised is not looked at when the file is opened: damage there is
// no crash's, and the row stays to tell of it.
func TestDamageOfTheDiskIsTold(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	rows := placed(2)
	d := openFile(t, Options{inline: 1}, name)
	mustInsert(t, d, rows)
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(PayloadDir(name), "00000001"), 8); err != nil {
		t.Fatal(err)
	}
	d = openFile(t, Options{inline: 1}, name)
	if _, err := archive.Get(t.Context(), d, rows[0].Key.Hash); err != nil || d.Lost() != 0 {
		t.Fatalf("the whole payload: %v; %d lost", err, d.Lost())
	}
	if _, err := archive.Get(t.Context(), d, rows[1].Key.Hash); !errors.Is(err, segments.ErrDamaged) {
		t.Fatalf("the damaged one: %v, want %v", err, segments.ErrDamaged)
	}
}

// A batch that was rolled back leaves bytes that the next one writes over.
func TestRolledBackPayloadsAreWrittenOver(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, small, name)
	refuse(t, d, 3)
	rows := placed(6)
	if _, err := d.Insert(t.Context(), rows); err == nil {
		t.Fatal("no error")
	}
	rows = slices.Delete(rows, 3, 4)
	mustInsert(t, d, rows)
	requireWhole(t, name, rows)
	info, err := os.Stat(filepath.Join(PayloadDir(name), "00000001"))
	if want := int64(8 + 9 + 10 + 12 + 13); err != nil || info.Size() != want {
		t.Fatalf("segment: %v, %v, want %d bytes", info, err, want)
	}
}

func TestSegmentsEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{inline: 1, segment: 30}, name)
	rows := placed(8) // of 8 to 15 bytes: 8+9+10+11, 12+13+14, 15
	mustInsert(t, d, rows[:6])
	mustInsert(t, d, rows[6:])
	for n, want := range map[string]int64{"00000001": 38, "00000002": 39, "00000003": 15} {
		if info, err := os.Stat(filepath.Join(PayloadDir(name), n)); err != nil || info.Size() != want {
			t.Errorf("segment %s: %v, %v, want %d bytes", n, info, err, want)
		}
	}
	requireWhole(t, name, rows)
}

// Rows stay in the order of their places, which recover counts on, whatever is
// deleted and also if somebody vacuums the file.
func TestRowsStayInTheOrderOfPlaces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, tiny, name)
	rows := placed(20)
	mustInsert(t, d, rows[:10])
	mustDelete(t, d, slices.Concat(rows[2:4], rows[8:10]))
	if _, err := d.writer.ExecContext(t.Context(), "VACUUM"); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(rows[10:]) // by time, not by place
	mustInsert(t, d, rows[10:])
	places, err := integers(t.Context(), d.reader, `SELECT segment * 1000 + "offset" FROM messages ORDER BY rowid`)
	if err != nil || len(places) != 16 || !slices.IsSorted(places) {
		t.Errorf("places %v, %v", places, err)
	}
}

func TestCheckpointLeavesNothingToDo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{inline: 1}, name)
	mustInsert(t, d, placed(3))
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name + "-wal"); err != nil || info.Size() != 0 {
		t.Errorf("log: %v, %v, want it empty", info, err)
	}
	got, err := synced(t.Context(), d.reader)
	if want := (segments.Place{Segment: 1, Offset: 8 + 9 + 10}); err != nil || got != want {
		t.Errorf("synchronised to %+v, %v, want %+v", got, err, want)
	}
	if err := openFile(t, Options{}, Memory).Checkpoint(t.Context()); err != nil {
		t.Errorf("in memory: %v", err)
	}
}

// Once the disk has refused payloads, nothing is inserted until the file is
// opened again.
func TestFailedSyncEndsInserts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d, err := Options{inline: 1, pending: 1}.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	rows := placed(3)
	mustInsert(t, d, rows[:1])
	if err := d.flusher.wait(); err != nil {
		t.Fatal(err)
	}
	aside := name + ".aside" // the open segment is written on, and cannot be opened to be synchronised
	if err := os.Rename(PayloadDir(name), aside); err != nil {
		t.Fatal(err)
	}
	mustInsert(t, d, rows[1:2])
	if err := d.flusher.wait(); !errors.Is(err, errUnsynced) {
		t.Fatalf("flush: %v, want %v", err, errUnsynced)
	}
	if err := os.Rename(aside, PayloadDir(name)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := d.Insert(t.Context(), rows[2:]); !errors.Is(err, errUnsynced) {
			t.Fatalf("insert: %v, want %v", err, errUnsynced)
		}
	}
	if err := d.Checkpoint(t.Context()); !errors.Is(err, errUnsynced) {
		t.Fatalf("checkpoint: %v, want %v", err, errUnsynced)
	}
	if err := d.Close(); !errors.Is(err, errUnsynced) {
		t.Fatalf("close: %v, want %v", err, errUnsynced)
	}
	requireWhole(t, name, rows[:2])
}

// Another failure of a flush is the error of one insert; then it is tried again.
func TestFailedCheckpointIsToldOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{inline: 1, pending: 1}, name)
	keeper := d.keeper
	closed, err := pool("file:"+name, 1, Options{}.withDefaults(name).file())
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	d.keeper = closed
	rows := placed(3)
	mustInsert(t, d, rows[:1])
	if err := d.flusher.wait(); err == nil {
		t.Fatal("flush: no error")
	}
	d.keeper = keeper
	if _, err := d.Insert(t.Context(), rows[1:]); err == nil || !strings.Contains(err.Error(), "checkpoint") {
		t.Fatalf("insert: %v, want the checkpoint's error", err)
	}
	mustInsert(t, d, rows[1:])
}

// Inserts that are far ahead of a flush wait for its end, or for their context's.
func TestInsertsWaitForAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flusher
		begin := func(n int64) bool { begun, whole := f.begin(n, 10, 10); return begun && whole }
		if begin(9) || !begin(1) {
			t.Fatal("a flush begins at 10 bytes")
		}
		if begin(40) {
			t.Fatal("a flush began beside another")
		}
		if err := f.admit(t.Context(), 41); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := f.admit(ctx, 40); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want %v", err, context.Canceled)
		}
		admitted := make(chan error, 1)
		go func() { admitted <- f.admit(t.Context(), 40) }()
		synctest.Wait()
		if len(admitted) > 0 {
			t.Fatal("an insert did not wait")
		}
		f.end(nil)
		if err := <-admitted; err != nil {
			t.Fatal(err)
		}
		if f.pending != 40 || !begin(0) {
			t.Fatalf("%d bytes are pending, want the 40 inserted meanwhile", f.pending)
		}
		f.end(fmt.Errorf("a %w", errUnsynced))
		if err := f.wait(); !errors.Is(err, errUnsynced) {
			t.Fatalf("got %v, want %v", err, errUnsynced)
		}
	})
}

// A large batch begins a block and is written around the page cache; the small one
// behind it is not. After a crash both are whole, and what follows them is cut off.
func TestLargeBatches(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{}, name)
	var rows []archive.Row
	for i := range 30 {
		rows = append(rows, archivetest.Numbered(uint64(i), int64(i), 30_001+i))
	}
	mustInsert(t, d, rows[:1])
	mustInsert(t, d, rows[1:12])
	mustInsert(t, d, rows[12:13])
	if fresh, err := d.Insert(t.Context(), rows[8:28]); err != nil || slices.Contains(fresh[5:], false) || slices.Contains(fresh[:5], true) {
		t.Fatalf("rows of which some are there: %v, %v", fresh, err)
	}
	mustInsert(t, d, rows[28:])
	file := filepath.Join(PayloadDir(name), "00000001")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	to := crash(t, name, append(data, make([]byte, 100_000)...))
	requireWhole(t, to, rows)
	requireWhole(t, name, rows)
	if info, err := os.Stat(filepath.Join(PayloadDir(to), "00000001")); err != nil || info.Size() > int64(len(data)) {
		t.Errorf("the tail: %v, %v, want at most %d bytes", info.Size(), err, len(data))
	}
}
