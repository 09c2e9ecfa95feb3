package provezero

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/internal/provezero/sitelist"
)

// A proof is what is to be examined.
type proof struct {
	Options
	tool goTool

	module   string   // path of the node's module
	counters string   // import path
	names    []string // of sites that are looked for
	linked   []string // those that the node links
	users    []source // packages that the node links and that counting can reach
	inits    []string // symbols: the initializations that declare sites
	called   []string // functions of counters that users call and that count

	references map[string]reference // by architecture, made when needed
}

// A reference is what the reference source compiles to.
type reference struct {
	packages []string // import paths, counters among them
	objects  map[string]object
}

// A row is the result of one check.
type row struct {
	check, arch, found string
	details            []string // what is wrong
	ok                 bool
}

// prove makes all checks and returns their rows, also beside an error. The
// error wraps ErrFailed if a check failed and ErrNothing if there was nothing to
// check.
func (p *proof) prove(ctx context.Context) ([]row, error) {
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	var rows []row
	steps := []func(context.Context) ([]row, error){p.sizes, p.code, p.production, p.positiveControl, p.negativeControls}
	if p.CodeOnly {
		steps = steps[:2]
	}
	for _, step := range steps {
		more, err := step(ctx)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	if slices.ContainsFunc(rows, func(r row) bool { return !r.ok }) {
		return rows, fmt.Errorf("provezero: %w: a check failed", ErrFailed)
	}
	return rows, nil
}

// prepare finds the counters package, what can be reached from it, and the
// sites.
func (p *proof) prepare(ctx context.Context) (err error) {
	if err := p.findCounters(ctx); err != nil {
		return err
	}
	if p.users, err = p.tool.users(ctx, build{}, p.counters, []string{p.Node}); err != nil {
		return err
	}
	if err := p.findSites(ctx); err != nil {
		return err
	}
	if p.called, err = p.calledFunctions(); err != nil {
		return err
	}
	if p.inits, err = p.declaring(); err != nil {
		return err
	}
	return p.tool.findTools(ctx)
}

// findCounters finds the counters package among what the node links, and copies
// modules that could not be changed where they are.
func (p *proof) findCounters(ctx context.Context) error {
	lines, err := p.tool.list(ctx, build{}, "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "-deps", p.Node)
	if err != nil {
		return fmt.Errorf("%w (%w)", err, ErrUsage)
	}
	_, p.module, _ = strings.Cut(lines[len(lines)-1], " ")
	for _, path := range []string{countersPath(), p.module + "/counters"} {
		if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, path+" ") }) {
			p.counters = path
			return p.tool.copyModules(ctx, path, p.Node)
		}
	}
	return fmt.Errorf("provezero: %w: %s links no site: it does not depend on %s", ErrNothing, p.Node, countersPath())
}

// countersPath returns the import path that the counters package has in this
// program: that of a renamed project is renamed as well.
func countersPath() string { return reflect.TypeFor[counters.Counts]().PkgPath() }

// findSites finds the sites that the node links, and compares them with the
// list if there is one.
func (p *proof) findSites(ctx context.Context) error {
	decls, err := p.linkedSites(ctx)
	if err != nil {
		return err
	}
	if p.linked = sitelist.Names(decls); len(p.linked) == 0 {
		return fmt.Errorf("provezero: %w: %s links no site", ErrNothing, p.Node)
	}
	if p.names = p.linked; p.Sites == "" {
		return nil
	}
	list := p.Sites
	if !filepath.IsAbs(list) {
		list = filepath.Join(p.Dir, list)
	}
	if p.names, err = sitelist.Read(list); err != nil {
		return fmt.Errorf("provezero: %w: %w", ErrUsage, err)
	}
	for _, site := range p.linked {
		if !slices.Contains(p.names, site) {
			return fmt.Errorf("provezero: %w: site %s is not in %s", ErrFailed, site, p.Sites)
		}
	}
	return nil
}

// linkedSites returns the sites that the packages of the counting node declare.
func (p *proof) linkedSites(ctx context.Context) (decls []sitelist.Declaration, err error) {
	users, err := p.tool.users(ctx, build{tags: tag}, p.counters, []string{p.Node})
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		found, err := sitelist.ScanDir(u.dir, p.counters)
		if err != nil {
			return nil, err
		}
		decls = append(decls, found...)
	}
	return decls, nil
}

