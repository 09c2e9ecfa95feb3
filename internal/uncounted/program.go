package uncounted

import (
	"cmp"
	"go/types"
	"slices"
)

// A program is all units that are looked at, joined by their mentions of one
// another.
type program struct {
	units     []*unit // by position
	functions map[*types.Func]*unit
	named     []*types.TypeName // types with methods, in the packages of the program
	packages  map[*types.Package]bool
	refs      map[*unit][]ref
	performs  map[*unit]kinds
	counted   int // counting calls
}

// A ref is a mention of a unit's function at a site of another unit.
type ref struct {
	in   *unit
	site *site
}

// kinds is a set of events.
type kinds [len(events) + 1]bool

// join makes a program of the summaries of its packages.
func join(summaries []*summary) *program {
	p := &program{
		functions: make(map[*types.Func]*unit), packages: make(map[*types.Package]bool),
		refs: make(map[*unit][]ref), performs: make(map[*unit]kinds),
	}
	for _, s := range summaries {
		p.packages[s.pkg] = true
		p.units = append(p.units, s.units...)
		p.named = append(p.named, typesOf(s.pkg)...)
	}
	slices.SortFunc(p.units, func(a, b *unit) int { return comparePositions(a.pos, b.pos) })
	for _, u := range p.units {
		p.counted += len(u.counts)
		if u.fn != nil {
			p.functions[u.fn] = u
		}
	}
	for _, u := range p.units {
		p.link(u)
	}
	p.spreadEvents()
	p.spreadCounts()
	return p
}

// typesOf returns the named types of pkg that may have methods and have no type
// parameters.
func typesOf(pkg *types.Package) (named []*types.TypeName) {
	for _, name := range pkg.Scope().Names() {
		tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || tn.IsAlias() || types.IsInterface(tn.Type()) {
			continue
		}
		if n, ok := tn.Type().(*types.Named); ok && n.TypeParams().Len() == 0 {
			named = append(named, tn)
		}
	}
	return named
}

// link enters the mentions in u. A call of an interface's method is a mention
// of each method that it may reach, if the program declares the interface:
// everybody calls those of the standard library.
func (p *program) link(u *unit) {
	for _, s := range u.sites {
		if s.callee == nil {
			continue
		}
		for _, fn := range p.targets(s.callee) {
			if callee := p.functions[fn]; callee != nil && callee != u {
				p.refs[callee] = append(p.refs[callee], ref{u, s})
			} else if callee == nil && s.event == 0 && fn != s.callee {
				s.event = eventOf(fn, fn.Signature().Recv().Type()) // of a generated method
			}
		}
	}
}

// targets returns the functions that a call of fn may reach.
func (p *program) targets(fn *types.Func) []*types.Func {
	recv := fn.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		return []*types.Func{fn}
	}
	if !p.packages[fn.Pkg()] {
		return nil
	}
	iface := recv.Type().Underlying().(*types.Interface)
	var found []*types.Func
	for _, tn := range p.named {
		if t := types.NewPointer(tn.Type()); types.Implements(t, iface) {
			obj, _, _ := types.LookupFieldOrMethod(t, false, fn.Pkg(), fn.Name())
			if m, ok := obj.(*types.Func); ok {
				found = append(found, m.Origin())
			}
		}
	}
	return found
}

// spreadEvents finds which units may do which events, themselves or through
// others.
func (p *program) spreadEvents() {
	work := slices.Clone(p.units)
	for _, u := range p.units {
		var k kinds
		for _, s := range u.sites {
			k[s.event] = true
		}
		k[0] = false
		p.performs[u] = k
	}
	for ; len(work) > 0; work = work[1:] {
		for _, r := range p.refs[work[0]] {
			before := p.performs[r.in]
			after := before
			for _, e := range events {
				after[e] = after[e] || p.performs[work[0]][e]
			}
			if after != before {
				p.performs[r.in] = after
				work = append(work, r.in)
			}
		}
	}
}

// spreadCounts: a function that counts and does no event of any kind, itself or
// through others, is a counter, as those of package counters are: its callers
// count.
func (p *program) spreadCounts() {
	work := slices.Clone(p.units)
	for ; len(work) > 0; work = work[1:] {
		u := work[0]
		if p.performs[u] != (kinds{}) {
			continue
		}
		for _, c := range u.counts {
			for _, r := range p.refs[u] {
				if !r.site.value && r.in.add(count{c.event, r.site.scope}) {
					work = append(work, r.in)
				}
			}
		}
	}
}

// add adds c and reports whether it is new.
func (u *unit) add(c count) bool {
	if slices.Contains(u.counts, c) {
		return false
	}
	u.counts = append(u.counts, c)
	return true
}

func comparePositions(a, b position) int {
	return cmp.Or(cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
