package sitelist

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const counters = "example.org/counters"

// tree writes files, by their slash-separated names, and returns their folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func source(pkg, imported, body string) string {
	return "package " + pkg + "\n\nimport " + imported + "\n\n" + body + "\n"
}

func TestScan(t *testing.T) {
	dir := tree(t, map[string]string{
		"go.mod":             "module example.org\n",
		"b/b.go":             source("b", `"`+counters+`"`, `var s = counters.NewSite("b.s")`),
		"a/tagged.go":        "//go:build never\n\n" + source("a", `c "`+counters+`"`, `var s = c.NewSite("a.s")`),
		"a/a_test.go":        source("a", `"`+counters+`"`, `var s = counters.NewSite("a.test")`),
		"a/other.go":         source("a", `"example.org/other"`, `var s = counters.NewSite("a.other")`),
		"testdata/x.go":      source("x", `"`+counters+`"`, `var s = counters.NewSite("x.s")`),
		"module/go.mod":      "module example.org/module\n",
		"module/in.go":       source("in", `"`+counters+`"`, `var s = counters.NewSite("in.s")`),
		".hidden/y.go":       source("y", `"`+counters+`"`, `var s = counters.NewSite("y.s")`),
		"b/testdata/z/z.txt": "no Go",
	})
	decls, err := Scan(dir, counters)
	if err != nil {
		t.Fatal(err)
	}
	if got := Names(decls); !slices.Equal(got, []string{"a.s", "b.s"}) {
		t.Errorf("names %v", got)
	}
}

func TestScanRefuses(t *testing.T) {
	for body, want := range map[string]string{
		"var s = counters.NewSite(name)":  "a.go:5:9: the name of a site must be a string literal",
		"var s = counters.NewSite(`a` +)": "sitelist: parse",
	} {
		dir := tree(t, map[string]string{"a.go": source("a", `"`+counters+`"`, body)})
		if _, err := Scan(dir, counters); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", body, err, want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := tree(t, map[string]string{
		"good.txt":     "# title\na.a\n\nb.b\n",
		"unsorted.txt": "b.b\na.a\n",
		"twice.txt":    "a.a\na.a\n",
	})
	names, err := Read(filepath.Join(dir, "good.txt"))
	if err != nil || !slices.Equal(names, []string{"a.a", "b.b"}) {
		t.Errorf("Read = %v, %v", names, err)
	}
	for file, want := range map[string]string{
		"unsorted.txt": `unsorted.txt:2: "a.a" does not sort after "b.b"`,
		"twice.txt":    `twice.txt:2`,
		"none.txt":     "no such file",
	} {
		if _, err := Read(filepath.Join(dir, file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", file, err, want)
		}
	}
}
