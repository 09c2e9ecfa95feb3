package provezero

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is a production build, in which counters.Enabled is false, that does
// something after all: one function of counters is made real, and its calls are
// taken out of their guards.
type mutant struct {
	name     string
	old, new string // text of off.go
	frees    string // the function whose calls are freed; "" for none
	variable string // of the counters package, which new declares; "" for none
	sites    bool   // whether new keeps the names of sites
}

// countingFunctions are the functions of counters that count.
var countingFunctions = []string{"Decode", "Hash", "IDHash", "IDHashShared", "Encode", "Copy"}

// mutants returns the mutants that a node can show which calls these of
// countingFunctions, at least one.
func mutants(called []string) []mutant {
	first, last := called[0], called[len(called)-1]
	return []mutant{
		{
			name:     first + " counts",
			old:      "func " + first + "(Set, Site, int) {}",
			new:      "func " + first + "(Set, Site, int) { events++ }\n\nvar events int",
			frees:    first,
			variable: "events",
		},
		{
			name:  last + " prints, inlined",
			old:   "func " + last + "(Set, Site, int) {}",
			new:   "func " + last + `(_ Set, _ Site, n int) { if n > 1<<20 { println("copied", n) } }`,
			frees: last,
		},
		{
			name:     "NewSite keeps the name",
			old:      "func NewSite(string) Site { return Site{} }",
			new:      "func NewSite(name string) Site { names = append(names, name); return Site{} }\n\nvar names []string",
			variable: "names",
			sites:    true,
		},
	}
}

// A trace is what probes must find in a build that counts.
type trace struct {
	symbol    string   // of a variable; "" if there must be no symbol
	sites     []string // names
	functions []string // that differ from the reference, by symbol
}

// mutate returns the overlay that makes m of the production build, and the trace
// that it leaves. Each function that calls what is real now must differ, and for
// NewSite each package's initialization.
func (p *proof) mutate(ctx context.Context, m mutant) (map[string]string, trace, error) {
	var t trace
	overlay, err := p.tool.mutateCounters(ctx, m, p.counters)
	if err != nil {
		return nil, t, err
	}
	if m.variable != "" {
		t.symbol = p.counters + "." + m.variable
	}
	if m.sites {
		t.sites, t.functions = p.linked, p.inits
	}
	if m.frees != "" {
		freed, functions, err := p.tool.free(p.users, p.counters, m.frees)
		if err != nil {
			return nil, t, err
		}
		t.functions = functions
		for from, to := range freed {
			overlay[from] = to
		}
	}
	return overlay, t, nil
}

// mutateCounters returns the overlay that makes one function of counters real.
func (g goTool) mutateCounters(ctx context.Context, m mutant, counters string) (map[string]string, error) {
	dirs, err := g.list(ctx, build{}, "{{.Dir}}", counters)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dirs[0], "off.go")
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("provezero: read counters: %w", err)
	}
	if n := bytes.Count(src, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("provezero: make mutant %q: %s has %d times %q, want once", m.name, path, n, m.old)
	}
	to, err := g.write("off.go", bytes.Replace(src, []byte(m.old), []byte(m.new), 1))
	return map[string]string{path: to}, err
}

// write writes a file of its own below g.tmp and returns its path.
func (g goTool) write(name string, src []byte) (string, error) {
	dir, err := os.MkdirTemp(g.tmp, "mutant")
	if err != nil {
		return "", fmt.Errorf("provezero: make directory: %w", err)
	}
	to := filepath.Join(dir, name)
	if err := os.WriteFile(to, src, 0o600); err != nil {
		return "", fmt.Errorf("provezero: write mutant: %w", err)
	}
	return to, nil
}

// negativeControls shows that each probe notices a production build that counts.
func (p *proof) negativeControls(ctx context.Context) ([]row, error) {
	var rows []row
	for _, m := range mutants(p.called) {
		overlay, want, err := p.mutate(ctx, m)
		if err != nil {
			return rows, err
		}
		more, err := p.control(ctx, "mutant, "+m.name, overlay, want)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// control makes the checks of a production build changed by overlay and passes
// those that find what is wanted.
func (p *proof) control(ctx context.Context, name string, overlay map[string]string, want trace) ([]row, error) {
	symbols, sites, err := p.examine(ctx, build{overlay: overlay}, "node-mutant")
	if err != nil {
		return nil, err
	}
	rows := []row{symbolRow(name, symbols, want.symbol)}
	if len(want.sites) > 0 {
		missed := missing(want.sites, func(site string) bool { return slices.Contains(sites.found, site) })
		rows = append(rows, row{name + ": names of sites", "host", sites.String(), missed, len(missed) == 0})
	}
	for _, arch := range p.Arches {
		compared, err := p.compareAll(ctx, arch, overlay)
		if err != nil {
			return rows, err
		}
		rows = append(rows, codeRow(name, arch, compared, want.functions))
	}
	return rows, nil
}

// symbolRow wants one symbol to be found, or for "" shows that there is none:
// then only code tells.
func symbolRow(name string, symbols finding, want string) row {
	r := row{check: name + ": counters symbols", arch: "host", found: symbols.String()}
	if want == "" {
		r.found += ", as it must be"
		r.ok, r.details = len(symbols.found) == 0, symbols.found
		return r
	}
	r.details = missing([]string{want}, func(s string) bool { return slices.Contains(symbols.found, s) })
	if r.ok = len(r.details) == 0; r.ok {
		r.found += ", " + filepath.Base(want)
	}
	return r
}

// codeRow wants each of the functions, and at least one, to be among the
// differences.
func codeRow(name, arch string, compared []comparison, functions []string) row {
	var c comparison
	for _, one := range compared {
		c.functions += one.functions
		c.differences = append(c.differences, one.differences...)
	}
	missed := missing(functions, c.names)
	if len(functions) == 0 {
		missed = []string{"no function is expected to differ"}
	}
	found := fmt.Sprintf("%d of %d functions differ", len(c.differences), c.functions)
	if len(missed) == 0 {
		var short []string
		for _, f := range functions {
			short = append(short, filepath.Base(f))
		}
		found += ", " + strings.Join(short, ", ")
	}
	return row{name + ": code", arch, found, missed, len(missed) == 0}
}

// missing returns a line for each of wanted that is not found.
func missing(wanted []string, found func(string) bool) []string {
	var lines []string
	for _, w := range wanted {
		if !found(w) {
			lines = append(lines, "not found: "+w)
		}
	}
	return lines
}

// names reports whether a function, or what is inside it, is among the
// differences.
func (c comparison) names(function string) bool {
	return slices.ContainsFunc(c.differences, func(d string) bool {
		after, ok := strings.CutPrefix(d, function)
		return ok && after != "" && strings.ContainsAny(after[:1], ":.[")
	})
}
