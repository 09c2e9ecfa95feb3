package provezero

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/msgpath/msgpath/internal/provezero/sitelist"
)

// free takes the calls of one function of counters out of their guards. It
// returns the changed files as an overlay, and the symbols of the functions that
// call it, which must be at least one.
func (g goTool) free(users []source, counters, callee string) (map[string]string, []string, error) {
	overlay, callers := make(map[string]string), make(map[string]bool)
	for _, u := range users {
		for _, path := range u.files {
			src, err := os.ReadFile(path)
			if err != nil {
				return nil, nil, fmt.Errorf("provezero: read source: %w", err)
			}
			out, in, err := freeFile(path, src, counters, callee)
			if err != nil {
				return nil, nil, err
			}
			for _, f := range in {
				callers[u.symbol+"."+f] = true
			}
			if len(in) == 0 {
				continue
			}
			if overlay[path], err = g.write(filepath.Base(path), out); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(callers) == 0 {
		return nil, nil, fmt.Errorf("provezero: %w: nothing that the node links calls counters.%s", ErrNothing, callee)
	}
	return overlay, slices.Sorted(maps.Keys(callers)), nil
}

// calledFunctions returns those of countingFunctions that the node's packages
// call, at least one.
func (p *proof) calledFunctions() (called []string, err error) {
	var files []*ast.File
	for _, u := range p.users {
		for _, path := range u.files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("provezero: parse: %w", err)
			}
			files = append(files, file)
		}
	}
	for _, name := range countingFunctions {
		calls := func(f *ast.File) bool { return contains(f, sitelist.ImportName(f, p.counters), name) }
		if slices.ContainsFunc(files, calls) {
			called = append(called, name)
		}
	}
	if len(called) == 0 {
		return nil, fmt.Errorf("provezero: %w: nothing that the node links counts", ErrNothing)
	}
	return called, nil
}

// freeFile returns src with "true" for counters.Enabled in the conditions around
// calls of callee, and the functions in which they are, as in a symbol.
func freeFile(path string, src []byte, counters, callee string) ([]byte, []string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, fmt.Errorf("provezero: parse: %w", err)
	}
	name := sitelist.ImportName(file, counters)
	s := &stripper{fset: fset, src: src}
	var functions []string
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !contains(f, name, callee) {
			continue
		}
		functions = append(functions, symbolName(f))
		ast.Inspect(f, func(n ast.Node) bool {
			if branch, ok := n.(*ast.IfStmt); ok && contains(branch.Body, name, callee) {
				s.enable(branch.Cond, name)
			}
			return true
		})
	}
	return apply(src, s.edits), functions, nil
}

// contains reports whether the package called pkg is asked for name inside n.
func contains(n ast.Node, pkg, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || isSelector(n, pkg, name)
		return !found
	})
	return found
}

func isSelector(n ast.Node, pkg, name string) bool {
	x, ok := n.(*ast.SelectorExpr)
	if !ok || x.Sel.Name != name {
		return false
	}
	id, ok := x.X.(*ast.Ident)
	return ok && id.Name == pkg
}

func (s *stripper) enable(cond ast.Expr, counters string) {
	ast.Inspect(cond, func(n ast.Node) bool {
		if isSelector(n, counters, "Enabled") {
			s.cut(n.Pos(), n.End(), "true")
		}
		return true
	})
}

// symbolName returns the name of f in a symbol, without the package.
func symbolName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver, star := f.Recv.List[0].Type, false
	for {
		switch x := receiver.(type) {
		case *ast.StarExpr:
			receiver, star = x.X, true
		case *ast.ParenExpr:
			receiver = x.X
		case *ast.IndexExpr:
			receiver = x.X
		case *ast.IndexListExpr:
			receiver = x.X
		case *ast.Ident:
			if star {
				return "(*" + x.Name + ")." + f.Name.Name
			}
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}
