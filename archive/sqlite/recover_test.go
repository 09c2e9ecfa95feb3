package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
)

// A loss of power may take the name of a segment that was begun and not
// synchronised. The rows in it are lost, and the file goes on.
func TestBegunSegmentThatIsGone(t *testing.T) {
	rows := placed(8) // 8 to 11 bytes, in their rows; 12+13 in segment 1, 14+15 in segment 2
	for called, c := range map[string]struct {
		gone string
		kept int
		fill func(t *testing.T, d *Database)
	}{
		"the first": {"00000001", 4, func(t *testing.T, d *Database) { mustInsert(t, d, rows[:6]) }},
		"a later one": {"00000002", 6, func(t *testing.T, d *Database) {
			mustInsert(t, d, rows[:6])
			if err := d.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			mustInsert(t, d, rows[6:])
		}},
		"without a row": {"00000001", 4, func(t *testing.T, d *Database) {
			mustInsert(t, d, rows[:6])
			mustDelete(t, d, rows[4:6])
		}},
	} {
		t.Run(called, func(t *testing.T) {
			dir := t.TempDir()
			before, name := nameIn(dir, 1), nameIn(dir, 2)
			c.fill(t, openFile(t, segmented, before))
			copyFiles(t, before, name)
			if err := os.Remove(filepath.Join(PayloadDir(name), c.gone)); err != nil {
				t.Fatal(err)
			}
			requireGoesOn(t, name, rows[:c.kept])
		})
	}
}

// segmented keeps payloads under 12 bytes in rows, and two or three larger ones in
// a segment.
var segmented = Options{inline: 12, segment: 20}

// requireGoesOn opens a file twice that holds rows, and inserts more of each kind.
func requireGoesOn(t *testing.T, name string, rows []archive.Row) {
	t.Helper()
	d, err := segmented.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	requireHolds(t, d, rows)
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Error(err)
	}
	more := []archive.Row{archivetest.Numbered(100, 100, 8), archivetest.Numbered(101, 101, 30)}
	for _, r := range more {
		if _, err := d.Insert(t.Context(), []archive.Row{r}); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(d.Checkpoint(t.Context()), d.Close()); err != nil {
		t.Error(err)
	}
	d = openFile(t, segmented, name)
	requireHolds(t, d, slices.Concat(rows, more))
	if d.Lost() != 0 {
		t.Errorf("lost %d rows afterwards", d.Lost())
	}
}
