package bench

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// In a log there is a line when ten seconds have passed, and one only.
func TestProgressInALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := NewProgress(&log, 3)
		p.Step("one")
		time.Sleep(logEvery)
		p.Step("two")
		p.Step("three")
		p.Done()
		if got, want := log.String(), "msgpath: 2 of 3: two\n"; got != want {
			t.Errorf("log is %q, want %q", got, want)
		}
	})
}

func TestProgressWritesToTerminalsOnly(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var buffer bytes.Buffer
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for _, w := range []io.Writer{&buffer, file} {
		p := NewProgress(w, 2)
		p.Step("one")
		p.Step("two")
		p.Done()
		p.Done()
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if buffer.Len() != 0 || info.Size() != 0 {
		t.Errorf("wrote %q to a buffer, %d bytes to a file", buffer.String(), info.Size())
	}
}

// terminal opens a pseudo terminal of 100 columns and returns its two ends: what
// is written to the second can be read from the first.
func terminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return screen, tty
}

// display runs show on a terminal and returns all that was written to it.
func display(t *testing.T, show func(tty *os.File)) string {
	t.Helper()
	screen, tty := terminal(t)
	read := make(chan string)
	go func() {
		out, err := io.ReadAll(screen)
		if err != nil && !errors.Is(err, syscall.EIO) { // EIO: the other end closed
			out = append(out, err.Error()...)
		}
		read <- string(out)
	}()
	show(tty)
	if err := tty.Close(); err != nil {
		t.Error(err)
	}
	return <-read
}

func TestProgressOnTerminal(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	out := display(t, func(tty *os.File) {
		p := NewProgress(tty, 2)
		p.Step("micro baseline")
		p.Step("macro zerocopy")
		p.Step("one too many")
		p.Done()
		p.Done()
		p.Step("after the end")
	})
	rest := out
	for _, want := range []string{"1/2 ETA ? micro baseline", "2/2 ETA 0s macro zerocopy", "2/2 in 0s"} {
		at := strings.Index(rest, want)
		if at < 0 {
			t.Fatalf("%q is not in the rest, in %q", want, out)
		}
		rest = rest[at:]
	}
	if strings.Contains(out, "one too many") || strings.Contains(out, "after the end") {
		t.Errorf("shows a step past the total: %q", out)
	}
}

func TestProgressCutShort(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	out := display(t, func(tty *os.File) {
		p := NewProgress(tty, 10)
		p.Step("first")
		p.Done()
	})
	if !strings.Contains(out, "1/10 ETA ? first") || strings.Contains(out, "10/10") {
		t.Errorf("one step of ten: %q", out)
	}
}

// TestProgressWithoutSteps must end as well.
func TestProgressWithoutSteps(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, total := range []int{-1, 0, 3} {
		display(t, func(tty *os.File) {
			p := NewProgress(tty, total)
			if total < 1 {
				p.Step("none of none")
			}
			p.Done()
		})
	}
}

// TestProgressTerminalGone closes the other end of the terminal, as when a
// window is closed: steps go on.
func TestProgressTerminalGone(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	screen, tty := terminal(t)
	p := NewProgress(tty, 4)
	p.Step("shown")
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"a", "b", "c"} {
		p.Step(label)
	}
	p.Done()
}

func TestRemaining(t *testing.T) {
	for _, test := range []struct {
		elapsed     time.Duration
		done, total int64
		want        string
	}{
		{time.Second, 0, 10, "?"},
		{10 * time.Second, 5, 10, "10s"},
		{30 * time.Second, 10, 35, "1m15s"},
		{time.Minute, 4, 4, "0s"},
	} {
		if got := remaining(test.elapsed, test.done, test.total); got != test.want {
			t.Errorf("%d of %d done in %v: %s left, want %s", test.done, test.total, test.elapsed, got, test.want)
		}
	}
}
