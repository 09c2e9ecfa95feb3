package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
)

// inline keeps every payload in its row, as before there were segments.
const inline = 1 << 40

// The ways of keeping a file that docs/decisions/0010-archive-layout.md
// compares. A checkpoint ends each run inside the measured time.
var fileVariants = []struct {
	name string
	o    Options
}{
	{"segments", Options{}},
	{"segments,each", Options{Sync: SyncEach}},
	{"segments,page=16K", Options{page: 16384}},
	{"segments,inline=16K", Options{inline: 16384}},
	{"segments,part=32M", Options{part: SyncBytes}},
	{"segments,part=1M", Options{part: 1 << 20}},
	{"segments,sync=8M", Options{pending: 8 << 20}},
	{"segments,sync=128M", Options{pending: 128 << 20}},
	{"wal,page=4K,before", Options{inline: inline, pending: inline}},
	{"wal,page=4K", Options{inline: inline}},
	{"wal,page=8K", Options{inline: inline, page: 8192}},
	{"wal,page=16K", Options{inline: inline, page: 16384}},
	{"wal,page=32K", Options{inline: inline, page: 32768}},
	{"wal,page=64K", Options{inline: inline, page: 65536}},
	{"wal,page=64K,each", Options{inline: inline, page: 65536, Sync: SyncEach}},
	{"wal,page=64K,cache=16M", Options{inline: inline, page: 65536, pragmas: []string{"cache_size(-16000)"}}},
	{"wal,page=64K,nospill", Options{inline: inline, page: 65536, pragmas: []string{"cache_spill(0)"}}},
	{"wal,page=64K,mmap=1G", Options{inline: inline, page: 65536, pragmas: []string{"mmap_size(1000000000)"}}},
	{"wal,page=64K,checkpoint=1000", Options{inline: inline, page: 65536, pragmas: []string{"wal_autocheckpoint(1000)"}, pending: inline}},
	{"rollback,page=4K", Options{inline: inline, pending: inline, journal: "PERSIST"}},
	{"rollback,page=16K", Options{inline: inline, pending: inline, page: 16384, journal: "PERSIST"}},
}

// BenchmarkFileVariants inserts the workload's messages (size=mean65k) or
// messages of 1 kB into a file, one operation a message, and ends with a
// checkpoint. Run it with -benchtime=3000x -count=5 or so, on a quiet machine.
func BenchmarkFileVariants(b *testing.B) {
	for _, v := range fileVariants {
		for _, w := range []workload{{32, 0}, {1, 0}, {32, 1000}, {1, 1000}} {
			b.Run(v.name+"/"+w.String(), func(b *testing.B) {
				d, err := v.o.Open(b.Context(), filepath.Join(b.TempDir(), "archive.db"))
				if err != nil {
					b.Fatal(err)
				}
				w.run(b, d)
			})
		}
	}
}

// BenchmarkMemoryVariants does the same to databases in memory, whose pages are
// mapped beforehand: run it alone (-run=NONE), and with up to 1,000 messages.
func BenchmarkMemoryVariants(b *testing.B) {
	if err := reserve(); err != nil {
		b.Skip(err)
	}
	for _, page := range []int64{4096, 8192, 16384, 32768} {
		for _, journal := range []string{"MEMORY", "OFF"} {
			for _, from := range []int64{InlineBytes, inline} {
				name := "beside"
				if from == inline {
					name = "inline"
				}
				o := Options{page: page, inline: from, pragmas: []string{"journal_mode(" + journal + ")"}}
				for _, w := range []workload{{32, 0}, {1, 0}, {32, 1000}, {1, 1000}} {
					b.Run(fmt.Sprintf("page=%dK,journal=%s,%s/%s", page>>10, journal, name, w), func(b *testing.B) {
						d, err := o.Open(b.Context(), Memory)
						if err != nil {
							b.Fatal(err)
						}
						w.run(b, d)
					})
				}
			}
		}
	}
}

// A workload is how many messages a batch has, and their size in bytes; 0: the
// benchmark's 10, 50 and 150 kB at 25, 50 and 25 %.
type workload struct{ batch, size int }

func (w workload) String() string {
	if w.size == 0 {
		return fmt.Sprintf("size=mean65k/batch=%d", w.batch)
	}
	return fmt.Sprintf("size=%d/batch=%d", w.size, w.batch)
}

// rows returns n rows of which several share a payload and none a key.
func (w workload) rows(n int) []archive.Row {
	sizes := []int{10_000, 50_000, 150_000, 50_000}
	templates := make([]archive.Row, 64)
	for i := range templates {
		size := sizes[i%len(sizes)]
		if w.size > 0 {
			size = w.size
		}
		templates[i] = archivetest.Numbered(uint64(i), 0, size)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(templates[i].Message.Payload)
	}
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]archive.Row, n)
	for i := range rows {
		rows[i] = templates[i%len(templates)]
		rows[i].Key.Timestamp = int64(i)
		for at := 0; at < len(rows[i].Key.Hash); at += 8 {
			binary.BigEndian.PutUint64(rows[i].Key.Hash[at:], random.Uint64())
		}
	}
	return rows
}

func (w workload) run(b *testing.B, d *Database) {
	rows := w.rows(b.N)
	var payload int64
	for _, r := range rows {
		payload += int64(len(r.Message.GetPayload()))
	}
	ctx := context.WithoutCancel(b.Context()) // as an archive inserts
	syscall.Sync()
	wrote, used := written(b), cpu(b)
	b.ReportAllocs()
	b.ResetTimer()
	for rest := rows; len(rest) > 0; rest = rest[min(w.batch, len(rest)):] {
		if _, err := d.Insert(ctx, rest[:min(w.batch, len(rest))]); err != nil {
			b.Fatal(err)
		}
	}
	if err := d.Checkpoint(ctx); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	b.ReportMetric(float64((cpu(b)-used).Nanoseconds())/1e3/float64(b.N), "cpu-µs/msg")
	b.ReportMetric(float64(written(b)-wrote)/float64(payload), "written/payload")
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
}

// cpu returns the CPU time of the process, kernel included.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// written returns the bytes that the process has caused to be written to disks,
// 0 where Linux does not tell.
func written(b *testing.B) (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(text), "\nwrite_bytes: ")
	if _, err := fmt.Sscan(line, &n); err != nil {
		b.Fatal(err)
	}
	return n
}

// reserve maps slots for 8,000 pages of up to 32 KiB, once and before SQLite is
// used.
var reserve = sync.OnceValue(func() error {
	const slot, n = 32768 + 512, 8000
	tls := libc.NewTLS()
	defer tls.Close()
	memory := libc.Xmalloc(tls, slot*n)
	libc.Xmemset(tls, memory, 0, slot*n)
	list := libc.NewVaList(memory, int32(slot), int32(n))
	defer libc.Xfree(tls, list)
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_PAGECACHE, list); rc != sqlite3.SQLITE_OK {
		libc.Xfree(tls, memory)
		return fmt.Errorf("reserve pages: SQLite returned %d: in use already?", rc)
	}
	return nil
})
