package uncounted

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// countingTag is the build tag under which blocks that count are compiled.
const countingTag = "msgpathcounters"

// Options says what to examine. The zero value is all of the module in the
// working directory.
type Options struct {
	Dir      string            // where the go command runs; default: the working directory
	Patterns []string          // packages whose findings are wanted; default ./...
	Tags     []string          // build tags beside msgpathcounters
	Overlay  map[string][]byte // absolute file name: text to read in its place
}

// Examine looks for events that nothing counts. It loads the whole module of
// o.Dir, since callers cover what they call, and reports on the packages that
// o.Patterns name. An error means that a package could not be read or is not
// valid Go, or wraps that of ctx: once ctx ends, the go command is killed, no
// file is parsed and no package type-checked any more, and no declaration is
// begun. Only the summaries are joined to the end, in well under a second.
func Examine(ctx context.Context, o Options) (Report, error) {
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"./..."}
	}
	report, err := o.examine(ctx)
	if err != nil && ctx.Err() != nil { // package packages does not always say so
		err = fmt.Errorf("uncounted: examine: %w", ctx.Err())
	}
	return report, err
}

func (o Options) examine(ctx context.Context) (Report, error) {
	named, err := o.names(ctx)
	if err != nil {
		return Report{}, err
	}
	if len(named) == 0 {
		return newReport(nil, nil, ""), nil
	}
	root, err := o.moduleRoot(ctx)
	if err != nil {
		return Report{}, err
	}
	summaries, err := o.summaries(ctx, root)
	if err != nil {
		return Report{}, err
	}
	return newReport(summaries, named, root), nil
}

func (o Options) config(ctx context.Context, mode packages.LoadMode) *packages.Config {
	tags := strings.Join(append([]string{countingTag}, o.Tags...), ",")
	return &packages.Config{Context: ctx, Mode: mode, Dir: o.Dir, BuildFlags: []string{"-tags=" + tags}, Overlay: o.Overlay}
}

// names returns the import paths of the packages that are asked for.
func (o Options) names(ctx context.Context) (map[string]bool, error) {
	pkgs, err := packages.Load(o.config(ctx, packages.NeedName|packages.NeedFiles), o.Patterns...)
	if err != nil {
		return nil, fmt.Errorf("uncounted: list packages: %w", err)
	}
	if err := loadErrors(pkgs); err != nil {
		return nil, err
	}
	named := make(map[string]bool)
	for _, p := range pkgs {
		named[p.PkgPath] = true
	}
	return named, nil
}

// moduleRoot returns the directory of the main module, or "" outside one.
func (o Options) moduleRoot(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOMOD")
	cmd.Dir = o.Dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("uncounted: find module: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", nil
	}
	return filepath.Dir(file), nil
}

// summaries analyzes the named packages and all of the module.
func (o Options) summaries(ctx context.Context, root string) ([]*summary, error) {
	patterns := slices.Clone(o.Patterns)
	if root != "" {
		patterns = append(patterns, filepath.Join(root, "..."))
	}
	pkgs, err := packages.Load(o.config(ctx, packages.LoadSyntax|packages.NeedModule), patterns...)
	if err != nil {
		return nil, fmt.Errorf("uncounted: load packages: %w", err)
	}
	if err := loadErrors(pkgs); err != nil {
		return nil, err
	}
	return analyze(ctx, pkgs)
}

// analyze summarizes each of pkgs.
func analyze(ctx context.Context, pkgs []*packages.Package) ([]*summary, error) {
	graph, err := checker.Analyze([]*analysis.Analyzer{newAnalyzer(ctx)}, pkgs, nil)
	if err != nil {
		return nil, fmt.Errorf("uncounted: analyze: %w", err)
	}
	var all []*summary
	for _, action := range graph.Roots {
		if action.Err != nil {
			return nil, fmt.Errorf("uncounted: analyze %s: %w", action.Package.PkgPath, action.Err)
		}
		all = append(all, action.Result.(*summary))
	}
	return all, nil
}

// shownErrors is how many errors of the source are told.
const shownErrors = 10

// loadErrors returns what is wrong with the packages themselves. What the
// compiler says of a package, without a position, repeats what follows.
func loadErrors(pkgs []*packages.Package) error {
	var errs []error
	for _, p := range pkgs {
		placed := slices.ContainsFunc(p.Errors, hasPosition)
		for _, e := range p.Errors {
			if !placed || hasPosition(e) {
				errs = append(errs, fmt.Errorf("uncounted: load %s: %w", p.PkgPath, e))
			}
		}
	}
	if n := len(errs) - shownErrors; n > 0 {
		errs = append(errs[:shownErrors], fmt.Errorf("uncounted: load: %d more errors", n))
	}
	return errors.Join(errs...)
}

func hasPosition(e packages.Error) bool { return e.Pos != "" && e.Pos != "-" }
