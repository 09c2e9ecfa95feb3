package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/segments"
)

// oldFile makes a file of an earlier version.
func oldFile(t *testing.T, version int64) (old *Database, name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "archive.db")
	old, err := connect(name, Options{}.withDefaults(name))
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, old.writer, files, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return old, name
}

// A file of the schema before there were segments opens, and has what it had.
func TestFileOfAnEarlierVersion(t *testing.T) {
	old, name := oldFile(t, 1)
	row := archivetest.Numbered(1, 7, 50_000)
	if _, err := old.writer.ExecContext(t.Context(), `INSERT INTO messages (timestamp, hash, topic, content_topic,
		stamped, payload) VALUES (?, ?, ?, ?, ?, ?)`, row.Key.Timestamp, row.Key.Hash[:], row.Topic,
		row.Message.GetContentTopic(), true, row.Message.GetPayload()); err != nil {
		t.Fatal(err)
	}
	if err := old.release(); err != nil {
		t.Fatal(err)
	}
	another := archivetest.Numbered(2, 8, 50_000)
	d := openFile(t, Options{}, name)
	requireHolds(t, d, []archive.Row{row})
	mustInsert(t, d, []archive.Row{another})
	requireHolds(t, d, []archive.Row{row, another})
	requireWhole(t, name, []archive.Row{row, another})
}

// One of the schema before its size was kept opens too, also after a crash: rows
// whose payloads were lost do not count, and the next payload goes behind the last.
func TestFileWithoutItsSize(t *testing.T) {
	old, name := oldFile(t, 2)
	rows := placed(6)
	var data []byte
	for i, r := range rows {
		payload := r.Message.GetPayload()
		args := []any{r.Key.Timestamp, r.Key.Hash[:], r.Topic, r.Message.GetContentTopic(), true, payload, nil, nil, nil, nil}
		if i > 0 {
			args = append(args[:5], []byte{}, 1, len(data), len(payload), segments.Checksum(payload))
			data = append(data, payload...)
		}
		if _, err := old.writer.ExecContext(t.Context(), `INSERT INTO messages (timestamp, hash, topic, content_topic,
			stamped, payload, segment, "offset", length, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := setSynced(t.Context(), old.writer, segments.Place{Segment: 1, Offset: 9}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(PayloadDir(name), 0o755),
		os.WriteFile(filepath.Join(PayloadDir(name), "00000001"), data[:9+10+11], 0o600), old.release()); err != nil {
		t.Fatal(err)
	}
	d := openFile(t, tiny, name)
	if d.Lost() != 2 {
		t.Fatalf("lost %d rows, want 2", d.Lost())
	}
	requireHolds(t, d, rows[:4])
	mustInsert(t, d, rows[4:])
	requireHolds(t, d, rows)
	requireSegments(t, d, 1, 2)
	mustDelete(t, d, rows[:4])
	requireHolds(t, d, rows[4:])
	requireSegments(t, d, 2)
}
