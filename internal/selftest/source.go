package selftest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A sourceMutant is a change of this module's source that a compiler accepts.
type sourceMutant struct {
	name     string
	file     string
	old, new string // old is there once
	judges   []string
}

var sourceMutants = []sourceMutant{
	{
		"the archive hashes for itself", "archive/archive.go",
		"env.Key(siteArchive)", "env.Fresh().Key(siteArchive)",
		[]string{byAcceptance, byGate, byDiff, byLock, byChange},
	},
	{
		"the handler forgets the Envelope that came along", "relay/dispatch.go",
		"env := j.take(m)", "env := j.take(&pubsub.Message{})",
		[]string{byAcceptance, byGate, byDiff, byLock, byChange},
	},
	{
		"a decode is not counted", "message/envelope.go",
		"counters.Decode(e.counts, site, len(e.data))", "",
		[]string{byAcceptance, byGate, byLock},
	},
	{
		"the validator copies every message and nobody counts it", "relay/validate.go",
		"if _, err := env.Message(siteValidator); err != nil {",
		"if len(append([]byte(nil), env.Bytes()...)) == 0 {\n\t\treturn 0, nil\n\t}\n\tif _, err := env.Message(siteValidator); err != nil {",
		[]string{byMemory},
	},
}

// compile builds the command with one file changed.
func (m sourceMutant) compile(ctx context.Context, dir, tmp string) (program string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(dir, m.file))
	if err != nil {
		return "", fmt.Errorf("selftest: the source of this module is needed: %w", err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		return "", fmt.Errorf("selftest: mutant %q: %s has %q %d times, want once", m.name, m.file, m.old, n)
	}
	changed := filepath.Join(tmp, "mutant.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(dir, m.file): changed}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(tmp, "mutant")
	return program, command(ctx, dir, "go", "build", "-buildvcs=false", "-tags=msgpathcounters", "-overlay="+list, "-o", program, "./cmd/msgpath")
}

// run runs the mutant's benchmark and returns its document. That it fails itself
// is well.
func (m sourceMutant) run(ctx context.Context, dir, tmp string, arguments []string) ([]byte, error) {
	program, err := m.compile(ctx, dir, tmp)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(tmp, "out")
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	ran := command(ctx, tmp, program, append(arguments, "--out", out)...)
	text, err := os.ReadFile(filepath.Join(out, "bench.json"))
	if err != nil {
		return nil, fmt.Errorf("selftest: mutant %q left no result: %w", m.name, errors.Join(ran, err))
	}
	return text, nil
}

func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("selftest: %s %s: %w\n%s", filepath.Base(name), args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}
