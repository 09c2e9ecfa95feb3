package corpus

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// create returns a Writer that is closed with the test.
func create(t *testing.T, o Options) *Writer {
	t.Helper()
	w, err := Create(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// messages reads the messages of a file.
func messages(t *testing.T, path string) (all []string) {
	t.Helper()
	records, err := readFile(t, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		all = append(all, string(r.Message))
	}
	return all
}

func readFile(t *testing.T, path string) ([]Record, error) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return read(data)
}

func TestCloseWritesWhatIsQueued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.corpus")
	w := create(t, Options{Path: path})
	for i := range 3 {
		w.Record(at(int64(i), fmt.Sprint(i)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if got := messages(t, path); !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("recorded %v", got)
	}
	w.Record(at(4, "late"))
	if got, want := w.Stats(), (Stats{Recorded: 3, Bytes: 3, Dropped: 1}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
	if err := w.Run(t.Context()); err == nil {
		t.Error("Run after Close is no error")
	}
}

// TestReachesTheFileWithinASecond looks at the file while it is written.
func TestReachesTheFileWithinASecond(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.corpus")
	synctest.Test(t, func(t *testing.T) {
		w, err := Create(Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		w.Record(at(1, "one"))
		synctest.Wait()
		if n := w.Stats().Recorded; n != 0 {
			t.Errorf("%d messages counted before they are in the file", n)
		}
		time.Sleep(flushEvery + time.Millisecond)
		synctest.Wait()
		if n := w.Stats().Recorded; n != 1 {
			t.Errorf("%d messages counted after a second, want 1", n)
		}
		if got, err := readFile(t, path); len(got) != 1 || err == nil {
			t.Errorf("after a second: %d records, error %v; want 1, and that there is no end mark", len(got), err)
		}
		w.Record(at(2, "two"))
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if n := w.Stats().Recorded; n != 2 {
			t.Errorf("%d messages counted when Run has returned, want 2", n)
		}
		if err := w.Run(t.Context()); err == nil {
			t.Error("a second Run is no error")
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	if got := messages(t, path); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("recorded %v", got)
	}
}

func TestCloseEndsRun(t *testing.T) {
	w := create(t, Options{Path: filepath.Join(t.TempDir(), "x.corpus")})
	ended := make(chan error, 1)
	go func() { ended <- w.Run(t.Context()) }()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	// Close may have come first, which Run then says.
	if err := <-ended; err != nil && !strings.Contains(err.Error(), "closed before") {
		t.Error(err)
	}
}

// TestRotation fills more files than are kept.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	o := Options{Path: filepath.Join(dir, "x.corpus"), MaxBytes: MinMaxBytes, Files: 3}
	w := create(t, o)
	const n = 40
	for i := range n {
		w.Record(at(int64(i), fmt.Sprintf("%02d%s", i, strings.Repeat("x", 500))))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != o.Files {
		t.Fatalf("%d files, want %d (%v)", len(entries), o.Files, err)
	}
	var all []string
	for i := o.Files - 1; i >= 0; i-- {
		info, err := os.Stat(o.name(i))
		if err != nil || info.Size() > o.MaxBytes {
			t.Errorf("%s has %d bytes, want at most %d (%v)", o.name(i), info.Size(), o.MaxBytes, err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s may be read by others: %v", o.name(i), info.Mode())
		}
		all = append(all, messages(t, o.name(i))...)
	}
	for i, m := range all {
		if want := fmt.Sprintf("%02d", n-len(all)+i); m[:2] != want {
			t.Fatalf("message %s at %d of %d, want %s: the last ones in order", m[:2], i, len(all), want)
		}
	}
	if got := w.Stats(); got.Recorded != n || len(all) < 10 {
		t.Errorf("%d recorded, %d kept", got.Recorded, len(all))
	}
}

// TestFileIsFullToTheByte: a record that fits exactly does not begin a new file,
// one of a byte more does.
func TestFileIsFullToTheByte(t *testing.T) {
	for extra := range 2 {
		o := Options{Path: filepath.Join(t.TempDir(), "x.corpus"), MaxBytes: MinMaxBytes}
		w := create(t, o)
		first := at(1, "a")
		rest := int(o.MaxBytes) - len(header) - endSize - int(first.size()) - int(at(2, strings.Repeat("x", 2000)).size()) + 2000
		w.Record(first)
		w.Record(at(2, strings.Repeat("x", rest+extra)))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(o.name(1)); (err == nil) != (extra == 1) {
			t.Errorf("%d bytes more than fit: rotated file: %v", extra, err)
		}
		if info, err := os.Stat(o.Path); err != nil || extra == 0 && info.Size() != o.MaxBytes {
			t.Errorf("file of %d bytes, want %d (%v)", info.Size(), o.MaxBytes, err)
		}
	}
}

func TestRestartKeepsWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.corpus")
	for i := range 3 {
		w := create(t, Options{Path: path, Files: 2})
		w.Record(at(1, fmt.Sprint(i)))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := messages(t, path+".1"), messages(t, path); !slices.Equal(a, []string{"1"}) || !slices.Equal(b, []string{"2"}) {
		t.Errorf("kept %v and %v", a, b)
	}
}

// TestMend cuts a file everywhere, as a Writer that is killed may leave it, and
// records again.
func TestMend(t *testing.T) {
	data := encoded(t, few()...)
	path := filepath.Join(t.TempDir(), "x.corpus")
	for n := len(header); n <= len(data); n++ {
		want, _ := read(data[:n])
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		w := create(t, Options{Path: path, Files: 2})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := readFile(t, path+".1"); err != nil || len(got) != len(want) {
			t.Errorf("cut at %d: %d records, want %d (%v)", n, len(got), len(want), err)
		}
	}
}

// TestMendLeavesDamage: only what is missing at the end is cut off.
func TestMendLeavesDamage(t *testing.T) {
	data := encoded(t, few()...)
	data[len(header)+10] ^= 1
	path := filepath.Join(t.TempDir(), "x.corpus")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := create(t, Options{Path: path}).Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path + ".1"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("a damaged file was changed (%v)", err)
	}
}

// TestForeignFilesStay: nothing that is no corpus is renamed or removed.
func TestForeignFilesStay(t *testing.T) {
	for _, name := range []string{"x.corpus", "x.corpus.1"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.corpus")
		if err := create(t, Options{Path: path}).Close(); err != nil {
			t.Fatal(err)
		}
		foreign := filepath.Join(dir, name)
		if err := os.WriteFile(foreign, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(Options{Path: path, Files: 2}); err == nil || !strings.Contains(err.Error(), foreign) {
			t.Errorf("%s: error %v, want one that names the file", name, err)
		}
		if got, err := os.ReadFile(foreign); err != nil || string(got) != "precious" {
			t.Errorf("%s has %q (%v)", name, got, err)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name string
		o    Options
		want []string
	}{
		{"all at once", Options{MaxBytes: 4095, Files: -1}, []string{"no Path", "MaxBytes 4095", "Files -1"}},
		{"no folder", Options{Path: filepath.Join(dir, "none", "x")}, []string{"no such file"}},
		{"a folder", Options{Path: dir}, []string{"no regular file"}},
		{"a device", Options{Path: os.DevNull}, []string{"no regular file"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Create(tt.o)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
		})
	}
}

// TestQueueIsBounded records without anybody who writes.
func TestQueueIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.corpus")
	w := create(t, Options{Path: path})
	for range QueueMessages + 7 {
		w.Record(at(1, "x"))
	}
	if n := w.Stats().Dropped; n != 7 {
		t.Errorf("%d dropped, want 7", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	w = create(t, Options{Path: path})
	large := at(1, "")
	large.Message = make([]byte, QueueBytes/4)
	for range 6 {
		w.Record(large)
	}
	large.Message = make([]byte, MaxRecord+1) // no file holds it
	w.Record(large)
	if n := w.Stats().Dropped; n != 3 {
		t.Errorf("%d large ones dropped, want 3", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := messages(t, path); len(got) != 4 {
		t.Errorf("%d large ones recorded, want 4", len(got))
	}
	w = create(t, Options{Path: path, MaxBytes: MinMaxBytes})
	w.Record(at(1, strings.Repeat("x", MinMaxBytes-40)))
	if n := w.Stats().Dropped; n != 1 {
		t.Errorf("%d dropped that no file can hold, want 1", n)
	}
}

// TestFailureTurnsRecordingOff has a write and a rotation fail.
func TestFailureTurnsRecordingOff(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail func(t *testing.T, w *Writer)
	}{
		{"write", func(t *testing.T, w *Writer) {
			if err := w.file.f.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"rotation", func(t *testing.T, w *Writer) {
			if err := os.WriteFile(w.options.name(1), []byte("not ours"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			w := create(t, Options{
				Path: filepath.Join(t.TempDir(), "x.corpus"), MaxBytes: MinMaxBytes,
				Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			tt.fail(t, w)
			const n = 100
			for range n {
				w.Record(at(1, strings.Repeat("x", 1000)))
			}
			if w.Err() != nil {
				t.Fatalf("off before it writes: %v", w.Err())
			}
			if err := w.Close(); err == nil || !strings.Contains(err.Error(), w.options.Path) {
				t.Errorf("Close: %v, want why recording is off", err)
			}
			if s := w.Stats(); s.Failed == 0 || s.Failed+s.Recorded != n || s.Dropped != 0 {
				t.Errorf("stats %+v of %d messages", s, n)
			}
			if got := strings.Count(log.String(), "recording of messages is off"); got != 1 {
				t.Errorf("logged %d times:\n%s", got, log.String())
			}
		})
	}
}
