package provezero

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// reference writes the reference source of pkgs, in which nothing is counted,
// and of the counters package, in which no function does anything, and returns
// both as an overlay. It must be loaded for the architecture that is
// compiled, since that selects files.
func (g goTool) reference(ctx context.Context, b build, counters string, pkgs []string) (map[string]string, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Context: ctx, Dir: g.dir, Env: append(os.Environ(), append(b.env(), g.env()...)...), BuildFlags: g.modFlags(b),
	}, append([]string{counters}, pkgs...)...)
	if err != nil {
		return nil, fmt.Errorf("provezero: load packages: %w", err)
	}
	dir, err := os.MkdirTemp(g.tmp, "reference")
	if err != nil {
		return nil, fmt.Errorf("provezero: make reference: %w", err)
	}
	overlay := make(map[string]string)
	for i, pkg := range loaded {
		for _, e := range pkg.Errors {
			return nil, fmt.Errorf("provezero: load %s: %w", pkg.PkgPath, e)
		}
		sub := filepath.Join(dir, fmt.Sprint(i))
		if err := writeReference(pkg, counters, sub, overlay); err != nil {
			return nil, fmt.Errorf("provezero: make reference of %s: %w", pkg.PkgPath, err)
		}
	}
	return overlay, nil
}

// writeReference adds the files of pkg that count to overlay. For the counters
// package, these are the ones that only production has.
func writeReference(pkg *packages.Package, counters, dir string, overlay map[string]string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for i, file := range pkg.Syntax {
		path := pkg.CompiledGoFiles[i]
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var out []byte
		if pkg.PkgPath == counters {
			out, err = blank(pkg.Fset, file, src)
		} else {
			out, err = strip(pkg.Fset, file, src, pkg.TypesInfo, counters)
		}
		if err != nil {
			return err
		}
		if string(out) == string(src) {
			continue
		}
		to := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(to, out, 0o600); err != nil {
			return err
		}
		overlay[path] = to
	}
	return nil
}

// A stripper collects the edits that remove all counting from one file.
type stripper struct {
	fset     *token.FileSet
	info     *types.Info
	counters string // import path
	src      []byte
	edits    []edit
	removed  []removal
	errs     []error
}

// A removal is a statement that goes, and the edit in which it does.
type removal struct {
	node ast.Node
	edit int
}

// strip returns src without counting: calls that count, blocks under
// counters.Enabled, and every variable, parameter, field and argument of type
// counters.Site. Fields of type counters.Set stay. It keeps all lines where they
// are, because the compiler puts marks for inlined calls at line boundaries.
//
// What it cannot remove, such as a Site that is returned or held in a slice, is
// an error that names the place.
func strip(fset *token.FileSet, file *ast.File, src []byte, info *types.Info, counters string) ([]byte, error) {
	s := &stripper{fset: fset, info: info, counters: counters, src: src}
	ast.Inspect(file, s.visit)
	s.keepVariablesUsed(file)
	s.keepImportsUsed(file)
	if err := errors.Join(s.errs...); err != nil {
		return nil, err
	}
	return apply(src, s.edits), nil
}

func (s *stripper) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return s.ifStmt(n)
	case *ast.ExprStmt:
		if s.counts(n.X) {
			s.removeStatement(n)
			return false
		}
	case *ast.DeferStmt:
		s.refuse(s.counts(n.Call), n, "a deferred count")
	case *ast.GoStmt:
		s.refuse(s.counts(n.Call), n, "a count in a goroutine")
	case *ast.GenDecl:
		return s.genDecl(n)
	case *ast.AssignStmt:
		return s.assign(n)
	case *ast.FuncType:
		s.signature(n)
	case *ast.StructType:
		s.fields(n.Fields)
	case *ast.CallExpr:
		s.list(n.Args)
	case *ast.CompositeLit:
		s.list(n.Elts)
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.StarExpr:
		s.refuse(holdsSite(s.info.TypeOf(n.(ast.Expr)), s.counters), n, "a container of counters.Site")
	}
	return true
}

