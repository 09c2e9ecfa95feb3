package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/internal/provezero/sitelist"
)

// countersPath is the import path of the package that counts.
const countersPath = module + "/counters"

// countingFunctions returns the names of the functions of counters that count:
// those that take a Set first and return nothing.
func countingFunctions(file *ast.File) []string {
	var names []string
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Type.Results != nil || len(f.Type.Params.List) == 0 {
			continue
		}
		if first, ok := f.Type.Params.List[0].Type.(*ast.Ident); ok && first.Name == "Set" {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// A guardCheck looks for counting that does not stand, as a statement, in a
// block under counters.Enabled.
type guardCheck struct {
	fset      *token.FileSet
	counters  string   // the package's name in the file
	functions []string // that count
	seen      int
	errs      []error
}

// unguarded returns where file counts outside a block, and how often it counts.
func unguarded(fset *token.FileSet, file *ast.File, functions []string) (errs []error, seen int) {
	c := &guardCheck{fset: fset, counters: sitelist.ImportName(file, countersPath), functions: functions}
	if c.counters == "" {
		return nil, 0
	}
	c.check(file, false)
	return c.errs, c.seen
}

// check looks at n, which is under counters.Enabled if guarded is true.
func (c *guardCheck) check(n ast.Node, guarded bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			c.ifStmt(n, guarded)
			return false
		case *ast.ExprStmt:
			call, ok := n.X.(*ast.CallExpr)
			if !ok || !c.counts(call.Fun) || !guarded {
				return true
			}
			c.seen++
			for _, arg := range call.Args {
				c.check(arg, guarded)
			}
			return false
		case *ast.SelectorExpr:
			if c.counts(n) {
				c.seen++
				c.errs = append(c.errs, fmt.Errorf("%s: counters.%s is not a statement in a block under counters.Enabled", c.fset.Position(n.Pos()), n.Sel.Name))
			}
		}
		return true
	})
}

func (c *guardCheck) ifStmt(n *ast.IfStmt, guarded bool) {
	if n.Init != nil {
		c.check(n.Init, guarded)
	}
	c.check(n.Cond, guarded)
	c.check(n.Body, guarded || c.requires(n.Cond))
	if n.Else != nil {
		c.check(n.Else, guarded)
	}
}

// requires reports whether x is true only if counters.Enabled is.
func (c *guardCheck) requires(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return c.requires(x.X)
	case *ast.BinaryExpr:
		return x.Op == token.LAND && (c.requires(x.X) || c.requires(x.Y))
	case *ast.SelectorExpr:
		return c.isCounters(x) && x.Sel.Name == "Enabled"
	}
	return false
}

func (c *guardCheck) counts(x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	return ok && c.isCounters(s) && slices.Contains(c.functions, s.Sel.Name)
}

func (c *guardCheck) isCounters(x *ast.SelectorExpr) bool {
	id, ok := x.X.(*ast.Ident)
	return ok && id.Name == c.counters
}

// TestGuards: outside tests, whatever counts stands under counters.Enabled.
func TestGuards(t *testing.T) {
	fset := token.NewFileSet()
	off, err := parser.ParseFile(fset, filepath.Join(root, "counters/off.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	functions := countingFunctions(off)
	counted := make(map[string]int)
	for _, name := range tracked(t) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(root, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		errs, seen := unguarded(fset, file, functions)
		counted[filepath.Dir(name)] += seen
		for _, err := range errs {
			t.Error(err)
		}
	}
	for _, pkg := range []string{"message", "relay", "archive"} {
		if counted[pkg] == 0 {
			t.Errorf("%s counts nothing with any of %v: the rule looks at nothing", pkg, functions)
		}
	}
}

func TestUnguarded(t *testing.T) {
	const head = "package p\n\nimport c \"" + countersPath + "\"\n\n"
	for _, tt := range []struct {
		name, body string
		seen, want int
	}{
		{"block", "if c.Enabled { c.Copy(s, p, 1) }", 1, 0},
		{"and", "if n > 1 && (c.Enabled) { for { c.Copy(s, p, 1) } }", 1, 0},
		{"bare", "c.Copy(s, p, 1)", 1, 1},
		{"or", "if c.Enabled || n > 1 { c.Copy(s, p, 1) }", 1, 1},
		{"not", "if !c.Enabled { c.Copy(s, p, 1) }", 1, 1},
		{"else", "if c.Enabled { n++ } else { c.Copy(s, p, 1) }", 1, 1},
		{"after", "if c.Enabled { n++ }; c.Hash(s, p, 1)", 1, 1},
		{"another Enabled", "if log.Enabled { c.Copy(s, p, 1) }", 1, 1},
		{"deferred", "if c.Enabled { defer c.Copy(s, p, 1) }", 1, 1},
		{"value", "if c.Enabled { f := c.Copy; f(s, p, 1) }", 1, 1},
		{"result", "_ = c.Load(s); x.Copy(s, p, 1)", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "p.go", head+"func f(n int) { "+tt.body+" }\n", 0)
			if err != nil {
				t.Fatal(err)
			}
			if errs, seen := unguarded(fset, file, []string{"Copy", "Hash"}); len(errs) != tt.want || seen != tt.seen {
				t.Errorf("unguarded: %v, %d seen, want %d errors and %d", errs, seen, tt.want, tt.seen)
			}
		})
	}
}
