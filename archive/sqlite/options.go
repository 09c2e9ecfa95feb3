package sqlite

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sync says when what Insert has returned for is on the disk, where a loss of
// power cannot take it any more. It means nothing to a database in memory.
type Sync int

const (
	// SyncLater synchronises beside the inserts, payloads in segments after PartBytes
	// and everything after SyncBytes, and at Close and Checkpoint. A loss of power may
	// take what was inserted since; it leaves no row without its payload.
	SyncLater Sync = iota
	// SyncEach synchronises payloads and rows before Insert returns.
	SyncEach
)

// String returns "later" or "each".
func (s Sync) String() string {
	if s == SyncEach {
		return "each"
	}
	return "later"
}

// What is done when nothing else is asked for.
const (
	// InlineBytes is the size from which a payload goes to a segment, where it is
	// written once, or in memory not at all. A smaller one is cheaper in its row.
	InlineBytes = 4096
	// SegmentBytes is the size from which a segment gets no more payloads.
	SegmentBytes = 256 << 20
	// SyncBytes is how much payload is inserted before SyncLater moves the log into
	// the file, with all payloads synchronised. A loss of power costs this much, and
	// opening a file after one reads it. At four times as much inserts wait for the
	// disk.
	SyncBytes = 32 << 20
	// PartBytes is how much is inserted before SyncLater synchronises payloads in
	// segments alone. A disk lets writes wait while it synchronises, and many short
	// waits are made up for by the work on other messages meanwhile, where a long one
	// is not.
	PartBytes = 4 << 20

	// EpochRows is how many rows share a piece of the index by hash. A look-up by
	// hash takes as many steps as there are pieces.
	EpochRows = 32768

	// MemoryPageBytes is the page size of a database in memory. A file has SQLite's
	// own 4096, of which the log holds fewer bytes for each row.
	MemoryPageBytes = 16384
)

// busyTimeout is how long a connection waits for others.
const busyTimeout = 10 * time.Second

// Options say how a database keeps what it is given. The zero value holds the
// defaults.
type Options struct {
	Sync Sync

	// For benchmarks and tests of this package; 0: the constants above.
	page, inline, segment, pending, part, epoch int64

	pragmas []string // beside the usual ones
	journal string   // of a file; "": WAL
}

// Validate reports what is wrong with o.
func (o Options) Validate() error {
	if o.Sync != SyncLater && o.Sync != SyncEach {
		return fmt.Errorf("sqlite: options: Sync %d is neither SyncLater nor SyncEach", o.Sync)
	}
	return nil
}

func (o Options) withDefaults(name string) Options {
	for _, f := range []struct {
		field *int64
		value int64
	}{{&o.inline, InlineBytes}, {&o.segment, SegmentBytes}, {&o.pending, SyncBytes}, {&o.part, PartBytes}, {&o.epoch, EpochRows}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if o.page == 0 && name == Memory {
		o.page = MemoryPageBytes
	}
	if o.journal == "" {
		o.journal = "WAL"
	}
	return o
}

// memory and file return what every connection is told when it opens. The driver
// sets busy_timeout first, since the change to WAL itself may find the file
// locked, and the journal mode after the page size, which it makes final.
// Units: bytes (page), ms (timeout), pages (checkpoint: a bound for what the
// flushes beside the inserts leave).
func (o Options) memory() url.Values {
	return url.Values{"_txlock": {"immediate"}, "_pragma": o.with("foreign_keys(1)")}
}

func (o Options) file(more ...string) url.Values {
	synchronous := "synchronous(NORMAL)"
	if o.Sync == SyncEach {
		synchronous = "synchronous(FULL)"
	}
	pragmas := append(o.with("foreign_keys(1)", "wal_autocheckpoint(16384)", synchronous), more...)
	return url.Values{
		"_txlock": {"immediate"}, "_pragma": pragmas, "_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)}, "_journal_mode": {o.journal},
	}
}

// with returns the usual pragmas but those that o.pragmas sets: whichever comes
// first, the driver sorts them.
func (o Options) with(usual ...string) []string {
	name := func(pragma string) string { before, _, _ := strings.Cut(pragma, "("); return before }
	usual = slices.DeleteFunc(usual, func(u string) bool {
		return slices.ContainsFunc(o.pragmas, func(p string) bool { return name(p) == name(u) })
	})
	if o.page > 0 {
		usual = append(usual, fmt.Sprintf("page_size(%d)", o.page))
	}
	return append(usual, o.pragmas...)
}
