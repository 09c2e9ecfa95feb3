package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/message"
)

// BenchmarkReads measures what is asked for most, of 100,000 rows: a row by its
// hash, 512 keys behind a key, and the size; and then the delete of 512 rows
// together with their insert.
func BenchmarkReads(b *testing.B) {
	const n = 100_000
	for _, name := range []string{Memory, filepath.Join(b.TempDir(), "archive.db")} {
		d, err := Open(b.Context(), name)
		if err != nil {
			b.Fatal(err)
		}
		rows := make([]archive.Row, n)
		for i := range rows {
			rows[i] = archivetest.Numbered(uint64(i), int64(i), 300)
		}
		insert := func(rows []archive.Row) {
			if _, err := d.Insert(b.Context(), rows); err != nil {
				b.Fatal(err)
			}
		}
		for i := 0; i < n; i += 1000 {
			insert(rows[i : i+1000])
		}
		mustSelect := func(s archive.Selection) {
			if got, err := d.Select(b.Context(), s); err != nil || len(got) != s.Limit {
				b.Fatalf("%d rows, %v", len(got), err)
			}
		}
		kind := "file"
		if name == Memory {
			kind = "memory"
		}
		run := func(what string, do func(i int)) {
			b.Run(fmt.Sprintf("%s/%s", kind, what), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					do(i)
				}
			})
		}
		run("hash", func(i int) {
			mustSelect(archive.Selection{Hashes: []message.Hash{rows[i*7919%n].Key.Hash}, Data: true, Limit: 1})
		})
		run("keys", func(i int) { mustSelect(archive.Selection{After: &rows[i*7919%(n-1000)].Key, Limit: 512}) })
		run("size", func(int) {
			if _, err := d.Size(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
		run("insert-delete", func(i int) {
			some := rows[i*512%(n-512):][:512]
			if err := d.Delete(b.Context(), keysOf(some)); err != nil {
				b.Fatal(err)
			}
			insert(some)
		})
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
