package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Profiles of an interrupted run are whole.
func TestInterruptedWritesProfiles(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	args := []string{"bench", "micro", "--out", filepath.Join(dir, "out")}
	names := []string{"cpuprofile", "memprofile", "mutexprofile", "blockprofile", "trace"}
	for _, name := range names {
		args = append(args, "--"+name, filepath.Join(dir, name))
	}
	if code := run(ctx, args, os.Stderr, os.Stderr); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is empty or is not there: %v", name, err)
		}
	}
}

// A file that cannot be made ends the command before anything runs, and what was
// begun by then.
func TestProfileThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second finds nothing begun
		var stderr strings.Builder
		code := run(t.Context(), []string{
			"bench", "micro", "--out", filepath.Join(dir, "out"), "--trace", filepath.Join(dir, "trace"), "--cpuprofile", filepath.Join(dir, "none", "cpu"),
		}, os.Stderr, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), "--cpuprofile: ") {
			t.Errorf("exit code %d, %s", code, stderr.String())
		}
	}
}
