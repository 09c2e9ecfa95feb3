package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/scale"
)

// archiveRow is the row whose events are inserts: into an archive on disk that
// holds more and more rows.
const archiveRow = "archive"

// What the row of the archive inserts.
const (
	archivePath    = "sqlite:FILE"
	archiveBatch   = 32   // rows a transaction
	archivePayload = 1000 // bytes
	archiveLast    = 10_000
	archiveChunk   = 100 * archiveBatch // rows made at once where nothing is measured
)

// archiveMarks returns at how many rows the cost of the last inserts is measured.
func archiveMarks(quick bool) []int {
	if quick {
		return []int{1000, 3000, 10_000, 30_000}
	}
	return []int{10_000, 30_000, 100_000, 300_000, 1_000_000}
}

// archiveMeasured returns how many inserts before each mark are measured.
func archiveMeasured(quick bool) int {
	if quick {
		return archiveLast / 10
	}
	return archiveLast
}

// measureArchive fills databases one after the other.
func (s *scaling) measureArchive(ctx context.Context) error {
	marks := archiveMarks(s.options.Quick)
	runs := make(map[int][]scale.Run)
	for number := 1; number <= s.options.Runs; number++ {
		if err := s.fillArchive(ctx, number, func(mark int, run scale.Run) { runs[mark] = append(runs[mark], run) }); err != nil {
			return err
		}
	}
	s.result.Rows = append(s.result.Rows, scale.Row{
		Name: archiveRow, Unit: "rows in the archive", Event: "insert",
		Held:   fmt.Sprintf("the last %d inserts of 1 kB, %d a transaction, on disk", archiveMeasured(s.options.Quick), archiveBatch),
		Series: []scale.Series{{Path: archivePath, Points: points(marks, runs)}},
	})
	return nil
}

// fillArchive fills one database, and tells what the last inserts before each
// mark cost.
func (s *scaling) fillArchive(ctx context.Context, number int, tell func(mark int, run scale.Run)) (err error) {
	folder, err := os.MkdirTemp(s.options.Folder, "scale-*")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	backend, err := sqlite.Open(ctx, filepath.Join(folder, "archive.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	filler := filler{backend: backend, seed: s.options.Seed, base: time.Now()}
	for _, mark := range archiveMarks(s.options.Quick) {
		s.progress.Step(fmt.Sprintf("%s %d, run %d", archiveRow, mark, number))
		if err := filler.fill(ctx, mark-archiveMeasured(s.options.Quick)); err != nil {
			return err
		}
		run, err := filler.measure(ctx, mark)
		if err != nil {
			return err
		}
		tell(mark, run)
	}
	return nil
}

// A filler inserts rows of rising numbers.
type filler struct {
	backend archive.Backend
	seed    uint64
	base    time.Time // timestamp of row 0
	held    int       // rows inserted so far
}

// rows returns the rows up to number end.
func (f *filler) rows(end int) []archive.Row {
	w := NewWorkload(f.seed, oneSize(archivePayload), PubsubTopic, max(0, end-f.held), f.base, f.held)
	return rowsOf(w.Messages)
}

// fill inserts until end rows are held, and measures nothing.
func (f *filler) fill(ctx context.Context, end int) error {
	for f.held < end {
		if err := f.insert(ctx, f.rows(min(end, f.held+archiveChunk))); err != nil {
			return err
		}
	}
	return nil
}

// measure inserts until end rows are held.
func (f *filler) measure(ctx context.Context, end int) (scale.Run, error) {
	rows := f.rows(end)
	meter, run := NewMeter(0), verdict.Run{Messages: len(rows)}
	Warm(fixedHeap)
	meter.Start()
	err := f.insert(ctx, rows)
	meter.Stop(&run)
	runtime.KeepAlive(rows) // else the live heap falls by what was there before
	return scaleRun(run, nil), err
}

// insert inserts rows, each of which must be new.
func (f *filler) insert(ctx context.Context, rows []archive.Row) error {
	for batch := range slices.Chunk(rows, archiveBatch) {
		fresh, err := f.backend.Insert(ctx, batch)
		if err != nil {
			return err
		}
		if slices.Contains(fresh, false) {
			return fmt.Errorf("of rows %d to %d not all were new", f.held, f.held+len(batch)-1)
		}
		f.held += len(batch)
	}
	return nil
}
