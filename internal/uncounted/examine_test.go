//go:build !msgpathcounters

package uncounted

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const testdata = "github.com/msgpath/msgpath/internal/uncounted/testdata/"

// TestPrograms compares the findings in each folder of testdata with the
// comments that say what to find.
func TestPrograms(t *testing.T) {
	t.Parallel()
	programs := loadPrograms(t)
	if want := subfolders(t); !slices.Equal(slices.Sorted(maps.Keys(programs)), want) {
		t.Fatalf("programs %v were loaded, want %v", slices.Sorted(maps.Keys(programs)), want)
	}
	for name, summaries := range programs {
		t.Run(name, func(t *testing.T) {
			expect(t, reportOf(t, summaries, "."), wanted(t, name))
		})
	}
}

// loadPrograms returns the packages of testdata by folder.
func loadPrograms(t *testing.T) map[string][]*summary {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob("testdata/*/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for _, f := range slices.Concat(files, deeper) {
		patterns = append(patterns, "./"+filepath.ToSlash(filepath.Dir(f)))
	}
	all, err := Options{Patterns: slices.Compact(patterns)}.summaries(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	programs := make(map[string][]*summary)
	for _, s := range all {
		name, _, _ := strings.Cut(strings.TrimPrefix(s.pkg.Path(), testdata), "/")
		programs[name] = append(programs[name], s)
	}
	return programs
}

func subfolders(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// reportOf returns the report on summaries, with files relative to root.
func reportOf(t *testing.T, summaries []*summary, root string) Report {
	t.Helper()
	named := make(map[string]bool)
	for _, s := range summaries {
		named[s.pkg.Path()] = true
	}
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return newReport(summaries, named, root)
}

var (
	wantComment = regexp.MustCompile("(?://|/\\*) want ((?:`[^`]*` ?)+)")
	wantPattern = regexp.MustCompile("`([^`]*)`")
)

// wanted returns the expressions of a folder by "file:line".
func wanted(t *testing.T, folder string) map[string][]string {
	t.Helper()
	want := make(map[string][]string)
	err := filepath.WalkDir(filepath.Join("testdata", folder), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if c := wantComment.FindStringSubmatch(line); c != nil {
				for _, p := range wantPattern.FindAllStringSubmatch(c[1], -1) {
					at := fmt.Sprintf("%s:%d", filepath.ToSlash(path), i+1)
					want[at] = append(want[at], p[1])
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// expect compares findings with what is wanted, and uses want up.
func expect(t *testing.T, report Report, want map[string][]string) {
	t.Helper()
	for _, f := range report.Findings {
		at := fmt.Sprintf("%s:%d", f.File, f.Line)
		i := slices.IndexFunc(want[at], func(p string) bool { return regexp.MustCompile(p).MatchString(f.Message) })
		if i < 0 {
			t.Errorf("%v: %s: not wanted", f.Place, f.Message)
			continue
		}
		want[at] = slices.Delete(want[at], i, i+1)
	}
	for at, left := range want {
		for _, p := range left {
			t.Errorf("%s: nothing matches %q", at, p)
		}
	}
}

// TestExamineEnds: a context that is over ends each phase, and is told apart.
func TestExamineEnds(t *testing.T) {
	t.Parallel()
	o := Options{Patterns: []string{"./testdata/bare"}}
	pkgs, err := packages.Load(o.config(t.Context(), packages.LoadSyntax), o.Patterns...)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := analyze(t.Context(), pkgs); err != nil || len(all) != 1 {
		t.Errorf("analyze gives %d summaries, %v, want one", len(all), err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := analyze(over, pkgs); !errors.Is(err, context.Canceled) {
		t.Errorf("analyze: error %v, want %v", err, context.Canceled)
	}
	if _, err := Examine(over, o); !errors.Is(err, context.Canceled) {
		t.Errorf("Examine: error %v, want %v", err, context.Canceled)
	}
}
