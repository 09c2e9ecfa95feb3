package lint

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tracked returns the files that are in git or could be added, relative to
// root.
func tracked(t *testing.T) []string {
	t.Helper()
	files, err := trackedBelow(root)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// trackedBelow returns the tracked files of the tree at dir. Where git cannot
// tell, because it is not installed, dir is no working tree of its own or belongs
// to somebody else, it is all of the tree.
func trackedBelow(dir string) ([]string, error) {
	files, err := gitFiles(dir)
	if err != nil {
		files, err = walk(dir)
	}
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no file", dir)
	}
	return files, err
}

func gitFiles(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		return nil, err // a tree inside another's, where git would answer for that
	}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files, nil
}

// outputs are the directories of the root that hold no source.
var outputs = []string{"out", "bin", ".git"}

// walk returns the regular files of the tree at dir, outputs left out.
func walk(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case slices.Contains(outputs, name) && d.IsDir():
			return filepath.SkipDir
		case d.Type().IsRegular() && name != ".git":
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	return files, err
}

// TestTrackedWithoutGit: an unpacked archive, with what was built in it.
func TestTrackedWithoutGit(t *testing.T) {
	dir := t.TempDir()
	if _, err := trackedBelow(dir); err == nil {
		t.Error("an empty tree has no error")
	}
	for _, name := range []string{"a.go", ".gitignore", "b/bin/c.go", "bin/x", "out/y"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{".gitignore", "a.go", "b/bin/c.go"}
	if got, err := trackedBelow(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("files %v, %v, want %v", got, err, want)
	}
	t.Setenv("PATH", dir)
	if got, err := trackedBelow(root); err != nil || !slices.Contains(got, "go.mod") {
		t.Errorf("without git in PATH: %d files, %v", len(got), err)
	}
}

// failures is where the rapid library keeps the input of a failed test.
const failures = "testdata/rapid/"

// TestNoFailures: an input that once failed is worth a test of its own, not a
// file that a library left behind.
func TestNoFailures(t *testing.T) {
	for _, name := range failureFiles(tracked(t)) {
		t.Errorf("%s: left by a failed test: make a test of it and remove it", name)
	}
	kept := []string{"a/testdata/x", "a/" + failures + "T/T-1.fail", failures + "T/T-2.fail", "testdata/rapid.go"}
	if got := failureFiles(kept); !slices.Equal(got, kept[1:3]) {
		t.Errorf("failureFiles(%v) = %v", kept, got)
	}
}

func failureFiles(names []string) []string {
	var found []string
	for _, name := range names {
		if strings.Contains("/"+name, "/"+failures) {
			found = append(found, name)
		}
	}
	return found
}
