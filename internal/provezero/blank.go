package provezero

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/token"
	"strings"
)

// blank returns src with functions that do nothing and return zero values, if a
// build constraint mentions the counting build; otherwise src as it is. It keeps
// all lines where they are.
func blank(fset *token.FileSet, file *ast.File, src []byte) ([]byte, error) {
	constrained, err := mentionsTag(file)
	if err != nil || !constrained {
		return src, err
	}
	s := &stripper{fset: fset, src: src}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			s.cut(f.Body.Pos(), f.Body.End(), s.zeroBody(f.Type))
		}
	}
	return apply(src, s.edits), nil
}

// mentionsTag reports whether file belongs to one of the two builds only.
func mentionsTag(file *ast.File) (found bool, err error) {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() > file.Package || !constraint.IsGoBuild(c.Text) {
				continue
			}
			x, err := constraint.Parse(c.Text)
			if err != nil {
				return false, fmt.Errorf("provezero: parse constraint: %w", err)
			}
			x.Eval(func(t string) bool { found = found || t == tag; return true })
		}
	}
	return found, nil
}

// zeroBody returns the body of a function of type t that does nothing.
func (s *stripper) zeroBody(t *ast.FuncType) string {
	if t.Results == nil {
		return "{}"
	}
	var zeros []string
	for _, r := range t.Results.List {
		file := s.fset.File(r.Pos())
		text := s.src[file.Offset(r.Type.Pos()):file.Offset(r.Type.End())]
		for range max(1, len(r.Names)) {
			zeros = append(zeros, fmt.Sprintf("*new(%s)", text))
		}
	}
	return "{ return " + strings.Join(zeros, ", ") + " }"
}
