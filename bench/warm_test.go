package bench

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver that the archive uses
)

// minorFaults returns how many pages the process has mapped on first touch.
func minorFaults(t *testing.T) int64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Minflt
}

// TestWarmAndCold allocates and touches the same amount of memory in both
// states, with a workload live as in a run. A cold heap faults for each page, a
// warm one for the few that the runtime has returned meanwhile.
func TestWarmAndCold(t *testing.T) {
	single(t)
	const amount = 64 << 20
	live := NewWorkload(1, DefaultProfile(), PubsubTopic, 1000, time.Unix(0, 0), 0)
	defer runtime.KeepAlive(live)
	touch := func() int64 {
		before := minorFaults(t)
		touchHeap(amount)
		return minorFaults(t) - before
	}
	// On a busy machine the runtime has time to return pages between the two: one
	// attempt of several must succeed.
	const attempts = 5
	for range attempts {
		Cold()
		cold := touch()
		Warm(amount)
		warm := touch()
		Cold()
		again := touch()
		t.Logf("faults: cold %d, warm %d, cold again %d", cold, warm, again)
		// The race detector takes as many faults again for its own memory, in either
		// state: what counts is the faults that a warm heap saves.
		pages := int64(amount / os.Getpagesize())
		if cold < pages/2 {
			pages = amount / (2 << 20) // the kernel hands out huge pages
		}
		if cold-warm >= pages*3/4 && again-warm >= pages*3/4 {
			return
		}
	}
	t.Errorf("a warm heap saved less than three quarters of its faults in each of %d attempts", attempts)
}

func TestReservePagesErrors(t *testing.T) {
	for _, test := range []struct {
		size, n int
		want    string
	}{
		{0, 1, "page size 0"},
		{4095, 1, "page size 4095"},
		{131072, 1, "page size 131072"},
		{4096, 0, "0 pages"},
		{4096, -1, "-1 pages"},
		{4096, 1 << 25, "33554432 pages"},
	} {
		if err := ReservePages(test.size, test.n); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("ReservePages(%d, %d) = %v, want %q", test.size, test.n, err, test.want)
		}
	}
}

// reserveChild asks the test binary to play one part in a process of its own:
// what SQLite is given to begin with holds for the life of a process.
const reserveChild = "BENCH_TEST_RESERVE_CHILD"

func TestReservePages(t *testing.T) {
	single(t)
	if part := os.Getenv(reserveChild); part != "" {
		reservePart(t, part)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"reserved", "unreserved", "too late"} {
		t.Run(part, func(t *testing.T) {
			child := exec.Command(exe, "-test.run=^TestReservePages$", "-test.v")
			child.Env = append(os.Environ(), reserveChild+"="+part)
			out, err := child.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "part done: "+part) {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

func reservePart(t *testing.T, part string) {
	const pages = scratchBytes / 4096 * 5 / 4
	if part == "reserved" {
		if err := ReservePages(4096, pages); err != nil {
			t.Fatal(err)
		}
		if err := ReservePages(4096, pages); err == nil || !strings.Contains(err.Error(), "reserved already") {
			t.Errorf("second reservation: %v", err)
		}
	}
	fillScratch(t) // the driver, the schema, the allocator's own tables
	if part == "too late" {
		if err := ReservePages(4096, pages); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("reservation after the first database: %v", err)
		}
		t.Logf("part done: %s", part)
		return
	}
	before := minorFaults(t)
	fillScratch(t)
	faults := minorFaults(t) - before
	t.Logf("%s: %d faults in an in-memory database of %d pages", part, faults, scratchBytes/4096)
	switch least := int64(scratchBytes / 4096); {
	case part == "reserved" && faults > least/5:
		t.Errorf("reserved: %d faults, want at most %d", faults, least/5)
	case part == "unreserved" && faults < least:
		// Were this to fail, dropping a database would keep its memory mapped
		// and there would be nothing left to reserve pages for.
		t.Errorf("unreserved: %d faults, want at least %d", faults, least)
	}
	t.Logf("part done: %s", part)
}

const scratchBytes = 16 << 20

// fillScratch fills an in-memory database with scratchBytes and drops it.
func fillScratch(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	db.SetMaxOpenConns(1) // each connection has a database of its own
	ctx := context.Background()
	if _, err := db.ExecContext(ctx, "CREATE TABLE scratch (id INTEGER PRIMARY KEY, data BLOB)"); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64<<10)
	for range scratchBytes / len(data) {
		if _, err := db.ExecContext(ctx, "INSERT INTO scratch (data) VALUES (?)", data); err != nil {
			t.Fatal(err)
		}
	}
}
