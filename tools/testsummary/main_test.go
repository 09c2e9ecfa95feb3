package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	const (
		pass  = `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n"
		ok    = `{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"
		fails = `{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: wrong\n"}` + "\n" +
			`{"Action":"fail","Package":"p","Test":"TestB"}` + "\n"
		failed = `{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n"
		skip   = `{"Action":"skip","Package":"p","Test":"TestC"}` + "\n"
		build  = `{"ImportPath":"q","Action":"build-output","Output":"q.go:1: undefined: x\n"}` + "\n" +
			`{"Action":"fail","Package":"q","FailedBuild":"q"}` + "\n"
	)
	for _, tt := range []struct {
		name, in string
		code     int
		want     []string
	}{
		{"pass", pass + skip + ok, 0, []string{"ok  \tp\t0.1s\n", "1 passed, 0 failed, 1 skipped\n"}},
		{"fail", pass + fails + failed, 1, []string{"b_test.go:1: wrong", "FAIL\tp", "1 passed, 1 failed, 0 skipped (1 packages failed)\n"}},
		{"build", pass + build, 1, []string{"undefined: x", "1 passed, 0 failed, 0 skipped (1 packages failed)"}},
		{"nothing", "", 4, []string{"0 passed"}},
		{"no event", "go: broken\n" + pass, 0, []string{"go: broken\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			file := filepath.Join(t.TempDir(), "tests.txt")
			if code := run(strings.NewReader(tt.in), &stdout, &stderr, file); code != tt.code {
				t.Errorf("exit %d, want %d; stderr %q", code, tt.code, &stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("printed %q, want it to contain %q", &stdout, want)
				}
			}
			last, err := os.ReadFile(file)
			if err != nil || !strings.HasSuffix(stdout.String(), string(last)) {
				t.Errorf("file holds %q (%v), want the last line of %q", last, err, &stdout)
			}
		})
	}
}
