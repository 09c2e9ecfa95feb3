package uncounted

import (
	"context"
	"go/ast"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"
)

// newAnalyzer returns what summarizes one package. It reports nothing: what
// covers an event may be in another package. Once ctx ends it fails, within the
// time of one declaration.
func newAnalyzer(ctx context.Context) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:       "uncounted",
		Doc:        "summarize decodes, encodes, hashes and copies of messages, and what counts them",
		Run:        func(pass *analysis.Pass) (any, error) { return summarize(ctx, pass) },
		ResultType: reflect.TypeFor[*summary](),
	}
}

func summarize(ctx context.Context, pass *analysis.Pass) (any, error) {
	s := &summary{pkg: pass.Pkg}
	for _, file := range pass.Files {
		if ast.IsGenerated(file) {
			continue
		}
		found, err := readExceptions(pass, file)
		if err != nil {
			return nil, err
		}
		s.exceptions = append(s.exceptions, found.all...)
		if e := found.in(file.Doc); e != nil {
			s.whole = e
		}
		for _, decl := range file.Decls {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s.units = append(s.units, unitsOf(pass, found, decl)...)
		}
	}
	for _, u := range s.units {
		u.whole = s.whole
	}
	return s, nil
}

// unitsOf returns the units that decl declares: a function, or each variable
// with an initial value.
func unitsOf(pass *analysis.Pass, found exceptions, decl ast.Decl) (units []*unit) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		fn, ok := pass.TypesInfo.Defs[decl.Name].(*types.Func)
		if ok && decl.Body != nil {
			u := &unit{fn: fn, exception: found.in(decl.Doc)}
			units = append(units, collect(pass, found, u, decl))
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) > 0 {
				u := &unit{variable: v.Names[0].Name, exception: found.in(decl.Doc, v.Doc)}
				units = append(units, collect(pass, found, u, v))
			}
		}
	}
	return units
}

// collect fills u from its declaration.
func collect(pass *analysis.Pass, found exceptions, u *unit, decl ast.Node) *unit {
	u.pkg, u.pos = pass.Pkg, pass.Fset.Position(decl.Pos())
	c := &collector{pass: pass, found: found, unit: u, whole: span{decl.Pos(), decl.End()}, payloads: make(map[types.Object]bool)}
	ast.PreorderStack(decl, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			c.ident(n, stack)
		case *ast.CallExpr:
			c.call(n, stack)
		case *ast.AssignStmt:
			c.assign(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			c.declare(n)
		}
		return true
	})
	u.sites = withoutKeptFields(u.sites)
	return u
}