func (s *stripper) refuse(when bool, n ast.Node, what string) {
	if when {
		s.errs = append(s.errs, fmt.Errorf("%s: %s cannot be removed", s.fset.Position(n.Pos()), what))
	}
}

// counts reports whether x is a call that counts: of a method of counters.Set
// or a function of counters that takes one first, and returns nothing.
func (s *stripper) counts(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	callee, ok := s.info.Uses[fun.Sel].(*types.Func)
	if !ok || callee.Pkg() == nil || callee.Pkg().Path() != s.counters {
		return false
	}
	sig := callee.Signature()
	if sig.Results().Len() > 0 {
		return false
	}
	if sig.Recv() != nil {
		return isNamed(sig.Recv().Type(), s.counters, "Set")
	}
	return sig.Params().Len() > 0 && isNamed(sig.Params().At(0).Type(), s.counters, "Set")
}

// ifStmt replaces an if whose condition counters.Enabled decides by the branch
// that production takes.
func (s *stripper) ifStmt(n *ast.IfStmt) bool {
	value, mentions := s.condition(n.Cond)
	if !mentions {
		return true
	}
	if value == undecided || n.Init != nil {
		s.refuse(true, n, "a condition on counters.Enabled and on more")
		return false
	}
	switch {
	case value == always && n.Else == nil:
		s.cut(n.Pos(), n.Body.Pos(), "")
		ast.Inspect(n.Body, s.visit)
	case value == always:
		s.refuse(true, n, "an else of !counters.Enabled")
	case n.Else == nil:
		s.removeNode(n, "{}")
	default:
		s.cut(n.Pos(), n.Else.Pos(), "")
		ast.Inspect(n.Else, s.visit)
	}
	return false
}

// An outcome is what a condition comes to where counters.Enabled is false.
type outcome int

const (
	undecided outcome = iota
	always
	never
)

// condition says what x is in production and whether it mentions
// counters.Enabled.
func (s *stripper) condition(x ast.Expr) (v outcome, mentions bool) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return s.condition(x.X)
	case *ast.SelectorExpr:
		if o := s.info.Uses[x.Sel]; o != nil && o.Pkg() != nil && o.Pkg().Path() == s.counters && o.Name() == "Enabled" {
			return never, true
		}
	case *ast.UnaryExpr:
		v, mentions = s.condition(x.X)
		if x.Op == token.NOT && v != undecided {
			return always + never - v, mentions
		}
		return undecided, mentions
	case *ast.BinaryExpr:
		l, inL := s.condition(x.X)
		r, inR := s.condition(x.Y)
		if x.Op == token.LAND && (l == never || r == never) {
			return never, inL || inR
		}
		if x.Op == token.LOR && (l == always || r == always) {
			return always, inL || inR
		}
		return undecided, inL || inR
	}
	return undecided, false
}

// genDecl removes declarations of variables of type Site.
func (s *stripper) genDecl(n *ast.GenDecl) bool {
	if n.Tok != token.VAR {
		return true
	}
	var gone int
	for _, spec := range n.Specs {
		if s.isSiteSpec(spec.(*ast.ValueSpec)) {
			gone++
		}
	}
	if gone == len(n.Specs) {
		s.removeNode(n, "")
		return false
	}
	for _, spec := range n.Specs {
		if s.isSiteSpec(spec.(*ast.ValueSpec)) {
			s.removeNode(spec, "")
		} else {
			ast.Inspect(spec, s.visit)
		}
	}
	return false
}

func (s *stripper) isSiteSpec(spec *ast.ValueSpec) bool {
	var sites int
	for _, name := range spec.Names {
		if o := s.info.Defs[name]; o != nil && isNamed(o.Type(), s.counters, "Site") {
			sites++
		}
	}
	s.refuse(sites > 0 && sites < len(spec.Names), spec, "a declaration of a Site among others")
	return sites == len(spec.Names)
}

// assign removes assignments of Sites to variables.
func (s *stripper) assign(n *ast.AssignStmt) bool {
	var sites int
	for _, x := range n.Lhs {
		if isNamed(s.info.TypeOf(x), s.counters, "Site") {
			sites++
		}
	}
	if sites == len(n.Lhs) {
		s.removeStatement(n)
		return false
	}
	s.refuse(sites > 0, n, "an assignment of a Site among others")
	return true
}

