package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/study"
)

// ArchiveStudyOptions say which archives are measured, and how far.
type ArchiveStudyOptions struct {
	Backends []string // names as in node.Options.Archive; the FILE of sqlite:FILE is made in Folder and removed, a database of PostgreSQL is given a schema for a while
	Batches  []int    // rows a transaction
	Messages int      // of 1 kB, for each backend and batch; of the workload a twentieth
	Marks    []int    // rows of 1 kB in the archive at which the cost of an insert is measured, ascending
	Pruned   int      // rows that the retention deletes while messages are stored; 0: none
	Runs     int      // of each rate, interleaved
	Seed     uint64
	Folder   string // for the databases; "": that of temporary files

	CommandLine []string  // told in the result, without the URLs of databases
	Progress    io.Writer // shown on it if it is a terminal; nil: not shown
}

// DefaultArchiveStudyOptions returns the options of the whole study, on the backends
// that need nothing installed.
func DefaultArchiveStudyOptions() ArchiveStudyOptions {
	return ArchiveStudyOptions{
		Backends: []string{"memory", "sqlite::memory:", archivePath},
		Batches:  []int{1, 32, 256}, Messages: 20_000, Marks: []int{10_000, 100_000, 1_000_000}, Pruned: 100_000,
		Runs: 3, Seed: DefaultSeed,
	}
}

// Validate reports everything wrong with o.
func (o ArchiveStudyOptions) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("bench: archive: options: "+format, args...))
	}
	if len(o.Backends) == 0 {
		bad("no backend")
	}
	for _, name := range o.Backends {
		if _, err := node.ArchiveFile(name); err != nil {
			bad("%w", err)
		} else if _, err := contenderOf(name); err != nil {
			bad("%w", err)
		}
	}
	if len(o.Batches) == 0 || slices.Min(o.Batches) < 1 {
		bad("batches %v: want at least one, of 1 row or more", o.Batches)
	}
	if o.Messages < 100 || o.Runs < 1 || o.Pruned < 0 {
		bad("messages %d, runs %d, pruned %d: want at least 100, 1 and 0", o.Messages, o.Runs, o.Pruned)
	}
	if !slices.IsSorted(o.Marks) || len(slices.Compact(slices.Clone(o.Marks))) < len(o.Marks) || len(o.Marks) > 0 && o.Marks[0] < 1000 {
		bad("marks %v: want ascending numbers of rows, from 1000", o.Marks)
	}
	return errors.Join(errs...)
}

// archiveStudy is one study at work.
type archiveStudy struct {
	options    ArchiveStudyOptions
	contenders []contender
	progress   *Progress
	base       time.Time // of the first row's timestamp
}

// ArchiveStudy measures inserts into archives, each beside the bare driver under it
// that does the same inserts into a table of the same columns. Once ctx ends it
// returns ctx's error.
func ArchiveStudy(ctx context.Context, o ArchiveStudyOptions) (s study.Study, err error) {
	if err := o.Validate(); err != nil {
		return s, err
	}
	a := archiveStudy{options: o, base: time.Now()}
	for _, name := range o.Backends {
		c, err := contenderOf(name)
		if err != nil {
			return s, err
		}
		a.contenders = append(a.contenders, c)
	}
	s = study.Study{Name: "archive", Title: "What it costs to archive a message", About: archiveAbout(o), Notes: archiveNotes}
	if s.Environment, err = ReadEnvironment(withoutURLs(o.CommandLine), "error"); err != nil {
		return s, err
	}
	a.progress = NewProgress(o.Progress, a.steps())
	defer a.progress.Done()
	for _, measure := range []func(context.Context) (study.Table, error){a.rates, a.growth, a.retention} {
		table, err := measure(ctx)
		if err != nil {
			return s, err
		}
		if len(table.Rows) > 0 {
			s.Tables = append(s.Tables, table)
		}
	}
	return s, nil
}

// databaseURL is what may hold a password.
var databaseURL = regexp.MustCompile(`postgres(ql)?://[^,\s]*`)