// declaring returns the symbols of the initializations that declare sites.
func (p *proof) declaring() ([]string, error) {
	var inits []string
	for _, u := range p.users {
		decls, err := sitelist.ScanDir(u.dir, p.counters)
		if err != nil {
			return nil, err
		}
		if len(decls) > 0 {
			inits = append(inits, u.symbol+".init")
		}
	}
	return inits, nil
}

// examine builds the node and probes it for symbols and names of sites.
func (p *proof) examine(ctx context.Context, b build, name string) (symbols, sites finding, err error) {
	b.ldflags = p.LDFlags
	path, err := p.tool.link(ctx, b, p.Node, name)
	if err != nil {
		return symbols, sites, err
	}
	x, err := openExecutable(path)
	if err != nil {
		return symbols, sites, err
	}
	return x.countersSymbols(p.counters), x.siteNames(p.names), nil
}

func (p *proof) production(ctx context.Context) ([]row, error) {
	symbols, sites, err := p.examine(ctx, build{}, "node-production")
	if err != nil {
		return nil, err
	}
	return []row{
		{"production: counters symbols", "host", symbols.String(), symbols.found, len(symbols.found) == 0},
		{"production: names of sites", "host", sites.String(), sites.found, len(sites.found) == 0},
	}, nil
}

func (f finding) String() string { return fmt.Sprintf("%d of %d", len(f.found), f.examined) }

// positiveControl shows that the probes find counters where they are.
func (p *proof) positiveControl(ctx context.Context) ([]row, error) {
	symbols, sites, err := p.examine(ctx, build{tags: tag}, "node-counting")
	if err != nil {
		return nil, err
	}
	var missed []string
	for _, site := range p.linked {
		if !slices.Contains(sites.found, site) {
			missed = append(missed, "not found: "+site)
		}
	}
	return []row{
		{"counting: counters symbols", "host", symbols.String(), nil, len(symbols.found) > 0},
		{"counting: names of sites", "host", sites.String(), missed, len(missed) == 0},
	}, nil
}

// code compares real code with the reference.
func (p *proof) code(ctx context.Context) ([]row, error) {
	var rows []row
	for _, arch := range p.Arches {
		compared, err := p.compareAll(ctx, arch, nil)
		if err != nil {
			return rows, err
		}
		for _, c := range compared {
			found := fmt.Sprintf("%d of %d functions differ, %d instructions", len(c.differences), c.functions, c.instructions)
			rows = append(rows, row{"code of " + p.short(c.pkg), arch, found, c.differences, len(c.differences) == 0})
		}
	}
	return rows, nil
}

// short returns an import path without the module's.
func (p *proof) short(pkg string) string {
	if pkg == p.counters {
		return "counters"
	}
	return strings.TrimPrefix(pkg, p.module+"/")
}

// compareAll compares each package for one architecture. Overlay changes the
// real source.
func (p *proof) compareAll(ctx context.Context, arch string, overlay map[string]string) ([]comparison, error) {
	reference, err := p.reference(ctx, arch)
	if err != nil {
		return nil, err
	}
	real, err := p.tool.compile(ctx, build{arch: arch, overlay: overlay}, reference.packages)
	if err != nil {
		return nil, err
	}
	var compared []comparison
	for _, pkg := range reference.packages {
		c := compare(real[pkg], reference.objects[pkg])
		if c.pkg = pkg; c.functions == 0 || c.instructions == 0 {
			return nil, fmt.Errorf("provezero: %w: %s has no function for %s", ErrNothing, pkg, arch)
		}
		compared = append(compared, c)
	}
	return compared, nil
}

// reference compiles the reference source for one architecture, once.
func (p *proof) reference(ctx context.Context, arch string) (reference, error) {
	if r, ok := p.references[arch]; ok {
		return r, nil
	}
	roots := p.Packages
	if len(roots) == 0 {
		roots = []string{p.Node}
	}
	users, err := p.tool.users(ctx, build{arch: arch}, p.counters, roots)
	if err != nil {
		return reference{}, err
	}
	if len(users) == 0 {
		return reference{}, fmt.Errorf("provezero: %w: none of %s counts", ErrNothing, strings.Join(roots, ", "))
	}
	overlay, err := p.tool.reference(ctx, build{arch: arch}, p.counters, paths(users))
	if err != nil {
		return reference{}, err
	}
	r := reference{packages: append(paths(users), p.counters)}
	r.objects, err = p.tool.compile(ctx, build{arch: arch, overlay: overlay}, r.packages)
	if err != nil {
		return r, fmt.Errorf("%w (the reference is the source without counting)", err)
	}
	if p.references == nil {
		p.references = make(map[string]reference)
	}
	p.references[arch] = r
	return r, nil
}