func (s *stripper) signature(n *ast.FuncType) {
	s.fields(n.Params)
	if n.Results == nil {
		return
	}
	for _, r := range n.Results.List {
		s.refuse(isNamed(s.info.TypeOf(r.Type), s.counters, "Site"), r, "a result of type counters.Site")
	}
}

// fields removes the fields or parameters of type Site from a list.
func (s *stripper) fields(list *ast.FieldList) {
	nodes := make([]ast.Node, len(list.List))
	for i, f := range list.List {
		nodes[i] = f
	}
	s.remove(nodes, func(n ast.Node) bool {
		return isNamed(s.info.TypeOf(n.(*ast.Field).Type), s.counters, "Site")
	})
}

// list removes the arguments or elements of type Site from a list.
func (s *stripper) list(args []ast.Expr) {
	nodes := make([]ast.Node, len(args))
	for i, a := range args {
		nodes[i] = a
	}
	s.remove(nodes, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			n = kv.Value
		}
		return isNamed(s.info.TypeOf(n.(ast.Expr)), s.counters, "Site")
	})
}

// isNamed reports whether t is the type pkg.name.
func isNamed(t types.Type, pkg, name string) bool {
	if t == nil {
		return false
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == pkg
}

// holdsSite reports whether t is a pointer to or container of Sites.
func holdsSite(t types.Type, pkg string) bool {
	switch t := t.(type) {
	case *types.Pointer:
		return isNamed(t.Elem(), pkg, "Site")
	case *types.Map:
		return isNamed(t.Elem(), pkg, "Site") || isNamed(t.Key(), pkg, "Site")
	case interface{ Elem() types.Type }:
		return isNamed(t.Elem(), pkg, "Site")
	}
	return false
}

// importedAs returns the name under which spec is known, "" where info has none.
func (s *stripper) importedAs(spec *ast.ImportSpec) types.Object {
	if spec.Name != nil {
		return s.info.Defs[spec.Name]
	}
	return s.info.Implicits[spec]
}

// keepImportsUsed turns imports that nothing uses any more into blank ones.
func (s *stripper) keepImportsUsed(file *ast.File) {
	for _, spec := range file.Imports {
		object := s.importedAs(spec)
		if object == nil || !s.used(file, object, true) || s.used(file, object, false) {
			continue
		}
		s.cut(spec.Pos(), spec.Path.Pos(), "_ ")
	}
}

// used reports whether file uses object, in all of its text or only in what is
// left of it.
func (s *stripper) used(file *ast.File, object types.Object, inAll bool) bool {
	var found bool
	ast.Inspect(file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && s.info.Uses[id] == object && (inAll || !s.isCut(id.Pos()))
		return !found
	})
	return found
}

// keepVariablesUsed puts "_ = v" where the last use of a local variable went.
func (s *stripper) keepVariablesUsed(file *ast.File) {
	kept := make(map[types.Object]bool)
	for _, r := range s.removed {
		var names []string
		ast.Inspect(r.node, func(n ast.Node) bool {
			if v := s.orphan(file, r.node, n); v != nil && !kept[v] {
				kept[v] = true
				names = append(names, "_ = "+v.Name())
			}
			return true
		})
		if len(names) > 0 {
			s.edits[r.edit].text = strings.TrimSuffix(s.edits[r.edit].text, "{}") + "{" + strings.Join(names, "; ") + "}"
		}
	}
}

// orphan returns the local variable that n names, if it is declared outside
// removed and not used in what is left.
func (s *stripper) orphan(file *ast.File, removed, n ast.Node) *types.Var {
	id, ok := n.(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := s.info.Uses[id].(*types.Var)
	if !ok || v.Kind() != types.LocalVar {
		return nil
	}
	inside := removed.Pos() <= v.Pos() && v.Pos() < removed.End()
	if inside || s.isCut(v.Pos()) || s.used(file, v, false) {
		return nil
	}
	return v
}
