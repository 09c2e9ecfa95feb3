package peers

import (
	"fmt"
	"time"

	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/bench"
)

// pageBytes is SQLite's own page size, which a database written by hand has.
const pageBytes = 4096

// ReserveMemory maps the pages of both databases in memory before any is opened,
// as [bench.ReservePages] does. The benchmark's own reserve is made for the
// project's larger pages, and each of the smaller ones takes the place of one:
// there would be too few, and the hand-written relay alone would pay for the first
// touch of the rest. It works once in a process.
func ReserveMemory(o bench.Options) error {
	messages := o.Messages + o.WarmupMacro
	w := bench.NewWorkload(o.Seed, o.Profile, bench.PubsubTopic, messages, time.Now(), 0)
	pages := int(w.PayloadBytes())/pageBytes + 2*messages + 2048 // the last page of each, its row, and what is fixed
	if err := bench.ReservePages(max(sqlite.MemoryPageBytes, pageBytes), pages); err != nil {
		return fmt.Errorf("peers: reserve memory: %w", err)
	}
	return nil
}
