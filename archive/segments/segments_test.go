package segments_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/msgpath/msgpath/archive/segments"
)

// appended returns a folder with payloads of 0 to 9 bytes in one segment, and
// their places.
func appended(t *testing.T) (d *segments.Dir, file string, places []segments.Place) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "payloads")
	d = segments.New(path)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	var end int64
	for size := range 10 {
		p := segments.Place{Segment: 1, Offset: end, Length: int64(size), Checksum: segments.Checksum(payload(size))}
		if err := d.Append(p, payload(size)); err != nil {
			t.Fatal(err)
		}
		places, end = append(places, p), p.End()
	}
	return d, filepath.Join(path, "00000001"), places
}

func payload(size int) []byte { return bytes.Repeat([]byte{byte(size)}, size) }

// requireRead fails unless exactly those payloads can be read that end at intact
// or before, whole.
func requireRead(t *testing.T, d *segments.Dir, places []segments.Place, intact int64) {
	t.Helper()
	for size, p := range places {
		got, err := d.Read(p)
		switch {
		case p.End() > intact:
			if !errors.Is(err, segments.ErrDamaged) || got != nil {
				t.Fatalf("%d bytes at %d: %v, %v, want %v", p.Length, p.Offset, got, err, segments.ErrDamaged)
			}
		case err != nil || !bytes.Equal(got, payload(size)):
			t.Fatalf("%d bytes at %d: %v, %v", p.Length, p.Offset, got, err)
		}
	}
}

func TestReadsWhatWasAppended(t *testing.T) {
	d, _, places := appended(t)
	requireRead(t, d, places, 45)
	if err := d.Sync(1); err != nil {
		t.Fatal(err)
	}
}

// A file cut at any length gives the payloads in front of the cut and no others.
func TestCutAtEveryLength(t *testing.T) {
	d, file, places := appended(t)
	for length := int64(45); length >= 0; length-- {
		if err := d.Cut(1, length); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Size() != length {
			t.Fatalf("cut at %d: %v, %v", length, info, err)
		}
		requireRead(t, d, places, length)
	}
	if err := d.Cut(1, 100); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 0 {
		t.Fatalf("a cut behind the end: %v, %v", info, err)
	}
}

// Any byte that differs is seen by the payload that it belongs to.
func TestEveryByteIsChecked(t *testing.T) {
	d, file, places := appended(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := range data {
		changed := bytes.Clone(data)
		changed[at] ^= 1
		if err := os.WriteFile(file, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range places {
			hit := p.Offset <= int64(at) && int64(at) < p.End()
			if _, err := d.Read(p); errors.Is(err, segments.ErrDamaged) != hit {
				t.Fatalf("byte %d differs: %d bytes at %d: error %v", at, p.Length, p.Offset, err)
			}
		}
	}
}

func TestPlacesThatNothingWasAppendedTo(t *testing.T) {
	d, _, _ := appended(t)
	for _, p := range []segments.Place{
		{Segment: 2, Length: 1},
		{Segment: 1, Offset: -1, Length: 1},
		{Segment: 1, Length: -1},
		{Segment: 1, Length: 1 << 62},
		{Segment: 1, Offset: 1 << 62, Length: 1 << 62},
	} {
		if _, err := d.Read(p); !errors.Is(err, segments.ErrDamaged) {
			t.Errorf("read %+v: %v, want %v", p, err, segments.ErrDamaged)
		}
	}
	if err := d.Sync(2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("sync of no segment: %v", err)
	}
	if err := d.Cut(2, 0); err != nil {
		t.Errorf("cut of no segment: %v", err)
	}
}

func TestClosed(t *testing.T) {
	d, _, places := appended(t)
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Append(places[1], payload(1)); !errors.Is(err, fs.ErrClosed) {
		t.Fatalf("append: %v, want %v", err, fs.ErrClosed)
	}
}

// One goroutine appends, over several segments, while others sync and read.
func TestConcurrentUse(t *testing.T) {
	d, _, places := appended(t)
	var wait sync.WaitGroup
	wait.Go(func() {
		for n := range int64(200) {
			if err := d.Append(segments.Place{Segment: 2 + n/100, Offset: n % 100}, []byte{1}); err != nil {
				t.Error(err)
			}
		}
	})
	wait.Go(func() {
		for range 20 {
			if err := d.Sync(1); err != nil {
				t.Error(err)
			}
		}
	})
	for range 20 {
		requireRead(t, d, places, 45)
	}
	wait.Wait()
}

func Example() {
	dir, err := os.MkdirTemp("", "segments")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	d := segments.New(filepath.Join(dir, "payloads"))
	defer func() { _ = d.Close() }()

	hello := []byte("hello")
	p := segments.Place{Segment: 1, Length: 5, Checksum: segments.Checksum(hello)}
	fmt.Println(d.Append(p, hello), d.Sync(1))
	got, err := d.Read(p)
	fmt.Printf("%s %v\n", got, err)
	p.Checksum++
	_, err = d.Read(p)
	fmt.Println(errors.Is(err, segments.ErrDamaged))
	// Output:
	// <nil> <nil>
	// hello <nil>
	// true
}

// pattern returns bytes that differ from place to place and from n to n.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*31 + i>>8 + n)
	}
	return b
}