func withoutURLs(arguments []string) []string {
	var shown []string
	for _, a := range arguments {
		shown = append(shown, databaseURL.ReplaceAllString(a, "postgres://…"))
	}
	return shown
}

func archiveAbout(o ArchiveStudyOptions) []string {
	return []string{
		fmt.Sprintf("Rows and their keys are made before the time begins: nothing is hashed or decoded in it. A batch is one transaction. The bare driver is the database's own Go driver with a prepared insert into a table of the same columns and keys, at the same batch and durability, or a Go map for memory. Rates are medians of %d runs, in which an archive and its bare driver take turns; the growth of an archive is that of one filling, and each of its figures the mean of the last half of the rows, 100 thousand at most.", o.Runs),
		"The time of inserts into a file ends when everything is in its last place, payloads synchronised and the log moved into the file, for both sides; page size, synchronisation and the length of the log are the same.",
	}
}

var archiveNotes = []string{
	"Beyond the bare driver an archive tells for each row whether it was new, keeps count of how much is stored, and, on disk, writes payloads from 4 KiB on once, outside of SQLite.",
	"memory, and sqlite::memory: from 4 KiB on, keep payloads as they came: their MB/s are of messages that are kept, not of bytes that are moved.",
	"Driver, database and benchmark share the machine.",
}

func (a *archiveStudy) steps() int {
	both := 2 * a.options.Runs * len(a.contenders)
	return both*len(a.options.Batches)*len(archiveProfiles) + len(a.contenders)*(2*len(a.options.Marks)+1)
}

// archiveProfiles are the messages of the first table.
var archiveProfiles = []struct {
	name    string
	profile Profile
	share   int // of ArchiveStudyOptions.Messages: one in so many
}{
	{"1 kB", oneSize(archivePayload), 1},
	{"10/50/150 kB", DefaultProfile(), 20},
}

// workload returns n messages of a profile, from a number on.
func (a *archiveStudy) workload(p Profile, from, n int) Workload {
	return NewWorkload(a.options.Seed, p, PubsubTopic, n, a.base, from)
}

// small returns n rows of 1 kB, from a number on.
func (a *archiveStudy) small(from, n int) []archive.Row {
	return rowsOf(a.workload(oneSize(archivePayload), from, n).Messages)
}

