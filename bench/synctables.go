package bench

import (
	"fmt"
	"strings"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/study"
)

// referenceSize is how many ids [syncReference] is about.
const referenceSize = 1_000_000

// syncReference is what the reference implementation in C++ (hoytech/negentropy)
// took, as it was recorded on a machine of the same kind; no run of this program
// measured it. What was not recorded is nil.
var syncReference = map[syncDifference]struct {
	rounds        int
	bytes, millis any
}{
	{scattered, 0, 0}:      {1, 346, nil},
	{scattered, 10_000, 0}: {3, 10_400_000, 1530.0},
	{newest, syncGap, 0}:   {3, 322_000, 90.0}, // 32.2 bytes a difference
}

// syncResult is what Sync measured.
type syncResult struct {
	rows  []syncRow
	fills []syncFill
}

func (r syncResult) study(environment verdict.Environment) study.Study {
	return study.Study{
		Name:  "sync",
		Title: "What it costs two stores to find what they do not share",
		About: []string{
			"Two sets of keys (storesync.Set) hold the same ids, one message in each millisecond, but for a number of differences: scattered, half of them on either side, or the newest ids, which the initiator lacks. " +
				"A session is held between snapshots of both in one process, frames handed from one to the other, without a network. Its time is that of both sides together, from the snapshots to the last difference; the first table has the median. " +
				"Each session was checked to have found exactly the differences, each id once.",
			"A round is a frame there and one back: over a network it takes at least a round trip. With a limit on frames neither side makes a longer one.",
		},
		Tables: []study.Table{r.sessions(), r.runs(), r.sets()},
		Notes: []string{
			"The reference is the C++ implementation of hoytech/negentropy, of which figures for a million ids were recorded on a machine of the same kind; this program did not run it. " +
				"Timestamps here are in nanoseconds, as messages have them, and take more bytes in each bound than smaller ones.",
			"Heap is what a set holds after its keys came in ascending order.",
		},
		Environment: environment,
	}
}

// head returns the columns that say what was measured.
func head(more ...study.Column) []study.Column {
	return append([]study.Column{{Name: "ids"}, {Name: "differences"}, {Name: "where"}, {Name: "frame limit, bytes"}}, more...)
}

// row returns the values under head.
func (m syncRow) row(more ...any) study.Row {
	var where, limit any
	if m.ids > 0 {
		where = m.where
	}
	if m.frameBytes > 0 {
		limit = m.frameBytes
	}
	return append(study.Row{m.size, m.ids, where, limit}, more...)
}

func (r syncResult) sessions() study.Table {
	t := study.Table{Title: "Sessions", Columns: head(
		study.Column{Name: "rounds"}, study.Column{Name: "bytes"}, study.Column{Name: "bytes a difference", Digits: 1}, study.Column{Name: "time, ms", Digits: 2},
		study.Column{Name: "reference: rounds"}, study.Column{Name: "reference: bytes"}, study.Column{Name: "reference: ms"},
	)}
	for _, m := range r.rows {
		total := m.session.sent + m.session.received
		var each any
		if m.ids > 0 {
			each = float64(total) / float64(m.ids)
		}
		row := m.row(m.session.rounds, total, each, verdict.Median(m.millis))
		if reference, ok := syncReference[m.syncDifference]; ok && m.size == referenceSize {
			row = append(row, reference.rounds, reference.bytes, reference.millis)
		} else {
			row = append(row, nil, nil, nil)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (r syncResult) runs() study.Table {
	t := study.Table{Title: "Frames, and the time of each run in the order of measuring", Columns: head(
		study.Column{Name: "sent, bytes"}, study.Column{Name: "received, bytes"}, study.Column{Name: "longest frame"}, study.Column{Name: "each run, ms"},
	)}
	for _, m := range r.rows {
		var runs []string
		for _, millis := range m.millis {
			runs = append(runs, fmt.Sprintf("%.2f", millis))
		}
		t.Rows = append(t.Rows, m.row(m.session.sent, m.session.received, m.session.longest, strings.Join(runs, " ")))
	}
	return t
}

func (r syncResult) sets() study.Table {
	t := study.Table{Title: "Sets", Columns: []study.Column{
		{Name: "ids"}, {Name: "insert, ns a key"}, {Name: "heap, bytes a key", Digits: 1}, {Name: "snapshot, µs", Digits: 1},
	}}
	for _, f := range r.fills {
		t.Rows = append(t.Rows, study.Row{f.ids, f.insertNanos, f.heapBytes, float64(f.snapshot.Nanoseconds()) / 1e3})
	}
	return t
}
