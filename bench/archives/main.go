// Command archives measures other ways to keep an archive's messages: the SQLite
// drivers that are not used, and Pebble with its values separated, beside a file
// that the same bytes are appended to. It prints a table. The ways within package
// archive/sqlite are measured by its benchmarks; both are in
// docs/decisions/0010-archive-layout.md.
//
// A round inserts the benchmark's messages (10, 50 and 150 kB at 25, 50 and 25 %)
// with distinct random keys, in batches, and ends when all is synchronised and in
// its last place. Rounds go over all engines by turns. It is a module of its own,
// so that nobody who uses msgpath gets these engines, and needs a C compiler.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// An engine keeps messages in a new database in a folder.
type engine interface {
	insert(batch []message) error // returns when committed; synchronised if the engine was opened so
	finish() error                // brings everything to its last place and closes
}

type message struct {
	key     []byte // of 40 bytes: timestamp and hash
	payload []byte
}

// engines are the ways that are compared. each: synchronised at each batch.
var engines = []struct {
	name string
	open func(dir string, each bool) (engine, error)
}{
	{"append to a file", openAppend},
	{"mattn, 4 KiB pages", mattn(4096)},
	{"mattn, 64 KiB pages", mattn(65536)},
	{"ncruces, 4 KiB pages", ncruces(4096)},
	{"ncruces, 64 KiB pages", ncruces(65536)},
	{"pebble", pebbles(false)},
	{"pebble, values separated", pebbles(true)},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "archives:", err)
		os.Exit(1)
	}
}

func run() error {
	n := flag.Int("n", 3200, "messages a round")
	rounds := flag.Int("rounds", 5, "rounds; medians are printed")
	dir := flag.String("dir", os.TempDir(), "where the databases are made")
	flag.Parse()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "engine\tsync\tbatch\tmsg/s\tCPU µs/msg\twritten/payload")
	for _, each := range []bool{false, true} {
		for _, batch := range []int{32, 1} {
			if err := compare(out, *dir, each, batch, *n, *rounds); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare prints a line for each engine.
func compare(out *tabwriter.Writer, dir string, each bool, batch, n, rounds int) error {
	results := make([][]figures, len(engines))
	for range rounds {
		for i, e := range engines {
			f, err := measure(dir, e.open, each, batch, n)
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			results[i] = append(results[i], f)
		}
	}
	sync := map[bool]string{false: "later", true: "each"}[each]
	for i, e := range engines {
		f := medians(results[i])
		fmt.Fprintf(out, "%s\t%s\t%d\t%.0f\t%.0f\t%.2f\n", e.name, sync, batch, f[0], f[1], f[2])
	}
	return out.Flush()
}

// figures are msg/s, CPU µs a message and bytes written per byte of payload.
type figures [3]float64

func medians(all []figures) (m figures) {
	for i := range m {
		var values []float64
		for _, f := range all {
			values = append(values, f[i])
		}
		slices.Sort(values)
		m[i] = values[len(values)/2]
	}
	return m
}

func measure(parent string, open func(string, bool) (engine, error), each bool, batch, n int) (f figures, err error) {
	dir, err := os.MkdirTemp(parent, "archives")
	if err != nil {
		return f, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	e, err := open(filepath.Join(dir, "db"), each)
	if err != nil {
		return f, err
	}
	messages := workload(n)
	var payload float64
	for _, m := range messages {
		payload += float64(len(m.payload))
	}
	syscall.Sync()
	start, used, wrote := time.Now(), cpu(), written()
	for batch := range slices.Chunk(messages, batch) {
		if err := e.insert(batch); err != nil {
			return f, err
		}
	}
	if err := e.finish(); err != nil {
		return f, err
	}
	took := time.Since(start)
	f[0] = float64(n) / took.Seconds()
	f[1] = float64((cpu() - used).Nanoseconds()) / 1e3 / float64(n)
	f[2] = (written() - wrote) / payload
	return f, nil
}

// workload returns n messages of which several share a payload and none a key.
func workload(n int) []message {
	sizes := []int{10_000, 50_000, 150_000, 50_000}
	payloads := make([][]byte, 64)
	for i := range payloads {
		payloads[i] = make([]byte, sizes[i%len(sizes)])
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(payloads[i])
	}
	random := rand.NewChaCha8([32]byte{})
	messages := make([]message, n)
	for i := range messages {
		key := make([]byte, 40)
		_, _ = random.Read(key)
		binary.BigEndian.PutUint64(key, uint64(i))
		messages[i] = message{key, payloads[i%len(payloads)]}
	}
	return messages
}

// cpu returns the CPU time of the process, kernel included.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the call has no cause to fail but a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// written returns the bytes that the process has caused to be written to disks,
// 0 where Linux does not tell.
func written() (n float64) {
	text, _ := os.ReadFile("/proc/self/io")
	_, line, _ := strings.Cut(string(text), "\nwrite_bytes: ")
	_, _ = fmt.Sscan(line, &n)
	return n
}
