package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The module, and where it is from here.
const (
	module = "github.com/msgpath/msgpath"
	root   = "../.."
)

// generated marks files that no rule of style applies to.
const generated = "// Code generated "

// Strings that must not be in a tracked file, put together so that this file
// does not hold them.
var (
	machinePaths = []string{"/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"}
	leftovers    = []string{"TO" + "DO", "FIX" + "ME", "X" + "XX"}
	placeholder  = "@@" // in a text
	sleep        = "time.Sl" + "eep("
)

// offences returns what is wrong with the text of a file.
func offences(name, text string) (errs []error) {
	fakeTime := strings.Contains(text, `"testing/synctest"`) // sleeping is how its tests let time pass
	isGo := strings.HasSuffix(name, ".go") && !strings.HasPrefix(text, generated)
	for i, line := range strings.Split(text, "\n") {
		for _, p := range machinePaths {
			if strings.Contains(line, p) {
				errs = append(errs, fmt.Errorf("%s:%d: path of one machine: %s", name, i+1, p))
			}
		}
		for _, word := range leftovers {
			if isGo && strings.Contains(line, word) {
				errs = append(errs, fmt.Errorf("%s:%d: %s", name, i+1, word))
			}
		}
		if isMarkdown(name) && strings.Contains(line, placeholder) {
			errs = append(errs, fmt.Errorf("%s:%d: placeholder %s", name, i+1, placeholder))
		}
		if strings.HasSuffix(name, "_test.go") && !fakeTime && strings.Contains(line, sleep) {
			errs = append(errs, fmt.Errorf("%s:%d: %s…): wait on an event", name, i+1, sleep))
		}
	}
	return errs
}

// TestFiles looks at all text but test data from elsewhere.
func TestFiles(t *testing.T) {
	for _, name := range tracked(t) {
		if strings.Contains(name, "testdata/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(data) {
			continue
		}
		for _, err := range offences(name, string(data)) {
			t.Error(err)
		}
	}
}

func TestOffences(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"a.go", "package a\n", 0},
		{"README.md", "run in " + machinePaths[0] + "x\n", 1},
		{"a.go", "// " + leftovers[0] + ": later\n", 1},
		{"notes.md", leftovers[0] + "\n", 0},
		{"notes.md", "it takes " + placeholder + "TIME" + placeholder + "\n", 1},
		{"a.go", "// " + placeholder + "\n", 0},
		{"a_test.go", "\t" + sleep + "time.Second)\n", 1},
		{"a_test.go", "import \"testing/synctest\"\n\t" + sleep + "time.Second)\n", 0},
		{"a.go", "\t" + sleep + "time.Second)\n", 0},
		{"a.pb.go", generated + "by x. DO NOT EDIT.\n// " + leftovers[1] + "\n", 0},
	} {
		if errs := offences(tt.name, tt.text); len(errs) != tt.want {
			t.Errorf("offences(%q, %q) = %v, want %d errors", tt.name, tt.text, errs, tt.want)
		}
	}
}

// goFiles parses the tracked Go files outside testdata.
func goFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := make(map[string]*ast.File)
	for _, name := range tracked(t) {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(name)] = f
	}
	return files
}

// TestPackageComments: each package has one comment, in doc.go or, for a
// command, in its main file. The counters package, with its one documented
// file, has it there.
func TestPackageComments(t *testing.T) {
	where, command := make(map[string][]string), make(map[string]bool)
	for name, f := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		dir := filepath.Dir(name)
		where[dir] = append(where[dir], nil...)
		command[dir] = f.Name.Name == "main"
		if f.Doc != nil && !onlyConstraints(f.Doc) {
			where[dir] = append(where[dir], filepath.Base(name))
		}
	}
	for dir, in := range where {
		if err := commentPlace(dir, in, command[dir]); err != nil {
			t.Error(err)
		}
	}
}

func commentPlace(dir string, in []string, command bool) error {
	if len(in) != 1 {
		return fmt.Errorf("%s: package comment in %v, want one", dir, in)
	}
	allowed := []string{"doc.go"}
	if command {
		allowed = append(allowed, "main.go")
	}
	if dir == "counters" {
		allowed = append(allowed, "counters.go")
	}
	if !slices.Contains(allowed, in[0]) {
		return fmt.Errorf("%s: package comment in %s, want it in %s", dir, in[0], strings.Join(allowed, " or "))
	}
	return nil
}

func onlyConstraints(doc *ast.CommentGroup) bool {
	return !slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return !constraint.IsGoBuild(c.Text) && !strings.HasPrefix(c.Text, generated)
	})
}

func TestCommentPlace(t *testing.T) {
	for _, tt := range []struct {
		dir     string
		in      []string
		command bool
		ok      bool
	}{
		{"relay", []string{"doc.go"}, false, true},
		{"relay", nil, false, false},
		{"relay", []string{"doc.go", "relay.go"}, false, false},
		{"relay", []string{"relay.go"}, false, false},
		{"relay", []string{"main.go"}, false, false},
		{"counters", []string{"counters.go"}, false, true},
		{"cmd/relaynode", []string{"main.go"}, true, true},
	} {
		if err := commentPlace(tt.dir, tt.in, tt.command); (err == nil) != tt.ok {
			t.Errorf("commentPlace(%q, %v, %v) = %v, want ok %v", tt.dir, tt.in, tt.command, err, tt.ok)
		}
	}
}

// Build tags of the project, and those that the toolchain sets.
var (
	projectTags   = []string{"msgpathcounters", "crashpoints", "race"}
	toolchainTags = []string{"ignore", "linux", "darwin", "windows", "unix", "amd64", "arm64"}
)

func TestBuildTags(t *testing.T) {
	for name, f := range goFiles(t) {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if err := checkConstraint(c.Text); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// checkConstraint returns an error for a build constraint with a tag that is not
// known. Every other comment is right.
func checkConstraint(comment string) error {
	if !constraint.IsGoBuild(comment) {
		return nil
	}
	x, err := constraint.Parse(comment)
	if err != nil {
		return err
	}
	var errs []error
	x.Eval(func(tag string) bool {
		if !slices.Contains(projectTags, tag) && !slices.Contains(toolchainTags, tag) {
			errs = append(errs, fmt.Errorf("build tag %s is none of %v", tag, projectTags))
		}
		return true
	})
	return errors.Join(errs...)
}

func TestCheckConstraint(t *testing.T) {
	for _, tt := range []struct {
		comment string
		ok      bool
	}{
		{"// a comment", true},
		{"//go:build !msgpathcounters", true},
		{"//go:build linux && crashpoints", true},
		{"//go:build debug", false},
	} {
		if err := checkConstraint(tt.comment); (err == nil) != tt.ok {
			t.Errorf("checkConstraint(%q) = %v, want ok %v", tt.comment, err, tt.ok)
		}
	}
}
