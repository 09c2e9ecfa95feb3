package provezero

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tag is the build tag of the counting build.
const tag = "msgpathcounters"

// A goTool runs the go command of one module.
type goTool struct {
	dir     string // the module's root
	tmp     string // for what is built
	modfile string // stands in for go.mod; "" for none

	objdump, nm string // programs, found by findTools
}

// A build is one way to compile a package.
type build struct {
	arch    string            // GOARCH; "" is the host's
	tags    string            // build tags
	overlay map[string]string // source file to the file that stands in for it
	ldflags string
}

// run runs the go command.
func (g goTool) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	return g.exec(ctx, env, "go", args...)
}

// findTools finds the programs that "go tool" runs. Each call of that looks them
// up anew, which takes longer than their work on one package.
func (g *goTool) findTools(ctx context.Context) error {
	for name, path := range map[string]*string{"objdump": &g.objdump, "nm": &g.nm} {
		out, err := g.run(ctx, nil, "tool", "-n", name)
		if err != nil {
			return fmt.Errorf("provezero: find %s: %w", name, err)
		}
		*path = strings.TrimSpace(string(out))
	}
	return nil
}

func (g goTool) exec(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), append(env, g.env()...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("provezero: run %s %s: %w", filepath.Base(name), args[0], ctx.Err())
		}
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

// env returns what makes the go command compile for b. Without cgo, both
// architectures compile on either.
func (b build) env() []string {
	if b.arch == "" {
		return nil
	}
	return []string{"GOOS=linux", "GOARCH=" + b.arch, "CGO_ENABLED=0"}
}

// env returns what makes the go command use g.modfile.
func (g goTool) env() []string {
	if g.modfile == "" {
		return nil
	}
	return []string{"GOWORK=off"}
}

// modFlags returns the flags that choose tags and the file of the module.
// Paths are trimmed in all calls, so that what one compiled serves the others.
func (g goTool) modFlags(b build) []string {
	flags := []string{"-trimpath", "-buildvcs=false", "-tags=" + b.tags}
	if g.modfile != "" {
		flags = append(flags, "-modfile="+g.modfile)
	}
	return flags
}

// flags returns the flags of b for the go command. Name is of an overlay file.
func (g goTool) flags(b build, name string) ([]string, error) {
	flags := g.modFlags(b)
	if b.ldflags != "" {
		flags = append(flags, "-ldflags="+b.ldflags)
	}
	if b.overlay == nil {
		return flags, nil
	}
	file, err := g.writeOverlay(b.overlay, name)
	return append(flags, "-overlay="+file), err
}

// link builds the main package pkg into the file name below g.tmp and returns
// its path.
func (g goTool) link(ctx context.Context, b build, pkg, name string) (string, error) {
	out := filepath.Join(g.tmp, name)
	flags, err := g.flags(b, name)
	if err != nil {
		return "", err
	}
	args := append([]string{"build", "-o", out}, flags...)
	if _, err := g.run(ctx, b.env(), append(args, pkg)...); err != nil {
		return "", fmt.Errorf("provezero: build %s: %w", name, err)
	}
	return out, nil
}

// compile compiles pkgs, import paths, and returns their objects by import path.
func (g goTool) compile(ctx context.Context, b build, pkgs []string) (map[string]object, error) {
	flags, err := g.flags(b, "compile-"+b.arch)
	if err != nil {
		return nil, err
	}
	args := append([]string{"list", "-export", "-f", "{{.ImportPath}} {{.Export}}"}, flags...)
	out, err := g.run(ctx, b.env(), append(args, pkgs...)...)
	if err != nil {
		return nil, fmt.Errorf("provezero: compile for %s: %w", b.arch, err)
	}
	objects := make(map[string]object)
	for line := range strings.Lines(string(out)) {
		pkg, archive, _ := strings.Cut(strings.TrimSpace(line), " ")
		if objects[pkg], err = g.object(ctx, archive); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func (g goTool) writeOverlay(replace map[string]string, name string) (string, error) {
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("provezero: encode overlay: %w", err)
	}
	file := filepath.Join(g.tmp, name+".overlay.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", fmt.Errorf("provezero: write overlay: %w", err)
	}
	return file, nil
}

// list returns the lines that go list prints for pkgs, empty lines left out.
func (g goTool) list(ctx context.Context, b build, format string, args ...string) ([]string, error) {
	out, err := g.run(ctx, b.env(), slices.Concat([]string{"list"}, g.modFlags(b), []string{"-f", format}, args)...)
	if err != nil {
		return nil, fmt.Errorf("provezero: list packages: %w", err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// A source is the source of one package.
type source struct {
	path   string // import path
	symbol string // what its symbols' names begin with
	dir    string
	files  []string // absolute
}

// users returns the packages that counting can reach: those among pkgs and
// their dependencies that depend on the counters package. A package that does
// not import it may hold what another's generic function counts.
func (g goTool) users(ctx context.Context, b build, counters string, pkgs []string) ([]source, error) {
	format := dependents(counters, `{{.ImportPath}}{{"\t"}}{{.Name}}{{"\t"}}{{.Dir}}{{range .GoFiles}}{{"\t"}}{{.}}{{end}}{{range .CgoFiles}}{{"\t"}}{{.}}{{end}}`)
	lines, err := g.list(ctx, b, format, append([]string{"-deps"}, pkgs...)...)
	if err != nil {
		return nil, err
	}
	var users []source
	for _, line := range lines {
		f := strings.Split(line, "\t")
		u := source{path: f[0], symbol: f[0], dir: f[2]}
		if f[1] == "main" {
			u.symbol = "main"
		}
		for _, name := range f[3:] {
			u.files = append(u.files, filepath.Join(u.dir, name))
		}
		users = append(users, u)
	}
	return users, nil
}

// dependents returns the format in which go list prints the packages that depend
// on pkg, each as in format.
func dependents(pkg, format string) string {
	return fmt.Sprintf(`{{$p := .}}{{range .Deps}}{{if eq . %q}}{{with $p}}%s{{end}}{{end}}{{end}}`, pkg, format)
}

// paths returns the import paths of sources.
func paths(sources []source) []string {
	var paths []string
	for _, s := range sources {
		paths = append(paths, s.path)
	}
	return paths
}