// Large appends go around the page cache, in writes of a bounded size, and what
// they wrote is what anybody reads: also beside small ones, and over what was there.
func TestLargeAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "payloads")
	d := segments.New(path)
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	const block, large = segments.Block, segments.DirectBytes
	var places []segments.Place
	var want [][]byte
	var end int64
	for _, sizes := range [][]int{
		{large}, {large - 1}, {1, large, 0, 3}, {5}, {2 << 20}, {2<<20 - 1, 2}, {2<<20 + 1}, {5 << 20, block}, {large / 2, large / 2}, {block},
	} {
		end = (end + block - 1) / block * block
		at := segments.Place{Segment: 1, Offset: end}
		if err := d.Append(at, pattern(6<<20)); err != nil { // of a batch that was not committed
			t.Fatal(err)
		}
		var batch [][]byte
		for _, size := range sizes {
			payload := pattern(size)
			p := segments.Place{Segment: 1, Offset: end, Length: int64(size), Checksum: segments.Checksum(payload)}
			places, batch, end = append(places, p), append(batch, payload), p.End()
		}
		if err := d.Append(at, batch...); err != nil {
			t.Fatal(err)
		}
		want = append(want, batch...)
	}
	for i, p := range places {
		if got, err := d.Read(p); err != nil || !bytes.Equal(got, want[i]) {
			t.Errorf("%d bytes at %d: %v, or other bytes", p.Length, p.Offset, err)
		}
	}
	data, err := os.ReadFile(filepath.Join(path, "00000001"))
	if err != nil || int64(len(data)) < end {
		t.Fatalf("%d bytes, %v, want at least %d", len(data), err, end)
	}
}

func TestRemove(t *testing.T) {
	d, file, places := appended(t)
	folder := filepath.Dir(file)
	if err := d.Append(segments.Place{Segment: 12}, payload(3)); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"3", "00000000", "-0000004", "000000005", "x"} {
		if err := os.WriteFile(filepath.Join(folder, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := d.Segments(); err != nil || !slices.Equal(got, []int64{1, 12}) {
		t.Fatalf("segments %v, %v, want 1 and 12", got, err)
	}
	if err := d.Remove(12, 1, 7); err != nil { // 12 is open, 7 is not there
		t.Fatal(err)
	}
	requireRead(t, d, places[1:], -1)
	if got, err := d.Segments(); err != nil || len(got) > 0 {
		t.Fatalf("segments %v, %v, want none", got, err)
	}
	if err := d.Append(places[2], payload(2)); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Read(places[2]); err != nil || !bytes.Equal(got, payload(2)) {
		t.Fatalf("read: %v, %v", got, err)
	}
	if err := os.MkdirAll(filepath.Join(folder, "00000009", "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(9); err == nil {
		t.Error("a folder that holds something was removed")
	}
	if got, err := segments.New(filepath.Join(folder, "none")).Segments(); err != nil || len(got) > 0 {
		t.Errorf("of no folder: %v, %v", got, err)
	}
}