// in calls use with a new inserter, and ends that.
func (a *archiveStudy) in(ctx context.Context, open opener, use func(inserter) error) (err error) {
	folder, err := os.MkdirTemp(a.options.Folder, "archive-*")
	if err != nil {
		return fmt.Errorf("bench: archive: make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	i, err := open(ctx, folder)
	if err != nil {
		return fmt.Errorf("bench: archive: %w", err)
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	return use(i)
}

// insertAndSettle inserts rows in batches, and returns the time of each, with that of
// all that was put off.
func insertAndSettle(ctx context.Context, i inserter, rows []archive.Row, batch int) (time.Duration, error) {
	start := time.Now()
	err := insert(ctx, i, rows, batch)
	if err == nil {
		err = i.settle(ctx)
	}
	return time.Since(start) / time.Duration(len(rows)), err
}

// insert inserts rows in batches.
func insert(ctx context.Context, i inserter, rows []archive.Row, batch int) error {
	for part := range slices.Chunk(rows, batch) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := i.insert(context.WithoutCancel(ctx), part); err != nil { // as an archive inserts
			return err
		}
	}
	return nil
}

// rates returns the table of inserts into an empty archive.
func (a *archiveStudy) rates(ctx context.Context) (study.Table, error) {
	t := study.Table{
		Title: "Inserts into an empty archive",
		Columns: []study.Column{
			{Name: "payload"},
			{Name: "archive"},
			{Name: "batch"},
			{Name: "messages/s"},
			{Name: "MB/s", Digits: 1},
			{Name: "bare driver"},
			{Name: "archive / bare", Digits: 2},
		},
	}
	for _, p := range archiveProfiles {
		w := a.workload(p.profile, 0, a.options.Messages/p.share)
		rows, bytes := rowsOf(w.Messages), float64(w.PayloadBytes())/float64(len(w.Messages))
		for _, c := range a.contenders {
			for _, batch := range a.options.Batches {
				own, bare, err := a.pair(ctx, c, p.name, rows, batch)
				if err != nil {
					return t, err
				}
				t.Rows = append(t.Rows, study.Row{
					p.name, c.name, batch, int(1 / own.Seconds()), bytes / own.Seconds() / 1e6, int(1 / bare.Seconds()), bare.Seconds() / own.Seconds(),
				})
			}
		}
	}
	return t, nil
}

// pair returns the median time of an insert into an archive and by its bare driver.
func (a *archiveStudy) pair(ctx context.Context, c contender, payload string, rows []archive.Row, batch int) (own, bare time.Duration, err error) {
	var times [2][]float64 // ns
	for number := range a.options.Runs {
		for side, open := range []opener{c.archive, c.bare} {
			a.progress.Step(fmt.Sprintf("%s, %s, batch %d, run %d, %s", c.name, payload, batch, number+1, sides[side]))
			err := a.in(ctx, open, func(i inserter) error {
				runtime.GC() // what was there before is not charged
				took, err := insertAndSettle(ctx, i, rows, batch)
				times[side] = append(times[side], float64(took))
				return err
			})
			if err != nil {
				return 0, 0, err
			}
		}
	}
	return time.Duration(verdict.Median(times[0])), time.Duration(verdict.Median(times[1])), nil
}

var sides = []string{"archive", "bare driver"}

// growthBatch is the rows of a transaction where the archive grows.
const growthBatch = archiveBatch

// growth returns the table of the cost of an insert into archives of many rows.
func (a *archiveStudy) growth(ctx context.Context) (study.Table, error) {
	t := study.Table{
		Title:   fmt.Sprintf("An insert of 1 kB into an archive of many rows, batch %d", growthBatch),
		Columns: []study.Column{{Name: "archive"}, {Name: "rows"}, {Name: "µs an insert", Digits: 1}, {Name: "bare driver, µs", Digits: 1}, {Name: "to that at the first", Digits: 2}},
	}
	if len(a.options.Marks) == 0 {
		return t, nil
	}
	for _, c := range a.contenders {
		own, bare, err := a.grow(ctx, c)
		if err != nil {
			return t, err
		}
		for i, mark := range a.options.Marks {
			t.Rows = append(t.Rows, study.Row{c.name, mark, micros(own[i]), micros(bare[i]), own[i].Seconds() / own[0].Seconds()})
		}
	}
	return t, nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// grow fills an archive and its bare driver once, and returns the time of an insert
// before each mark: of the last half of its rows, 100 thousand at most.
func (a *archiveStudy) grow(ctx context.Context, c contender) (own, bare []time.Duration, err error) {
	var times [2][]time.Duration
	for side, open := range []opener{c.archive, c.bare} {
		err := a.in(ctx, open, func(i inserter) error {
			held := 0
			for _, mark := range a.options.Marks {
				a.progress.Step(fmt.Sprintf("%s, %d rows, %s", c.name, mark, sides[side]))
				from := max(held, mark-min(mark/2, 100_000))
				if err := a.fill(ctx, i, held, from); err != nil {
					return err
				}
				last := a.small(from, mark-from)
				runtime.GC()
				took, err := insertAndSettle(ctx, i, last, growthBatch)
				if err != nil {
					return err
				}
				times[side], held = append(times[side], took), mark
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return times[0], times[1], nil
}

// fill inserts the rows of 1 kB from one number to another.
func (a *archiveStudy) fill(ctx context.Context, i inserter, from, to int) error {
	for ; from < to; from += archiveChunk {
		if err := insert(ctx, i, a.small(from, min(archiveChunk, to-from)), growthBatch); err != nil {
			return err
		}
	}
	return nil
}
