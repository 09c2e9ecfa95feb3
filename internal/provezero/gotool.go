package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tag is the build tag of the counting build.
const tag = "msgpathcounters"

// A goTool runs the go command of one module.
type goTool struct {
	dir string // the module's root
	tmp string // for what is built
}

// A build is one way to compile a package.
type build struct {
	arch    string            // GOARCH; "" is the host's
	tags    string            // build tags
	overlay map[string]string // source file to the file that stands in for it
	ldflags string
}

func (g goTool) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
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

// compile builds pkg into the file name below g.tmp and returns its path: an
// executable for a main package, otherwise an archive.
func (g goTool) compile(ctx context.Context, b build, pkg, name string) (string, error) {
	out := filepath.Join(g.tmp, name)
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", out, "-tags=" + b.tags}
	if b.ldflags != "" {
		args = append(args, "-ldflags="+b.ldflags)
	}
	if b.overlay != nil {
		file, err := g.writeOverlay(b.overlay, name)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay="+file)
	}
	if _, err := g.run(ctx, b.env(), append(args, pkg)...); err != nil {
		return "", fmt.Errorf("provezero: build %s: %w", name, err)
	}
	return out, nil
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
	out, err := g.run(ctx, b.env(), append([]string{"list", "-tags=" + b.tags, "-f", format}, args...)...)
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

// users returns the packages of the module, pkgs and those they depend on, that
// import the counters package.
func (g goTool) users(ctx context.Context, b build, counters string, pkgs []string) ([]string, error) {
	format := fmt.Sprintf(`{{$p := .}}{{if and .Module .Module.Main}}{{range .Imports}}{{if eq . %q}}{{$p.ImportPath}}{{end}}{{end}}{{end}}`, counters)
	return g.list(ctx, b, format, append([]string{"-deps"}, pkgs...)...)
}
