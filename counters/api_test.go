package counters_test

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Both builds have one API: the exported identifiers of on.go and off.go, their
// signatures and their documentation. A compiler sees only one of the files at a
// time, so that they drift apart unnoticed (golang/go#74142).
func TestOneAPI(t *testing.T) {
	on, off := exported(t, "on.go"), exported(t, "off.go")
	if len(off) < 10 {
		t.Fatalf("off.go exports only %q", slices.Sorted(maps.Keys(off)))
	}
	for name, declaration := range on {
		if off[name] != declaration {
			t.Errorf("%s:\non.go:  %s\noff.go: %s", name, declaration, off[name])
		}
	}
	for name := range off {
		if _, ok := on[name]; !ok {
			t.Errorf("%s is in off.go only", name)
		}
	}
}

// exported returns documentation and form of each exported declaration of a
// file: types of parameters and results for a function, the kind for the rest.
func exported(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				found[receiver(t, d)+d.Name.Name] = d.Doc.Text() + signature(t, d.Type)
			}
		case *ast.GenDecl:
			for _, name := range names(d) {
				found[name] = d.Doc.Text() + d.Tok.String()
			}
		}
	}
	return found
}

// names returns the exported names that d declares.
func names(d *ast.GenDecl) (exported []string) {
	for _, s := range d.Specs {
		var idents []*ast.Ident
		switch s := s.(type) {
		case *ast.TypeSpec:
			idents = []*ast.Ident{s.Name}
		case *ast.ValueSpec:
			idents = s.Names
		}
		for _, i := range idents {
			if i.IsExported() {
				exported = append(exported, i.Name)
			}
		}
	}
	return exported
}

func receiver(t *testing.T, d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	return strings.Join(types(t, d.Recv), "") + "."
}

func signature(t *testing.T, f *ast.FuncType) string {
	return "(" + strings.Join(types(t, f.Params), ", ") + ") (" + strings.Join(types(t, f.Results), ", ") + ")"
}

// types returns the type of each parameter, whether named or not.
func types(t *testing.T, list *ast.FieldList) (all []string) {
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		var text strings.Builder
		if err := printer.Fprint(&text, token.NewFileSet(), field.Type); err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.Repeat([]string{text.String()}, max(1, len(field.Names)))...)
	}
	return all
}

// The production half must not pull anything into a binary.
func TestOffImportsNothing(t *testing.T) {
	for _, file := range []string{"off.go", "counters.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Imports) != 0 {
			t.Errorf("%s imports %s", file, f.Imports[0].Path.Value)
		}
	}
}
