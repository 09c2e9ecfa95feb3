package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// A mutant is a production build that counts after all, which the probes must
// notice.
type mutant struct {
	name       string
	edits      [][2]string // old and new text in off.go
	keepsNames bool        // so that names of sites must be found
}

// mutants makes one counting function real, and the names of sites. Calls of
// the first may stand behind counters.Enabled.
var mutants = []mutant{
	{
		name: "Decode counts",
		edits: [][2]string{
			{"const Enabled = false", "const Enabled = true"},
			{"func Decode(Set, Site, int) {}", "func Decode(Set, Site, int) { decodes++ }\n\nvar decodes int"},
		},
	},
	{
		name: "NewSite keeps the name",
		edits: [][2]string{{
			"func NewSite(string) Site { return Site{} }",
			"func NewSite(name string) Site { names = append(names, name); return Site{} }\n\nvar names []string",
		}},
		keepsNames: true,
	},
}

// mutate returns the overlay that turns the counters package into m.
func (g goTool) mutate(ctx context.Context, m mutant, counters string) (map[string]string, error) {
	dirs, err := g.list(ctx, build{}, "{{.Dir}}", counters)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dirs[0], "off.go")
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("provezero: read counters: %w", err)
	}
	for _, e := range m.edits {
		if n := bytes.Count(src, []byte(e[0])); n != 1 {
			return nil, fmt.Errorf("provezero: make mutant %q: %s has %d times %q, want once", m.name, path, n, e[0])
		}
		src = bytes.Replace(src, []byte(e[0]), []byte(e[1]), 1)
	}
	to := filepath.Join(g.tmp, "mutant-off.go")
	if err := os.WriteFile(to, src, 0o600); err != nil {
		return nil, fmt.Errorf("provezero: write mutant: %w", err)
	}
	return map[string]string{path: to}, nil
}
