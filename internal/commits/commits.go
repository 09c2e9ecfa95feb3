package commits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// grace is how long a program may take to end after an interrupt.
const grace = 10 * time.Second

// Options say what to run.
type Options struct {
	Dir     string   // a directory of the repository, where the module is; "" is the working directory
	Before  string   // commit, branch or tag
	After   string   // the same
	Package string   // main package, as ./cmd/msgpath
	Flags   []string // of go build; COMMIT in one is replaced by the full hash of the commit that is built
	Rounds  int      // runs of each commit

	// Args returns the program's arguments for the run that leaves its files in
	// out, an empty directory.
	Args func(out string) []string
	// Expect is a file that each run leaves in its directory.
	Expect string
	// Out is the directory for all runs: before/1, after/1, before/2 and so on. What
	// earlier runs left there is removed.
	Out string
	// Step is told what is done next; nil: nobody is.
	Step func(what string)
}

// Steps returns how often Step is called.
func (o Options) Steps() int { return 2 + 2*o.Rounds }

// Validate reports everything wrong with o.
func (o Options) Validate() error {
	var errs []error
	for _, f := range []struct{ name, value string }{
		{"Before", o.Before}, {"After", o.After}, {"Package", o.Package}, {"Expect", o.Expect}, {"Out", o.Out},
	} {
		if f.value == "" {
			errs = append(errs, fmt.Errorf("commits: options: no %s", f.name))
		}
	}
	if o.Rounds < 1 {
		errs = append(errs, fmt.Errorf("commits: options: %d rounds, want at least 1", o.Rounds))
	}
	if o.Args == nil {
		errs = append(errs, errors.New("commits: options: no Args"))
	}
	return errors.Join(errs...)
}

// A Side is one of the two commits and what its runs left.
type Side struct {
	Name   string // "before" or "after"
	Ref    string // as it was asked for
	Commit string // full hash

	Files []string // Expect of each round, in order

	tree, program string
}

// Run builds both commits and runs them by turns. The error names the commit
// that could not be found, built or run.
func Run(ctx context.Context, o Options) (before, after Side, err error) {
	if err := o.Validate(); err != nil {
		return before, after, err
	}
	tmp, err := makeTemp()
	if err != nil {
		return before, after, err
	}
	r := run{Options: o, tmp: tmp, sides: []*Side{{Name: "before", Ref: o.Before}, {Name: "after", Ref: o.After}}}
	defer func() { err = errors.Join(err, r.clean(context.WithoutCancel(ctx))) }()
	if err := r.all(ctx); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return before, after, err
	}
	return *r.sides[0], *r.sides[1], nil
}

// makeTemp makes a directory and returns its name as git prints it.
func makeTemp() (string, error) {
	dir, err := filepath.EvalSymlinks(os.TempDir())
	if err == nil {
		dir, err = os.MkdirTemp(dir, "commits")
	}
	if err != nil {
		return "", fmt.Errorf("commits: make directory: %w", err)
	}
	return dir, nil
}

type run struct {
	Options
	tmp    string
	prefix string // of Dir within the repository
	sides  []*Side
}

func (r *run) all(ctx context.Context) error {
	if err := r.resolve(ctx); err != nil {
		return err
	}
	for _, s := range r.sides {
		r.step("build " + s.Name + " " + s.Ref)
		if err := r.build(ctx, s); err != nil {
			return err
		}
	}
	for round := 1; round <= r.Rounds; round++ {
		for _, s := range r.sides {
			r.step(fmt.Sprintf("run %d of %d, %s %s", round, r.Rounds, s.Name, s.Ref))
			if err := r.once(ctx, s, round); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) step(what string) {
	if r.Step != nil {
		r.Step(what)
	}
}

// resolve finds both commits before anything is built.
func (r *run) resolve(ctx context.Context) error {
	var err error
	if r.prefix, err = r.git(ctx, "rev-parse", "--show-prefix"); err != nil {
		return err
	}
	for _, s := range r.sides {
		if s.Commit, err = r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", s.Ref+"^{commit}"); err != nil {
			return fmt.Errorf("commits: find %s: %q is not a commit of this repository", s.Name, s.Ref)
		}
	}
	return nil
}

func (r *run) build(ctx context.Context, s *Side) error {
	s.tree, s.program = filepath.Join(r.tmp, s.Name), filepath.Join(r.tmp, s.Name+".bin")
	if _, err := r.git(ctx, "worktree", "add", "--detach", "--quiet", s.tree, s.Commit); err != nil {
		return err
	}
	args := slices.Concat([]string{"build", "-buildvcs=false", "-o", s.program}, r.flagsFor(s), []string{r.Package})
	_, err := command(ctx, filepath.Join(s.tree, r.prefix), "go", args...)
	if err != nil {
		return fmt.Errorf("commits: build %s %s: %w", s.Name, s.Ref, err)
	}
	return nil
}

// flagsFor returns the flags of go build for one side.
func (r *run) flagsFor(s *Side) []string {
	flags := slices.Clone(r.Flags)
	for i := range flags {
		flags[i] = strings.ReplaceAll(flags[i], "COMMIT", s.Commit)
	}
	return flags
}

// once makes one run. What counts is that it left its file: a program that fails
// because of what it found has written that down.
func (r *run) once(ctx context.Context, s *Side, round int) error {
	out, err := filepath.Abs(filepath.Join(r.Out, s.Name, strconv.Itoa(round)))
	if err != nil {
		return fmt.Errorf("commits: %w", err)
	}
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return fmt.Errorf("commits: make directory: %w", err)
	}
	_, err = command(ctx, r.tmp, s.program, r.Args(out)...)
	file := filepath.Join(out, r.Expect)
	if _, missing := os.Stat(file); missing != nil {
		return fmt.Errorf("commits: run %s %s: it left no %s: %w", s.Name, s.Ref, r.Expect, errors.Join(err, missing))
	}
	s.Files = append(s.Files, file)
	return ctx.Err()
}

// clean removes the worktrees, their entries in the repository and the programs.
// An interrupted "git worktree add" may leave half a tree, which git does not
// remove, or an entry that is locked, which git worktree prune leaves alone; and
// prune would take entries of others. So the directories go first, and then the
// entries that are listed below them, --force being said twice for the lock.
func (r *run) clean(ctx context.Context) error {
	errs := []error{os.RemoveAll(r.tmp)}
	if !slices.ContainsFunc(r.sides, func(s *Side) bool { return s.tree != "" }) {
		return errs[0]
	}
	listed, err := r.git(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return errors.Join(errs[0], err)
	}
	for line := range strings.Lines(listed) {
		tree, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "+r.tmp+string(filepath.Separator))
		if ok {
			_, err := r.git(ctx, "worktree", "remove", "--force", "--force", filepath.Join(r.tmp, tree))
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (r *run) git(ctx context.Context, args ...string) (string, error) {
	return command(ctx, r.Dir, "git", args...)
}

// command runs a program to its end and returns what it printed. It is
// interrupted when ctx ends.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = grace
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
