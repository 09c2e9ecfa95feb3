package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/segments"
	"github.com/msgpath/msgpath/message/pb"
)

// pipe makes a segment that Append waits for until it is read.
func pipe(t *testing.T, folder, segment string) (name string) {
	t.Helper()
	name = filepath.Join(folder, segment)
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// mustRead opens a pipe for reading, which returns when it is open for writing, and
// fails if the insert ends before that.
func mustRead(t *testing.T, name string, end chan error) {
	t.Helper()
	opened := make(chan error, 1)
	go func() {
		f, err := os.Open(name)
		t.Cleanup(func() { _ = f.Close() })
		opened <- err
	}()
	select {
	case err := <-opened:
		if err != nil {
			t.Fatal(err)
		}
	case err := <-end:
		if err != nil {
			t.Fatalf("the insert ended: %v", err)
		}
		end <- err // it was faster than this goroutine
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
	}
}

// An insert whose context ends while it writes payloads keeps the write lock, and
// so its place, to the end, which is that of an insert that worked.
func TestCancelledInsertKeepsTheLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{inline: -1, segment: -1}, name) // a segment for each payload, from 2 on
	folder := PayloadDir(name)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	first, second := pipe(t, folder, "00000002"), pipe(t, folder, "00000003")
	var rows []archive.Row
	for i := range 2 { // without a payload: a pipe takes nothing at an offset
		m := &pb.WakuMessage{ContentTopic: "/test/1/empty/proto", Timestamp: proto.Int64(int64(i + 1))}
		rows = append(rows, archivetest.NewRow(archivetest.Topic, m))
	}
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { _, err := d.Insert(ctx, rows); end <- err }()

	mustRead(t, first, end) // Append has begun
	cancel()
	if err := lock(t, name); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("another got the lock: %v", err)
	}
	mustRead(t, second, end)
	if err := <-end; err != nil {
		t.Errorf("insert: %v", err)
	}
	if err := lock(t, name); err != nil {
		t.Errorf("the lock afterwards: %v", err)
	}
	if err := errors.Join(os.Remove(first), os.Remove(second)); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{filepath.Join(folder, "00000001"), first, second} { // Close synchronises them
		if err := os.WriteFile(n, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// lock takes the write lock as another process would that waits for 100 ms.
func lock(t *testing.T, name string) error {
	t.Helper()
	other, err := pool(fileURI(name), 1, url.Values{"_txlock": {"immediate"}, "_busy_timeout": {"100"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		return err
	}
	return tx.Rollback()
}

// A context that ended before anything was written ends the insert.
func TestCancelledInsertWritesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{inline: 1}, name)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := batch{Database: d, runs: []run{{at: segments.Place{Segment: 1}, payloads: [][]byte{{1}}}}}
	if err := b.write(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(PayloadDir(name)); err == nil {
		t.Error("something was written")
	}
}

// Whoever synchronises, inserts end where the disk has refused.
func TestAnyFailedSyncEndsInserts(t *testing.T) {
	for called, c := range map[string]struct {
		o   Options
		try func(d *Database, row archive.Row) error
	}{
		"checkpoint": {Options{inline: 1}, func(d *Database, row archive.Row) error {
			_, err := d.Insert(t.Context(), []archive.Row{row})
			return errors.Join(err, d.Checkpoint(t.Context()))
		}},
		"part of a flush": {Options{inline: 1, part: 8}, func(d *Database, row archive.Row) error {
			_, err := d.Insert(t.Context(), []archive.Row{row})
			return errors.Join(err, d.flusher.wait())
		}},
		"each": {Options{inline: 1, Sync: SyncEach}, func(d *Database, row archive.Row) error {
			_, err := d.Insert(t.Context(), []archive.Row{row})
			return err
		}},
	} {
		t.Run(called, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "archive.db")
			d, err := c.o.Open(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			rows := placed(3)
			mustInsert(t, d, rows[:1])
			if err := d.flusher.wait(); err != nil {
				t.Fatal(err)
			}
			if p, err := synced(t.Context(), d.reader); err != nil || p.Offset != 0 {
				t.Errorf("synchronised to %+v, %v: want that noted by a flush alone", p, err)
			}
			aside := name + ".aside"
			if err := os.Rename(PayloadDir(name), aside); err != nil {
				t.Fatal(err)
			}
			if err := c.try(d, rows[1]); !errors.Is(err, errUnsynced) {
				t.Errorf("got %v, want %v", err, errUnsynced)
			}
			if err := os.Rename(aside, PayloadDir(name)); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Insert(t.Context(), rows[2:]); !errors.Is(err, errUnsynced) {
				t.Errorf("insert: %v, want %v", err, errUnsynced)
			}
			if err := d.flush(t.Context(), "PASSIVE"); !errors.Is(err, errUnsynced) {
				t.Errorf("a flush that had begun: %v, want %v", err, errUnsynced)
			}
			for _, f := range []func() error{func() error { return d.Checkpoint(t.Context()) }, d.Close} {
				if err := f(); !errors.Is(err, errUnsynced) {
					t.Errorf("got %v, want %v", err, errUnsynced)
				}
			}
			requireWhole(t, name, rows[:1])
		})
	}
}

// A log that somebody still reads is not moved as Checkpoint says it is; beside the
// inserts what can be moved is enough.
func TestCheckpointOfALogInUse(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{inline: 1, pragmas: []string{"busy_timeout(1)"}}, name)
	rows := placed(2)
	mustInsert(t, d, rows[:1])
	reader, err := d.reader.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.QueryRow("SELECT count(*) FROM messages").Scan(new(int)); err != nil {
		t.Fatal(err)
	}
	mustInsert(t, d, rows[1:])
	if err := d.Checkpoint(t.Context()); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("checkpoint: %v, want that the log is in use", err)
	}
	if err := d.flush(t.Context(), "PASSIVE"); err != nil {
		t.Errorf("flush: %v", err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Error(err)
	}
}

// Checkpoint waits for another connection that moves the log, for which SQLite
// does not wait.
func TestCheckpointBesideAnother(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d, other := openFile(t, Options{inline: 1}, name), openFile(t, Options{inline: 1}, name)
	mustInsert(t, d, placed(1))
	reader, err := d.reader.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.QueryRow("SELECT count(*) FROM messages").Scan(new(int)); err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- other.Checkpoint(t.Context()) }() // waits for the reader
	for pages := 0; pages >= 0; {
		if err := d.keeper.QueryRow("PRAGMA wal_checkpoint(PASSIVE)").Scan(new(int), &pages, new(int)); err != nil {
			t.Fatal(err)
		}
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = reader.Rollback() })
	if err := errors.Join(d.Checkpoint(t.Context()), <-end); err != nil {
		t.Error(err)
	}
}

