package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The first touch of a page of memory costs a fault, and on a virtual machine a
// fault costs more than most of what a message path does with the page. Whoever
// runs first would pay for all. So every arm starts from one of two states:
//
//	warm: Warm(goBytes) right before the measured part, and ReservePages once
//	      before the process opens its first database: the Go heap and the pages
//	      of in-memory databases come out of memory that is mapped already;
//	cold: Cold() right before the measured part, and no ReservePages: all that
//	      an arm allocates beyond what is live at its start is mapped on first
//	      touch.
//
// Dropping a filled scratch database would not warm the next one: the C
// allocator beneath SQLite keeps 4 MiB of freed regions and hands the rest back
// to the kernel, so that the next database faults them in again. Files of a
// database on disk are in neither state's care.

// warmChunk is the unit in which Warm allocates, so that it does not ask for all
// of it in one piece.
const warmChunk = 1 << 20

// Warm maps goBytes of Go heap beyond what is live, by touching each page, and
// frees them. Take goBytes from the largest heap expected in the run, less what
// is live now. Call it immediately before the measured part: the runtime returns
// free pages beyond about 1.1 times its heap goal in the background, and begins
// when a collection ends. Where 65 MB were live, a run that took 19,000 to 63,000
// faults cold took 20 to 2,500 after Warm, and under 100 in a process that was
// started with GODEBUG=madvdontneed=0, which lets the kernel keep the pages.
//
// It also runs the garbage collector twice, which empties every sync.Pool.
func Warm(goBytes int) {
	touchHeap(goBytes)
	runtime.GC()
	runtime.GC()
}

// Cold returns all free memory of the Go heap to the kernel, so that the next
// allocations fault it in again. It empties every sync.Pool, as Warm does.
func Cold() {
	runtime.GC()
	debug.FreeOSMemory()
}

// touchHeap holds n bytes at once and writes to each of their pages.
func touchHeap(n int) {
	page := os.Getpagesize()
	chunks := make([][]byte, 0, n/warmChunk+1)
	for ; n > 0; n -= warmChunk {
		chunk := make([]byte, min(n, warmChunk))
		for i := 0; i < len(chunk); i += page {
			chunk[i] = 1
		}
		chunks = append(chunks, chunk)
	}
	runtime.KeepAlive(chunks)
}

var reserve struct {
	sync.Mutex
	pages int // 0: none yet
}

// reservedPages returns how many pages the process has reserved.
func reservedPages() int {
	reserve.Lock()
	defer reserve.Unlock()
	return reserve.pages
}

// ReservePages maps memory for n database pages of pageSize bytes and gives it
// to SQLite, for the life of the process, as the place of its page caches.
// In-memory databases of that page size, or a smaller one, then touch no fresh
// memory until they hold more than n pages between them, however often they are
// closed and opened again. Beyond n pages SQLite allocates as it otherwise does.
//
// SQLite accepts this only before the process opens its first database; later,
// and at a second call, ReservePages is an error and changes nothing.
func ReservePages(pageSize, n int) error {
	if pageSize < 512 || pageSize > 65536 || pageSize&(pageSize-1) != 0 {
		return fmt.Errorf("bench: reserve pages: page size %d is not a power of two from 512 to 65536", pageSize)
	}
	if n < 1 || n > 1<<24 {
		return fmt.Errorf("bench: reserve pages: %d pages, want 1 to %d", n, 1<<24)
	}
	reserve.Lock()
	defer reserve.Unlock()
	if reserve.pages > 0 {
		return errors.New("bench: reserve pages: reserved already")
	}
	tls := libc.NewTLS()
	defer tls.Close()
	if err := reservePages(tls, pageSize, n); err != nil {
		return fmt.Errorf("bench: reserve pages: %w", err)
	}
	reserve.pages = n
	return nil
}

func reservePages(tls *libc.TLS, pageSize, n int) error {
	header, err := pageHeaderSize(tls)
	if err != nil {
		return err
	}
	slot := (pageSize + header + 7) &^ 7
	memory := libc.Xmalloc(tls, libc.Tsize_t(slot*n))
	if memory == 0 {
		return fmt.Errorf("allocate %d bytes: out of memory", slot*n)
	}
	libc.Xmemset(tls, memory, 0, libc.Tsize_t(slot*n))
	if err := configure(tls, sqlite3.SQLITE_CONFIG_PAGECACHE, memory, int32(slot), int32(n)); err != nil {
		libc.Xfree(tls, memory)
		return err
	}
	return nil
}

// pageHeaderSize returns how many bytes SQLite keeps beside each cached page.
func pageHeaderSize(tls *libc.TLS) (int, error) {
	size := libc.Xcalloc(tls, 1, 4)
	if size == 0 {
		return 0, errors.New("allocate 4 bytes: out of memory")
	}
	defer libc.Xfree(tls, size)
	if err := configure(tls, sqlite3.SQLITE_CONFIG_PCACHE_HDRSZ, size); err != nil {
		return 0, err
	}
	return int(binary.NativeEndian.Uint32(libc.GoBytes(size, 4))), nil
}

func configure(tls *libc.TLS, option int32, args ...any) error {
	list := libc.NewVaList(args...)
	if list == 0 {
		return errors.New("allocate arguments: out of memory")
	}
	defer libc.Xfree(tls, list)
	switch rc := sqlite3.Xsqlite3_config(tls, option, list); rc {
	case sqlite3.SQLITE_OK:
		return nil
	case sqlite3.SQLITE_MISUSE:
		return errors.New("SQLite is in use: reserve before the first database is opened")
	default:
		return fmt.Errorf("sqlite3_config(%d) returned %d", option, rc)
	}
}
