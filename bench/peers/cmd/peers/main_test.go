package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/verdict"
)

func TestRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "peers.json")
	var stdout, stderr strings.Builder
	if code := run(t.Context(), []string{"--messages=20", "--runs=1", "--dir=" + t.TempDir(), "--out=" + out}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := verdict.ReadJSON(f)
	if err != nil || len(r.Runs) != 5 || !r.Verified {
		t.Errorf("%d runs, %v", len(r.Runs), err)
	}
	if lines := strings.Count(stdout.String(), "\n"); lines != 6 {
		t.Errorf("want a title and five arms:\n%s", stdout.String())
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{"--runs=0"}, {"--speed"}, {"surplus"}} {
		var stdout, stderr strings.Builder
		if code := run(t.Context(), args, &stdout, &stderr); code != exitUsage || stdout.Len() > 0 || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, stdout.String(), stderr.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := run(ctx, nil, new(strings.Builder), new(strings.Builder)); code != exitInterrupted {
		t.Errorf("interrupted: exit code %d", code)
	}
}
