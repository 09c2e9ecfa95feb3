package postgrestest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// launcher makes the test binary launch a server, say where, and wait.
const launcher = "MSGPATH_TEST_LAUNCHER"

func TestLauncher(t *testing.T) {
	if os.Getenv(launcher) == "" {
		t.Skip("is run by TestServerDiesWithProcess")
	}
	fmt.Println("url", Start(t).URL())
	select {}
}

// A server does not outlive a test binary that is killed.
func TestServerDiesWithProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process that its parent died")
	}
	need(t)
	binary := exec.Command(os.Args[0], "-test.run=^TestLauncher$")
	binary.Env = append(os.Environ(), launcher+"=1", "TMPDIR="+shareable(t))
	out, err := binary.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := binary.Start(); err != nil {
		t.Fatal(err)
	}
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		url, _ = strings.CutPrefix(lines.Text(), "url ")
	}
	conn := connect(t, url)
	if err := binary.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = binary.Wait() // killed
	done := make(chan error, 1)
	go func() { _, err := conn.WaitForNotification(t.Context()); done <- err }()
	select {
	case <-done: // the connection ended, as nobody else can end it
	case <-time.After(startTimeout):
		t.Fatal("the server runs on")
	}
	if conn, err := pgx.Connect(t.Context(), url); err == nil {
		t.Errorf("it answers: %v", conn.Close(t.Context()))
	}
}

// shareable returns a folder for a server that another process leaves behind.
func shareable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "msgpath-launcher-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // processes that are ending may still write
	return dir
}

// fake is a testing.TB that tells what it was asked to end with.
type fake struct {
	testing.TB
	ended string
}

func (f *fake) Helper()                        {}
func (f *fake) Skipf(format string, a ...any)  { f.ended = "skip: " + fmt.Sprintf(format, a...) }
func (f *fake) Fatalf(format string, a ...any) { f.ended = "fatal: " + fmt.Sprintf(format, a...) }

// Without PostgreSQL a test says loudly that it did not run, or fails.
func TestNeed(t *testing.T) {
	t.Setenv("PATH", "")
	was := installed
	installed = "/none/*/bin/initdb"
	defer func() { installed = was }()
	for required, want := range map[string]string{"": "skip: NOT CHECKED", "1": "fatal: PostgreSQL is required"} {
		t.Setenv("MSGPATH_REQUIRE_POSTGRES", required)
		var f fake
		if need(&f); !strings.HasPrefix(f.ended, want) {
			t.Errorf("MSGPATH_REQUIRE_POSTGRES=%q: %q, want %q", required, f.ended, want)
		}
	}
}
