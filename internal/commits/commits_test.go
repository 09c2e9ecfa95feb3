package commits

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program appends its version to a log and to its result, and may fail.
const program = `package main

import "os"

const version = "VERSION"

func main() {
	log, _ := os.OpenFile(os.Args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	log.WriteString(version + " ")
	log.Close()
	if version != "silent" {
		os.WriteFile(os.Args[2]+"/result", []byte(version), 0o644)
	}
	if version != "good" {
		println("it is " + version)
		os.Exit(1)
	}
}
`

// repository has one commit for each version, tagged with its name, in a module
// that is not at the top.
func repository(t *testing.T, versions ...string) string {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "module")
	git(t, top, "init", "--quiet")
	for _, v := range versions {
		write(t, filepath.Join(dir, "go.mod"), "module example.org/m\n\ngo 1.26\n")
		write(t, filepath.Join(dir, "cmd", "m", "main.go"), strings.ReplaceAll(program, "VERSION", v))
		git(t, top, "add", "-A")
		git(t, top, "commit", "--quiet", "-m", v)
		git(t, top, "tag", v)
	}
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func options(t *testing.T, dir, before, after string) (Options, string) {
	log := filepath.Join(t.TempDir(), "log")
	return Options{
		Dir: dir, Before: before, After: after, Package: "./cmd/m", Rounds: 3, Out: t.TempDir(), Expect: "result",
		Args: func(out string) []string { return []string{log, out} },
	}, log
}

// Both run by turns, one of them failing, and nothing of the repository changes.
func TestRunAlternates(t *testing.T) {
	dir := repository(t, "good", "bad")
	write(t, filepath.Join(dir, "uncommitted"), "mine")
	state := git(t, dir, "status", "--porcelain", "--ignored") + git(t, dir, "worktree", "list") + git(t, dir, "rev-parse", "HEAD")
	o, log := options(t, dir, "good", "bad")
	var steps []string
	o.Step = func(what string) { steps = append(steps, what) }
	before, after, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ran, _ := os.ReadFile(log)
	if got, want := strings.TrimSpace(string(ran)), "good bad good bad good bad"; got != want {
		t.Errorf("ran %q, want %q", got, want)
	}
	for i, s := range []Side{before, after} {
		want := []string{"good", "bad"}[i]
		if len(s.Files) != 3 || s.Commit != git(t, dir, "rev-parse", want) {
			t.Errorf("%s: %+v", want, s)
		}
		for _, name := range s.Files {
			if data, err := os.ReadFile(name); err != nil || string(data) != want {
				t.Errorf("%s holds %q, %v", name, data, err)
			}
		}
	}
	if len(steps) != o.Steps() {
		t.Errorf("%d steps, want %d: %q", len(steps), o.Steps(), steps)
	}
	now := git(t, dir, "status", "--porcelain", "--ignored") + git(t, dir, "worktree", "list") + git(t, dir, "rev-parse", "HEAD")
	if now != state {
		t.Errorf("the repository was\n%s\nand is\n%s", state, now)
	}
}

func TestRunRefuses(t *testing.T) {
	dir := repository(t, "good", "silent")
	write(t, filepath.Join(dir, "cmd", "m", "main.go"), "package main\n\nfunc main() { undeclared() }\n")
	git(t, dir, "commit", "--quiet", "-am", "broken")
	git(t, dir, "tag", "broken")
	for _, tt := range []struct{ before, after, want string }{
		{"good", "none", `find after: "none" is not a commit`},
		{"--help", "good", `find before: "--help" is not a commit`},
		{"good", "broken", "build after broken"},
		{"silent", "good", "run before silent: it left no result"},
	} {
		o, _ := options(t, dir, tt.before, tt.after)
		_, _, err := Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %s: error %v, want one with %q", tt.before, tt.after, err, tt.want)
		}
		if list := git(t, dir, "worktree", "list"); strings.Contains(list, "\n") {
			t.Errorf("%s, %s: worktrees are left:\n%s", tt.before, tt.after, list)
		}
	}
	_, _, err := Run(t.Context(), Options{})
	for _, want := range []string{"no Before", "no After", "no Package", "no Expect", "no Out", "0 rounds", "no Args"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

func TestRunInterrupted(t *testing.T) {
	dir := repository(t, "good")
	o, _ := options(t, dir, "good", "good")
	ctx, cancel := context.WithCancel(t.Context())
	o.Step = func(what string) {
		if strings.HasPrefix(what, "run 2") {
			cancel()
		}
	}
	if _, _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if list := git(t, dir, "worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("worktrees are left:\n%s", list)
	}
}
