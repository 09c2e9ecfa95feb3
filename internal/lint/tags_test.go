package lint

import (
	"encoding/json"
	"fmt"
	"go/build/constraint"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Vet, staticcheck and an editor look at the files of one build. What another
// one's file holds goes unnoticed unless each set of tags is vetted.

// TestVetNeedsTags breaks a file of one build and shows that vet finds it with the
// tags of that build, and not with the other's.
func TestVetNeedsTags(t *testing.T) {
	for _, tt := range []struct{ name, file, fault, found, missed string }{
		{"counting, does not compile", "on.go", "var broken int = \"text\"", "msgpathcounters", ""},
		{"counting, compiles", "on.go", "var broken = fmt.Sprintf(\"%d\", \"text\")", "msgpathcounters", ""},
		{"production, does not compile", "off.go", "var broken int = \"text\"", "", "msgpathcounters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			overlay := broken(t, tt.file, tt.fault)
			if out, err := vet(overlay, tt.found); err == nil {
				t.Errorf("vet -tags=%q finds nothing", tt.found)
			} else if !strings.Contains(out, tt.file) {
				t.Errorf("vet -tags=%q does not name %s: %v\n%s", tt.found, tt.file, err, out)
			}
			if out, err := vet(overlay, tt.missed); err != nil {
				t.Errorf("vet -tags=%q finds what it does not read: %v\n%s", tt.missed, err, out)
			}
		})
	}
}

// broken returns an overlay in which a file of counters has one line more.
func broken(t *testing.T, name, line string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(root, "counters", name))
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	to, overlay := filepath.Join(dir, name), filepath.Join(dir, "overlay.json")
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{file: to}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{to: fmt.Appendf(src, "\n%s\n", line), overlay: data} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

func vet(overlay, tags string) (string, error) {
	cmd := exec.Command("go", "vet", "-overlay="+overlay, "-tags="+tags, ".")
	cmd.Dir = filepath.Join(root, "counters")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// makeTagSets returns the sets of tags that make static vets, as the Makefile
// has them: "none" is the empty one.
func makeTagSets(t *testing.T) [][]string {
	t.Helper()
	recipe, err := exec.Command("make", "-C", root, "-n", "static").CombinedOutput()
	if err != nil {
		t.Fatalf("make -n static: %v\n%s", err, recipe)
	}
	sets := vettedSets(string(recipe))
	if len(sets) == 0 {
		t.Fatalf("make static vets no set of tags:\n%s", recipe)
	}
	return sets
}

// vettedSets reads from a recipe over which sets its loop around go vet runs.
func vettedSets(recipe string) (sets [][]string) {
	for loop := range strings.SplitSeq(recipe, "for t in ") {
		words, body, ok := strings.Cut(loop, "; do")
		body, _, _ = strings.Cut(body, "\ndone")
		if !ok || !strings.Contains(body, "go vet -tags=${t#none} ./...") {
			continue
		}
		for word := range strings.FieldsSeq(words) {
			sets = append(sets, strings.FieldsFunc(strings.TrimPrefix(word, "none"), func(r rune) bool { return r == ',' }))
		}
	}
	return sets
}

// TestEveryFileIsVetted: for each tracked Go file there is a set of tags in the
// Makefile that vets it. A new tag, or a combination that no set has, fails.
func TestEveryFileIsVetted(t *testing.T) {
	sets := makeTagSets(t)
	constrained := 0
	for name, f := range goFiles(t) {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if c.Pos() > f.Package || !constraint.IsGoBuild(c.Text) {
					continue
				}
				constrained++
				if err := vetted(c.Text, sets); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	if constrained == 0 {
		t.Error("no file has a build constraint: nothing was looked at")
	}
}

// vetted returns an error unless one of sets satisfies a build constraint. The
// race detector sets its tag itself: make test, which vets what it tests, runs
// with it.
func vetted(line string, sets [][]string) error {
	x, err := constraint.Parse(line)
	if err != nil {
		return err
	}
	given := []string{runtime.GOOS, runtime.GOARCH, "unix"}
	for _, set := range sets {
		for _, race := range [][]string{nil, {"race"}} {
			tags := slices.Concat(given, set, race)
			if x.Eval(func(tag string) bool { return slices.Contains(tags, tag) }) {
				return nil
			}
		}
	}
	return fmt.Errorf("%s: no set of tags in the Makefile vets this file: %v", line, sets)
}

func TestVetted(t *testing.T) {
	const recipe = "for t in none msgpathcounters a,b; do for dir in . counters; do (cd $dir && go vet -tags=${t#none} ./...); done; \\\ndone\nfor t in other; do go test -tags=${t#none} ./internal/lint; done\n"
	sets := vettedSets(recipe)
	if fmt.Sprint(sets) != "[[] [msgpathcounters] [a b]]" {
		t.Errorf("sets %v", sets)
	}
	if got := vettedSets("for t in none; do go test ./...; done\n"); got != nil {
		t.Errorf("a recipe without vet vets %v", got)
	}
	for line, ok := range map[string]bool{
		"//go:build msgpathcounters": true, "//go:build !msgpathcounters": true, "//go:build a && b": true,
		"//go:build race": true, "//go:build " + runtime.GOOS: true,
		"//go:build other": false, "//go:build a && msgpathcounters": false, "//go:build a && !b": false, "//go:build ignore": false,
	} {
		if err := vetted(line, sets); (err == nil) != ok {
			t.Errorf("vetted(%q) = %v, want ok %v", line, err, ok)
		}
	}
}

// TestProductionPackages: of counters, the production node has the file whose
// functions do nothing and the shared one, which import nothing, and no package
// that is for measuring or testing. The counting build has other files, so that
// the test can see a difference. That no code is left of them is for msgpath
// prove-zero to show.
func TestProductionPackages(t *testing.T) {
	for tags, want := range map[string][]string{
		"":                {"counters.go", "off.go"},
		"msgpathcounters": {"counters.go", "label.go", "lines.go", "on.go"},
	} {
		pkgs := list(t, root, tags, "-deps", "./cmd/relaynode")
		i := slices.IndexFunc(pkgs, func(p pkg) bool { return p.ImportPath == countersPath })
		if i < 0 {
			t.Fatalf("tags %q: relaynode does not depend on %s", tags, countersPath)
		}
		if got := pkgs[i].GoFiles; !slices.Equal(got, want) {
			t.Errorf("tags %q: relaynode is built with %v of counters, want %v", tags, got, want)
		}
		if imports := pkgs[i].Imports; tags == "" && len(imports) > 0 {
			t.Errorf("counters imports %v in the production build", imports)
		}
		for _, p := range pkgs {
			if slices.Contains(notInNode, strings.TrimPrefix(p.ImportPath, module+"/")) {
				t.Errorf("tags %q: relaynode depends on %s", tags, p.ImportPath)
			}
		}
	}
}

// notInNode are packages that no node may link.
var notInNode = []string{"testing", "bench", "verdict", "counters/counterstest", "internal/provezero"}
