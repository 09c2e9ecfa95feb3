package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A rule is what one package may import of ours, and what it never imports.
// Paths are relative to the module; "x/..." stands for x and all below it.
type rule struct {
	may   []string
	never []string // import paths
}

// Import paths that rules forbid.
const (
	libp2pAny  = "github.com/libp2p/..."
	libp2pRoot = "github.com/libp2p/go-libp2p"
	sql        = "database/sql/..."
	goose      = "github.com/pressly/goose/..."
	sqlite     = "modernc.org/sqlite/..."
	pgx        = "github.com/jackc/pgx/..."
)

var (
	noSQL    = []string{sql, goose, sqlite, pgx}
	noLibp2p = []string{libp2pAny}
	noRoot   = []string{libp2pRoot}
)

// rules is the map of the house. A package may be here before it exists.
var rules = map[string]rule{
	"message":    {may: []string{"counters", "message/pb"}, never: slices.Concat(noLibp2p, noSQL)},
	"message/pb": {never: slices.Concat(noLibp2p, noSQL)},

	"relay": {may: []string{"counters", "message", "message/pb"}, never: slices.Concat(noRoot, noSQL)},

	"archive":             {may: []string{"counters", "message", "message/pb", "internal/crashpoint"}, never: noLibp2p},
	"archive/segments":    {never: slices.Concat(noLibp2p, noSQL)},
	"archive/sqlite":      {may: []string{"archive", "archive/segments", "counters", "message", "message/pb", "internal/crashpoint"}, never: slices.Concat(noLibp2p, []string{pgx})},
	"archive/postgres":    {may: []string{"archive", "counters", "message", "message/pb", "internal/crashpoint"}, never: slices.Concat(noLibp2p, []string{sqlite})},
	"archive/archivetest": {may: []string{"archive", "counters", "message", "message/pb", "internal/crashpoint"}, never: noLibp2p},

	"storesync":            {may: []string{"counters", "message", "message/pb", "storesync/negentropy"}, never: slices.Concat(noLibp2p, noSQL)},
	"storesync/negentropy": {may: []string{"message"}, never: slices.Concat(noLibp2p, noSQL)},
	"storesync/p2p":        {may: []string{"counters", "message", "message/pb", "storesync", "storesync/negentropy"}, never: slices.Concat(noRoot, noSQL)},

	"filter":   {may: []string{"counters", "message", "message/pb"}, never: slices.Concat(noRoot, noSQL)},
	"delivery": {may: []string{"counters", "message", "message/pb", "internal/crashpoint"}, never: noLibp2p},

	"node": {may: []string{
		"counters", "message/...", "relay", "archive", "archive/sqlite", "archive/postgres",
		"storesync/...", "filter", "delivery",
	}},
	"bench": {may: []string{
		"counters", "message/...", "relay", "archive", "archive/sqlite", "archive/postgres",
		"storesync/...", "filter", "delivery", "node", "verdict", "verdict/limits", "verdict/scale", "verdict/study",
	}},
	"bench/budgets":  {},
	"verdict":        {may: []string{"counters"}, never: slices.Concat(noLibp2p, noSQL)},
	"verdict/diff":   {may: []string{"counters", "verdict"}, never: slices.Concat(noLibp2p, noSQL)},
	"verdict/gate":   {may: []string{"counters", "verdict"}, never: slices.Concat(noLibp2p, noSQL)},
	"verdict/report": {may: []string{"counters", "verdict", "verdict/diff", "verdict/gate", "verdict/limits", "verdict/scale"}, never: slices.Concat(noLibp2p, noSQL)},
	"verdict/limits": {may: []string{"verdict"}, never: slices.Concat(noLibp2p, noSQL)},
	"verdict/scale":  {may: []string{"verdict"}, never: slices.Concat(noLibp2p, noSQL)},
	"verdict/study":  {may: []string{"verdict"}, never: slices.Concat(noLibp2p, noSQL)},
	"crashlab":       {may: []string{"archive/...", "delivery", "message/..."}},

	"cmd/msgpath": {may: []string{
		"bench", "bench/budgets", "verdict/...", "counters", "message", "crashlab", "node",
		"internal/commits",
		"internal/provezero", "internal/selftest", "internal/uncounted",
	}},
	"cmd/relaynode": {may: []string{"node", "relay", "message", "counters"}},

	"internal/commits":            {},
	"internal/crashpoint":         {},
	"internal/golden":             {},
	"internal/lint":               {},
	"internal/provezero":          {may: []string{"counters", "verdict", "internal/provezero/sitelist"}, never: noSQL},
	"internal/selftest":           {may: []string{"bench", "bench/budgets", "counters", "message", "message/pb", "relay", "verdict/..."}},
	"internal/uncounted":          {},
	"internal/provezero/sitelist": {},
}

