package sqlite

import (
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
)

// A model is what a database is to hold.
type model struct {
	*testing.T

	o    Options
	dir  string
	file int // number of the file in dir; 0: in memory
	next uint64

	d    *Database
	rows []archive.Row // in the order of their keys
	gone []archive.Row // deleted, to be inserted again
}

// Inserts, deletes, checkpoints, closed and killed processes in any order: what is
// there is what the model says, and no segment is left that holds nothing. Payloads
// lie in rows and in segments of a few.
func TestModel(t *testing.T) {
	o := Options{inline: 12, segment: 60, pending: 100, epoch: 4, pragmas: []string{"synchronous(OFF)"}} // no power is lost
	rapid.Check(t, func(rt *rapid.T) {
		file := rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(rt, "file") // which takes ten times as long
		m := &model{T: t, o: o, dir: t.TempDir(), file: file}
		m.open()
		defer func() { m.close(rt) }()
		rt.Repeat(map[string]func(*rapid.T){
			"insert":     m.insert,
			"delete":     m.delete,
			"checkpoint": m.checkpoint,
			"reopen":     m.reopen,
			"kill":       m.kill,
			"":           func(*rapid.T) { requireHolds(m, m.d, m.rows) },
		})
	})
}

func (m *model) name() string {
	if m.file == 0 {
		return Memory
	}
	return nameIn(m.dir, m.file)
}

func (m *model) open() {
	d, err := m.o.Open(m.Context(), m.name())
	if err != nil {
		m.Fatal(err)
	}
	if m.d = d; d.Lost() != 0 {
		m.Fatalf("lost %d rows", d.Lost())
	}
	m.requireDropped()
}

func (m *model) close(t *rapid.T) {
	if err := m.d.Close(); err != nil {
		t.Fatal(err)
	}
}

func (m *model) insert(t *rapid.T) {
	rows := drawnFrom(t, m.gone)
	for range rapid.IntRange(0, 6).Draw(t, "fresh") {
		m.next++
		stamp := int64(rapid.IntRange(0, 20).Draw(t, "timestamp"))
		rows = append(rows, archivetest.Numbered(m.next, stamp, rapid.IntRange(8, 40).Draw(t, "size")))
	}
	n := len(rows)
	rows = append(rows, drawnFrom(t, m.rows)...)
	fresh, err := m.d.Insert(m.Context(), rows)
	if err != nil || slices.Contains(fresh[:n], false) || slices.Contains(fresh[n:], true) {
		t.Fatalf("insert: %v, %v, want the first %d to be new", fresh, err, n)
	}
	m.rows = sorted(append(m.rows, rows[:n]...))
	m.gone = without(m.gone, rows)
}

func (m *model) delete(t *rapid.T) {
	rows := drawnFrom(t, m.rows)
	if rapid.Bool().Draw(t, "oldest") {
		rows = m.rows[:len(rows)]
	}
	rows = slices.Concat(rows, drawnFrom(t, m.gone)) // those are not there
	if err := m.d.Delete(m.Context(), keysOf(rows)); err != nil {
		t.Fatal(err)
	}
	m.gone = append(without(m.gone, rows), rows...)
	m.rows = without(m.rows, rows)
	m.requireDropped()
}

func (m *model) checkpoint(t *rapid.T) {
	if err := m.d.Checkpoint(m.Context()); err != nil {
		t.Fatal(err)
	}
}

func (m *model) reopen(t *rapid.T) {
	if m.file > 0 {
		m.close(t)
		m.open()
	}
}

// kill goes on with a copy of what is there, beside which the other is closed.
func (m *model) kill(t *rapid.T) {
	if m.file == 0 {
		return
	}
	if err := m.d.flusher.wait(); err != nil {
		t.Fatal(err)
	}
	from := m.name()
	m.file++
	copyFiles(m, from, m.name())
	m.close(t)
	m.open()
	if err := os.RemoveAll(PayloadDir(from)); err != nil {
		t.Fatal(err)
	}
}

// requireDropped fails if something is kept that holds nothing, but the last.
func (m *model) requireDropped() {
	if m.file == 0 {
		return
	}
	known, files := held(m, m.d)
	empty, err := integers(m.Context(), m.d.reader, `SELECT number FROM segments s WHERE number > 0
		AND NOT EXISTS (SELECT 1 FROM messages WHERE segment = s.number)
		UNION SELECT number FROM epochs e WHERE NOT EXISTS (SELECT 1 FROM messages WHERE epoch = e.number) AND number > 0`)
	if err != nil || len(empty) > 2 || !slices.Equal(known, files) {
		m.Fatalf("segments %v, files %v, empty %v, %v", known, files, empty, err)
	}
}

func drawnFrom(t *rapid.T, rows []archive.Row) (drawn []archive.Row) {
	for _, r := range rows {
		if rapid.IntRange(0, 3).Draw(t, "take") == 0 {
			drawn = append(drawn, r)
		}
	}
	return drawn
}

func without(rows, others []archive.Row) (left []archive.Row) {
	for _, r := range rows {
		if !slices.ContainsFunc(others, func(o archive.Row) bool { return o.Key == r.Key }) {
			left = append(left, r)
		}
	}
	return left
}

func sorted(rows []archive.Row) []archive.Row {
	slices.SortFunc(rows, func(a, b archive.Row) int { return a.Key.Compare(b.Key) })
	return rows
}