// Payloads are synchronised in parts, and the log is moved after all of them. What
// comes together beside either is not forgotten, and an error of a flush is not by
// the parts after it.
func TestFlushInParts(t *testing.T) {
	var f flusher
	var did []string
	step := func(n int64, end error) {
		begun, whole := f.begin(n, 10, 30)
		did = append(did, fmt.Sprint(begun, whole))
		if begun {
			f.end(end)
		}
	}
	step(9, nil)
	step(1, nil)  // 10: a part
	step(19, nil) // 29: a part
	if begun, whole := f.begin(30, 10, 30); !begun || !whole {
		t.Fatal("no flush began after 59 bytes")
	}
	step(25, nil) // beside it
	f.end(errors.New("for a while"))
	step(1, nil) // 26: a part
	if err := f.admit(t.Context(), 1000); err == nil || err.Error() != "for a while" {
		t.Errorf("got %v, want the error of the flush", err)
	}
	step(10, errors.New("of a flush")) // 36
	step(30, nil)                      // a flush that worked does it again
	if err := f.admit(t.Context(), 1000); err != nil {
		t.Errorf("got %v, want none", err)
	}
	step(29, nil) // a part
	if begun, whole := f.begin(1, 30, 30); !begun || !whole {
		t.Error("small rows behind 29 bytes of large ones began no flush at 30")
	}
	f.end(nil)
	want := []string{"false false", "true false", "true false", "false false", "true false", "true true", "true true", "true false"}
	if !slices.Equal(did, want) {
		t.Errorf("got %q, want %q", did, want)
	}
}

// Only large payloads that are not synchronised anyway are synchronised in parts.
func TestWhatIsSynchronisedInParts(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want int64 // bytes pending
	}{
		"large":                   {Options{inline: 1, part: 8}, 0},
		"small":                   {Options{inline: 100, part: 8}, 8},
		"synchronised at inserts": {Options{inline: 1, part: 8, Sync: SyncEach}, 8},
	} {
		t.Run(name, func(t *testing.T) {
			d := openFile(t, c.o, filepath.Join(t.TempDir(), "archive.db"))
			mustInsert(t, d, placed(1))
			if err := d.flusher.wait(); err != nil || d.flusher.pending != c.want {
				t.Errorf("%d bytes are pending, want %d (%v)", d.flusher.pending, c.want, err)
			}
		})
	}
}

// A flush that failed for a while does not keep Checkpoint and Close from flushing.
func TestCheckpointAfterAFailedFlush(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	d := openFile(t, Options{inline: 1}, name)
	rows := placed(2)
	mustInsert(t, d, rows[:1])
	if _, whole := d.flusher.begin(0, 0, 0); !whole {
		t.Fatal("no flush began")
	}
	d.flusher.end(errors.New("for a while"))
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Errorf("checkpoint: %v", err)
	}
	if p, err := synced(t.Context(), d.reader); err != nil || p.Offset != 8 {
		t.Errorf("synchronised to %+v, %v", p, err)
	}
	mustInsert(t, d, rows[1:])
}