// pkg is what go list tells of a package.
type pkg struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
	Standard   bool
	Module     *struct{ Path string }
}

// tagSets are the builds that are looked at.
var tagSets = []string{"", "msgpathcounters"}

// list returns the packages that pattern names in the module at dir.
func list(t *testing.T, dir, tags string, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Imports,GoFiles,Standard,Module", "-tags=" + tags}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		t.Fatalf("go list: %v\n%s", err, exit.Stderr)
	} else if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("decode go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 {
		t.Fatal("go list: no package")
	}
	return pkgs
}

func TestImports(t *testing.T) {
	for _, tags := range tagSets {
		t.Run("tags="+tags, func(t *testing.T) {
			for _, p := range list(t, root, tags, "./...") {
				for _, err := range check(p) {
					t.Error(err)
				}
			}
		})
	}
}

// check returns how p breaks the map.
func check(p pkg) (errs []error) {
	name := strings.TrimPrefix(p.ImportPath, module+"/")
	r, ok := rules[name]
	if !ok {
		return []error{fmt.Errorf("%s is not in the map of imports: add it, and a page to docs/decisions", name)}
	}
	for _, path := range p.Imports {
		ours, isOurs := strings.CutPrefix(path, module+"/")
		if isOurs && !matchAny(r.may, ours) {
			errs = append(errs, fmt.Errorf("%s imports %s: it may import %v of ours", name, ours, r.may))
		}
		if !isOurs && matchAny(r.never, path) {
			errs = append(errs, fmt.Errorf("%s imports %s: it must import none of %v", name, path, r.never))
		}
	}
	return errs
}

func matchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, path) })
}

func match(pattern, path string) bool {
	prefix, below := strings.CutSuffix(pattern, "/...")
	return path == prefix || below && strings.HasPrefix(path, prefix+"/")
}

// TestCheck shows that the map refuses what it must.
func TestCheck(t *testing.T) {
	tests := []struct {
		name    string
		pkg     string
		imports []string
		want    int
	}{
		{"allowed", "relay", []string{"fmt", module + "/message", libp2pRoot + "/core/peer"}, 0},
		{"root libp2p", "relay", []string{libp2pRoot}, 1},
		{"sql below", "message", []string{"database/sql/driver"}, 1},
		{"ours, not allowed", "archive", []string{module + "/relay"}, 1},
		{"libp2p core", "storesync", []string{libp2pRoot + "/core/host"}, 1},
		{"bench from node", "node", []string{module + "/bench"}, 1},
		{"verdict", "verdict", []string{module + "/message", module + "/counters"}, 1},
		{"a name that begins alike", "node", []string{module + "/messages"}, 1},
		{"unknown", "util", nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			errs := check(pkg{ImportPath: module + "/" + tt.pkg, Imports: tt.imports})
			if len(errs) != tt.want {
				t.Errorf("check(%s imports %v) = %v, want %d errors", tt.pkg, tt.imports, errs, tt.want)
			}
		})
	}
}

// TestCounters: counters is a module of its own that requires nothing.
func TestCounters(t *testing.T) {
	out, err := exec.Command("go", "mod", "edit", "-json", root+"/counters/go.mod").Output()
	if err != nil {
		t.Fatalf("read counters/go.mod: %v", err)
	}
	var mod struct {
		Module  struct{ Path string }
		Require []struct{ Path string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatalf("decode counters/go.mod: %v", err)
	}
	if mod.Module.Path != module+"/counters" || len(mod.Require) > 0 {
		t.Errorf("counters/go.mod is module %s and requires %v, want %s/counters and nothing", mod.Module.Path, mod.Require, module)
	}
	for _, tags := range tagSets {
		for _, p := range list(t, root+"/counters", tags, "-deps", ".") {
			if !p.Standard && p.ImportPath != module+"/counters" {
				t.Errorf("tags %q: counters depends on %s", tags, p.ImportPath)
			}
		}
	}
}
