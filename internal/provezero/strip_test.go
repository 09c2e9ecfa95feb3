package provezero

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"
)

const testCounters = "example.org/counters"

// checked type-checks src against the counters package of the project.
func checked(t *testing.T, src string) (*token.FileSet, *ast.File, *types.Info) {
	t.Helper()
	off, err := os.ReadFile("../../counters/off.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	known := imports{}
	text := string(off) + "\ntype (\n\tSiteCounts struct{}\n\tSiteLines struct{}\n)\n"
	known[testCounters], _, _ = check(t, fset, known, testCounters, text)
	_, file, info := check(t, fset, known, "example.org/p", src)
	return fset, file, info
}

type imports map[string]*types.Package

func (m imports) Import(path string) (*types.Package, error) {
	if p := m[path]; p != nil {
		return p, nil
	}
	p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
	p.MarkComplete()
	return p, nil
}

func check(t *testing.T, fset *token.FileSet, known imports, path, src string) (*types.Package, *ast.File, *types.Info) {
	t.Helper()
	file, err := parser.ParseFile(fset, path+".go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	pkg, err := (&types.Config{Importer: known}).Check(path, fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	return pkg, file, info
}

const head = "package p\n\nimport \"" + testCounters + "\"\n\nvar c counters.Set\n\n"

func TestStrip(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"call", "func f(s counters.Site) { counters.Hash(c, s, 1) }", "func f() {  }"},
		{"other results stay", "func f() any { return counters.Load(c) }", "func f() any { return counters.Load(c) }"},
		{"variables", "var s = counters.NewSite(\"p.s\")\nvar (\n\ta = 1\n\tr = counters.NewSite(\"p.r\")\n)", "\nvar (\n\ta = 1\n\t\n)"},
		{"parameters and arguments", "func f(a int, s counters.Site, b int) { f(1, s, 2) }", "func f(a int, b int) { f(1, 2) }"},
		{"last of several lines", "func f(\n\ta int,\n\ts counters.Site,\n) {\n\tf(\n\t\ta,\n\t\ts,\n\t)\n}", "func f(\n\ta int,\n\n) {\n\tf(\n\t\ta,\n\n\t)\n}"},
		{"only one", "func f(s, r counters.Site) { f(s, r) }", "func f() { f() }"},
		{"interface", "type i interface{ m(s counters.Site, n int) }", "type i interface{ m(n int) }"},
		{"fields", "type t struct {\n\ts counters.Site\n\tn int\n}\n\nvar v = t{s: counters.Site{}, n: 1}", "type t struct {\n\t\nn int\n}\n\nvar v = t{n: 1}"},
		{"block", "func f(n int) { if counters.Enabled && n > 1 { n++ } }", "func f(n int) { {} }"},
		{"either", "func f(n int) { if counters.Enabled { n++ } else { n-- } }", "func f(n int) { { n-- } }"},
		{"not", "func f(n int) { if !counters.Enabled { n++ } }", "func f(n int) { { n++ } }"},
		{"other condition", "func f(n int) { if n > 1 { n++ } }", "func f(n int) { if n > 1 { n++ } }"},
		{"last use", "func f() { n := 1; counters.Copy(c, counters.Site{}, n) }", "func f() { n := 1; {_ = n} }"},
		{"assignment", "func f(s counters.Site) { r := s; f(r) }", "func f() { ; f() }"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fset, file, info := checked(t, head+tt.src)
			out, err := strip(fset, file, []byte(head+tt.src), info, testCounters)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimPrefix(string(out), head); got != tt.want {
				t.Errorf("strip gives\n%s\nwant\n%s", got, tt.want)
			}
			if a, b := strings.Count(head+tt.src, "\n"), strings.Count(string(out), "\n"); a != b {
				t.Errorf("%d lines became %d", a, b)
			}
			if _, err := parser.ParseFile(token.NewFileSet(), "out.go", out, 0); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStripBlanksImports(t *testing.T) {
	src := "package p\n\nimport \"" + testCounters + "\"\n\nfunc f(s counters.Site) { f(s) }\n"
	fset, file, info := checked(t, src)
	out, err := strip(fset, file, []byte(src), info, testCounters)
	if want := "import _ \"" + testCounters + "\""; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("strip gives %v\n%s", err, out)
	}
}

func TestStripRefuses(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"result", "func f() counters.Site { panic(1) }", "example.org/p.go:7:10: a result of type counters.Site"},
		{"slice", "var v []counters.Site", "a container of counters.Site"},
		{"map", "var v map[counters.Site]int", "a container of counters.Site"},
		{"defer", "func f(s counters.Site) { defer counters.Hash(c, s, 1) }", "a deferred count"},
		{"go", "func f(s counters.Site) { go counters.Hash(c, s, 1) }", "a count in a goroutine"},
		{"mixed", "func f(s counters.Site) { r, n := s, 1; f(r); _ = n }", "an assignment of a Site among others"},
		{"or", "func f(n int) { if counters.Enabled || n > 1 { n++ } }", "a condition on counters.Enabled and on more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fset, file, info := checked(t, head+tt.src)
			_, err := strip(fset, file, []byte(head+tt.src), info, testCounters)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
