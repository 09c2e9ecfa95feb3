package provezero

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// copyModules copies each module of the module cache that has the counters
// package or a package that depends on it, and makes g use the copies: the go
// command lets no overlay replace a file of the cache.
func (g *goTool) copyModules(ctx context.Context, counters, node string) error {
	format := `{{with .Module}}{{.Path}}{{"\t"}}{{.Dir}}{{end}}`
	lines, err := g.list(ctx, build{}, dependents(counters, format), "-deps", node)
	if err != nil {
		return err
	}
	own, err := g.list(ctx, build{}, format, counters)
	if err != nil {
		return err
	}
	cached, err := g.inCache(ctx, append(lines, own...))
	if err != nil || len(cached) == 0 {
		return err
	}
	return g.replace(ctx, cached)
}

// inCache returns those of modules, "path TAB directory", that lie in the module
// cache, once each.
func (g goTool) inCache(ctx context.Context, modules []string) ([]string, error) {
	out, err := g.run(ctx, nil, "env", "GOMODCACHE")
	if err != nil {
		return nil, fmt.Errorf("provezero: find module cache: %w", err)
	}
	cache := strings.TrimSpace(string(out)) + string(filepath.Separator)
	cached := slices.DeleteFunc(modules, func(m string) bool {
		_, dir, _ := strings.Cut(m, "\t")
		return !strings.HasPrefix(dir, cache)
	})
	slices.Sort(cached)
	return slices.Compact(cached), nil
}

// replace copies modules below g.tmp, and go.mod and go.sum with them, so that
// the copy of go.mod names the copies.
func (g *goTool) replace(ctx context.Context, modules []string) error {
	out, err := g.run(ctx, nil, "env", "GOMOD")
	if err != nil {
		return fmt.Errorf("provezero: find go.mod: %w", err)
	}
	mod := strings.TrimSpace(string(out))
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := copyFile(filepath.Join(filepath.Dir(mod), name), filepath.Join(g.tmp, name)); err != nil {
			return err
		}
	}
	edit := []string{"mod", "edit"}
	for i, m := range modules {
		path, dir, _ := strings.Cut(m, "\t")
		to := filepath.Join(g.tmp, fmt.Sprintf("module%d", i))
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			return fmt.Errorf("provezero: copy module %s: %w", path, err)
		}
		edit = append(edit, "-replace="+path+"="+to)
	}
	file := filepath.Join(g.tmp, "go.mod")
	if _, err := g.run(ctx, nil, append(edit, file)...); err != nil {
		return fmt.Errorf("provezero: replace modules: %w", err)
	}
	g.modfile = file
	return nil
}

// copyFile copies a file, if it exists.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("provezero: copy %s: %w", filepath.Base(from), err)
	}
	return nil
}
