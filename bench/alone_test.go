package bench

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// aloneArchive names the archive of a receiver that this test binary is asked to be.
const aloneArchive = "MSGPATH_TEST_ALONE"

// TestServeAlone is the receiver's process, and nothing where nobody asked for one.
func TestServeAlone(t *testing.T) {
	name := os.Getenv(aloneArchive)
	if name == "" {
		t.Skip("the other side of TestAlone")
	}
	o := NodeOptions{Archive: name, Logger: slog.New(slog.DiscardHandler)}
	if err := ServeAlone(t.Context(), o, os.Stdin, os.Stdout); err != nil {
		t.Fatal(err)
	}
	os.Exit(0) // before the testing package writes to stdout
}

func receiverProcess(ctx context.Context, t *testing.T, archive string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestServeAlone$")
	cmd.Env = append(os.Environ(), aloneArchive+"="+archive)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestAlone(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const warmup, n, size = 5, 40, 50_000
	w := NewWorkload(1, Profile{Sizes: []int{size}, Mix: []int{100}}, PubsubTopic, warmup+n, time.Now(), 0)
	run, err := Alone(ctx, receiverProcess(ctx, t, Discard), w.Messages, warmup, 8)
	if err != nil {
		t.Fatal(err)
	}
	// gossipsub copies each message out of its buffer, and nobody copies it again. The
	// race detector takes buffers out of pools.
	most := 2.0 * size
	if raceEnabled {
		most *= 2
	}
	if per := float64(run.AllocBytes) / n; run.Messages != n || per < size || per > most {
		t.Errorf("%d messages of %d bytes, %.0f bytes allocated for each", run.Messages, size, per)
	}
	if run.WallNanos <= 0 || run.CPUNanos <= 0 {
		t.Errorf("no times: %+v", run)
	}
}

func TestAloneTellsOfAReceiverThatEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w := NewWorkload(1, DefaultProfile(), PubsubTopic, 2, time.Now(), 0)
	if _, err := Alone(ctx, exec.CommandContext(ctx, "false"), w.Messages, 1, 1); err == nil || !strings.Contains(err.Error(), "the receiver ended") {
		t.Errorf("a program that ends at once: %v", err)
	}
	if _, err := Alone(ctx, exec.CommandContext(ctx, "/nosuch/program"), w.Messages, 1, 1); err == nil || !strings.Contains(err.Error(), "start receiver") {
		t.Errorf("no program: %v", err)
	}
	if _, err := Alone(ctx, receiverProcess(ctx, t, "tape"), w.Messages, 1, 1); err == nil {
		t.Error("an archive that nobody knows is accepted")
	}
}
