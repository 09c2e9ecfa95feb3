//go:build !msgpathcounters

// No tag of the tests changes what is built and run here: one build of them is
// enough.

package commits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
		wantNoWorktrees(t, dir)
	}
	_, _, err := Run(t.Context(), Options{})
	for _, want := range []string{"no Before", "no After", "no Package", "no Expect", "no Out", "0 rounds", "no Args"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

// wantNoWorktrees: the repository in dir has one worktree, which is its own.
func wantNoWorktrees(t *testing.T, dir string) {
	t.Helper()
	if list := git(t, dir, "worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("worktrees are left:\n%s", list)
	}
}

// A breakpoint is a script that reports to be reached and waits.
type breakpoint struct {
	script      string
	reached, on *os.File // named pipes
}

func newBreakpoint(t *testing.T, then string) breakpoint {
	t.Helper()
	dir := t.TempDir()
	pipe := func(name string) *os.File {
		name = filepath.Join(dir, name)
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0) // to open one end alone would block
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	b := breakpoint{reached: pipe("reached"), on: pipe("on")}
	b.script = fmt.Sprintf("#!/bin/sh\necho > %s\nread line < %s\n%s\n", b.reached.Name(), b.on.Name(), then)
	return b
}

// passed calls do when the script is reached for the first time, lets it go on
// each time, and reports what it could not do.
func (b breakpoint) passed(do func()) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := b.reached.Read(make([]byte, 1))
		do()
		_, written := b.on.WriteString(strings.Repeat("\n", 1000))
		done <- errors.Join(err, written)
	}()
	return done
}

// TestRunInterrupted: an interrupt at any time ends Run and leaves no worktree.
func TestRunInterrupted(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pause func(t *testing.T, o *Options, cancel func()) (passed <-chan error)
	}{
		{"between runs", func(_ *testing.T, o *Options, cancel func()) <-chan error {
			done := make(chan error, 1)
			o.Step = func(what string) {
				if strings.HasPrefix(what, "run 2") && len(done) == 0 {
					cancel()
					done <- nil
				}
			}
			return done
		}},
		{"while git checks out", func(t *testing.T, o *Options, cancel func()) <-chan error {
			b := newBreakpoint(t, "")
			hook := filepath.Join(git(t, o.Dir, "rev-parse", "--absolute-git-dir"), "hooks", "post-checkout")
			write(t, hook, b.script)
			if err := os.Chmod(hook, 0o755); err != nil {
				t.Fatal(err)
			}
			return b.passed(cancel)
		}},
		{"while go builds", func(t *testing.T, o *Options, cancel func()) <-chan error {
			b := newBreakpoint(t, `exec "$@"`)
			script := filepath.Join(t.TempDir(), "tool")
			write(t, script, b.script)
			o.Flags = []string{"-toolexec=sh " + script}
			return b.passed(cancel)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := repository(t, "good")
			o, _ := options(t, dir, "good", "good")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			passed := tt.pause(t, &o, cancel)
			if _, _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v, want %v", err, context.Canceled)
			}
			if err := <-passed; err != nil {
				t.Error(err)
			}
			wantNoWorktrees(t, dir)
		})
	}
}

// TestClean: what a killed "git worktree add" leaves goes, and what is another's
// stays.
func TestClean(t *testing.T) {
	for name, spoil := range map[string]func(tree, entry string) error{
		"a whole tree":   func(_, _ string) error { return nil },
		"no tree":        func(tree, _ string) error { return os.RemoveAll(tree) },
		"half a tree":    func(tree, _ string) error { return os.Remove(filepath.Join(tree, ".git")) },
		"a locked entry": func(_, entry string) error { return os.WriteFile(filepath.Join(entry, "locked"), nil, 0o600) },
		"nothing at all": func(tree, entry string) error { return errors.Join(os.RemoveAll(tree), os.RemoveAll(entry)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, "good")
			others := filepath.Join(t.TempDir(), "others")
			git(t, dir, "worktree", "add", "--detach", others)
			if err := os.RemoveAll(others); err != nil {
				t.Fatal(err)
			}
			before := git(t, dir, "worktree", "list")
			tmp, err := makeTemp()
			if err != nil {
				t.Fatal(err)
			}
			r := run{Options: Options{Dir: dir}, tmp: tmp, sides: []*Side{{Name: "before", tree: filepath.Join(tmp, "before")}, {Name: "after"}}}
			git(t, dir, "worktree", "add", "--detach", r.sides[0].tree)
			if err := spoil(r.sides[0].tree, filepath.Join(git(t, dir, "rev-parse", "--absolute-git-dir"), "worktrees", "before")); err != nil {
				t.Fatal(err)
			}
			if err := r.clean(t.Context()); err != nil {
				t.Error(err)
			}
			if after := git(t, dir, "worktree", "list"); after != before {
				t.Errorf("worktrees were\n%s\nand are\n%s", before, after)
			}
			if _, err := os.Stat(tmp); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", tmp, err)
			}
		})
	}
}
