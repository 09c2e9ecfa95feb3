package sitelist

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Declaration is one call of counters.NewSite in non-test source.
type Declaration struct {
	Name     string         // "package.site"
	Package  string         // the declaring package's name
	Position token.Position // of the call
}

// Names returns the names of decls in ascending order.
func Names(decls []Declaration) []string {
	var names []string
	for _, d := range decls {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

// Scan returns the declarations in all packages below root. Like the go
// command it passes over testdata, vendor and directories whose names begin
// with "." or "_"; it also passes over other modules.
func Scan(root, counters string) ([]Declaration, error) {
	var decls []Declaration
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if path != root && (skipped(d.Name()) || isModule(path)) {
			return filepath.SkipDir
		}
		found, err := ScanDir(path, counters)
		decls = append(decls, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sitelist: scan %s: %w", root, err)
	}
	return decls, nil
}

func skipped(dir string) bool {
	return dir == "testdata" || dir == "vendor" || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// ScanDir returns the declarations in the non-test files of one directory.
// Counters is the import path of the package that declares NewSite.
func ScanDir(dir, counters string) ([]Declaration, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("sitelist: list %s: %w", dir, err)
	}
	var decls []Declaration
	var errs []error
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		found, err := scanFile(file, counters)
		decls = append(decls, found...)
		errs = append(errs, err)
	}
	return decls, errors.Join(errs...)
}

func scanFile(path, counters string) ([]Declaration, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("sitelist: parse: %w", err)
	}
	name := ImportName(file, counters)
	if name == "" {
		return nil, nil
	}
	var decls []Declaration
	var errs []error
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isNewSite(call, name) {
			return true
		}
		site, err := literal(call)
		if err != nil {
			errs = append(errs, fmt.Errorf("sitelist: %s: %w", fset.Position(call.Pos()), err))
			return true
		}
		decls = append(decls, Declaration{site, file.Name.Name, fset.Position(call.Pos())})
		return true
	})
	return decls, errors.Join(errs...)
}

// ImportName returns the name under which file imports path, "" if it does not.
func ImportName(file *ast.File, path string) string {
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	return ""
}

func isNewSite(call *ast.CallExpr, counters string) bool {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || fun.Sel.Name != "NewSite" {
		return false
	}
	x, ok := fun.X.(*ast.Ident)
	return ok && x.Name == counters
}

func literal(call *ast.CallExpr) (string, error) {
	if len(call.Args) == 1 {
		if lit, ok := call.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			return strconv.Unquote(lit.Value)
		}
	}
	return "", errors.New("the name of a site must be a string literal, so that the list can hold it")
}

// Read returns the names in a list file: one a line, ascending, without
// repetition; lines that begin with "#" are comments.
func Read(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("sitelist: read: %w", err)
	}
	var names []string
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if n := len(names); n > 0 && names[n-1] >= line {
			return nil, fmt.Errorf("sitelist: read %s:%d: %q does not sort after %q", path, i+1, line, names[n-1])
		}
		names = append(names, line)
	}
	return names, nil
}
