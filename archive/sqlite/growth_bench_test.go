package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/blake3"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
)

// What the cost of an insert may depend on as a file grows. docs/decisions/0010
// compares these.
var growthVariants = []struct {
	name   string
	o      Options
	schema string // executed in the empty database
}{
	{"hash", Options{epoch: oneEpoch}, uniqueHash}, // before
	{"hash,cache=16M", Options{epoch: oneEpoch, pragmas: []string{"cache_size(-16000)"}}, uniqueHash},
	{"hash,cache=64M", Options{epoch: oneEpoch, pragmas: []string{"cache_size(-64000)"}}, uniqueHash},
	{"hash,mmap=4G", Options{epoch: oneEpoch, pragmas: []string{"mmap_size(4000000000)"}}, uniqueHash},
	{"hash,without-rowid", Options{epoch: oneEpoch}, withoutRowid + uniqueHash},
	{"prefix", Options{epoch: oneEpoch}, ""},
	{"prefix,cache=16M", Options{epoch: oneEpoch, pragmas: []string{"cache_size(-16000)"}}, ""},
	{"epoch=64k", Options{epoch: 65536}, ""},
	{"epoch=32k", Options{}, ""}, // chosen
	{"epoch=4k", Options{epoch: 4096}, ""},
	{noIndex, Options{epoch: oneEpoch}, "DROP INDEX messages_hash"},
}

const (
	oneEpoch     = 1 << 40
	noIndex      = "none"
	uniqueHash   = `DROP INDEX IF EXISTS messages_hash; CREATE UNIQUE INDEX messages_hash ON messages (hash)`
	withoutRowid = `DROP TABLE messages;
CREATE TABLE messages (timestamp INTEGER NOT NULL, hash BLOB NOT NULL, topic TEXT NOT NULL, content_topic TEXT NOT NULL,
	stamped INTEGER NOT NULL, version INTEGER, ephemeral INTEGER, meta BLOB, rate_limit_proof BLOB, payload BLOB NOT NULL,
	segment INTEGER, "offset" INTEGER, length INTEGER, checksum INTEGER, epoch INTEGER NOT NULL, PRIMARY KEY (timestamp, hash))
	WITHOUT ROWID;
`
)

// BenchmarkGrowth inserts messages of 1 kB, 32 a batch, into one file for each
// variant, and measures by turns what the last 10,000 in front of 10,000, 100,000
// and a million rows cost, a checkpoint included. Run it with -benchtime=1x; it
// takes minutes, and 2 GB for each variant.
func BenchmarkGrowth(b *testing.B) {
	files := make([]grown, len(growthVariants))
	for i, v := range growthVariants {
		d, err := v.o.Open(b.Context(), filepath.Join(b.TempDir(), "archive.db"))
		if err == nil && v.schema != "" {
			_, err = d.writer.ExecContext(b.Context(), v.schema)
		}
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = d.Close() }()
		files[i] = grown{Database: d, template: archivetest.Numbered(1, 0, 1000)}
	}
	for _, mark := range []int{10_000, 100_000, 1_000_000} {
		for i := range files {
			files[i].fill(b, mark-10_000)
		}
		for i, v := range growthVariants {
			b.Run(fmt.Sprintf("rows=%d/%s", mark, v.name), func(b *testing.B) { files[i].measure(b, mark) })
		}
	}
}

// grown is a file that rows of rising timestamps are inserted into.
type grown struct {
	*Database
	template archive.Row
	n        int
}

func (g *grown) fill(b *testing.B, end int) {
	ctx, rows := context.WithoutCancel(b.Context()), make([]archive.Row, 0, 32)
	for g.n < end {
		rows = rows[:0]
		for ; len(rows) < cap(rows) && g.n < end; g.n++ {
			rows = append(rows, g.template)
			row := &rows[len(rows)-1]
			var number [8]byte
			binary.BigEndian.PutUint64(number[:], uint64(g.n))
			row.Key.Timestamp, row.Key.Hash = int64(g.n), blake3.Sum256(number[:])
		}
		if _, err := g.Insert(ctx, rows); err != nil {
			b.Fatal(err)
		}
	}
	if err := g.Checkpoint(ctx); err != nil {
		b.Fatal(err)
	}
}

func (g *grown) measure(b *testing.B, end int) {
	wrote, used, start := written(b), cpu(b), time.Now()
	inserted := end - g.n
	if inserted == 0 {
		b.Skip("run it with -benchtime=1x")
	}
	g.fill(b, end)
	per := float64(inserted)
	b.ReportMetric(float64(time.Since(start).Nanoseconds())/1e3/per, "µs/msg")
	b.ReportMetric(float64((cpu(b)-used).Nanoseconds())/1e3/per, "cpu-µs/msg")
	b.ReportMetric(float64(written(b)-wrote)/per, "written/msg")
	if strings.HasSuffix(b.Name(), noIndex) {
		return
	}
	const gets = 1000
	start = time.Now()
	for i := range gets {
		var number [8]byte
		binary.BigEndian.PutUint64(number[:], uint64(i*7919%end))
		if _, err := archive.Get(b.Context(), g, blake3.Sum256(number[:])); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(time.Since(start).Nanoseconds())/1e3/gets, "µs/get")
}
