package uncounted

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
)

type position = token.Position

// A judge finds the sites that no counter covers.
type judge struct {
	program *program
	done    map[judged]bool
	found   []located
}

type judged struct {
	site  *site
	event Event
}

// A located finding still has the position of its source.
type located struct {
	Finding
	pos    position
	unit   *unit
	merged bool
}

// judge returns the findings in the whole program, and notes which exceptions
// are needed.
func (p *program) judge() []located {
	j := &judge{program: p, done: make(map[judged]bool)}
	for _, u := range p.units {
		for _, s := range u.sites {
			if s.event != 0 && !j.isInside(s) {
				j.site(u, s, s.event)
			}
		}
	}
	return j.found
}

// isInside reports whether the event that s calls is one of the program's own
// functions, which has the event itself.
func (j *judge) isInside(s *site) bool {
	u := j.program.functions[s.callee]
	return u != nil && j.program.performs[u][s.event]
}

// site judges the event e at s in u, and if some ways to it are covered and
// others are not, those others.
func (j *judge) site(u *unit, s *site, e Event) {
	if j.done[judged{s, e}] || u.counted(s, e) {
		return
	}
	j.done[judged{s, e}] = true
	if except := u.excepted(s); except != nil {
		if w := j.program.ways(u, e, false); s.value || w.bare || !w.covered {
			except.use(e)
		}
		return
	}
	whole := s.value || !j.program.ways(u, e, true).covered
	if whole {
		j.report(u, s, e)
	}
	for _, r := range j.program.refs[u] {
		if !whole || r.in.whole != nil {
			j.site(r.in, r.site, e)
		}
	}
}

// ways tells how a unit is reached.
type ways struct {
	bare    bool // from a function that nobody calls, through calls that are not covered
	covered bool // through a call that is covered
}

// ways follows the calls of u upwards, until they are covered. Exceptions cover
// if they are asked to, but for those of a package: its calls are left out, as
// tests are.
func (p *program) ways(u *unit, e Event, exceptions bool) (w ways) {
	seen := map[*unit]bool{u: true}
	for work := []*unit{u}; len(work) > 0; work = work[1:] {
		refs := p.refs[work[0]]
		w.bare = w.bare || len(refs) == 0
		for _, r := range refs {
			switch except := r.in.excepted(r.site); {
			case r.in.counted(r.site, e):
				w.covered = true
			case exceptions && except != nil:
				w.covered = w.covered || except != r.in.whole
			case r.site.value:
				w.bare = true
			case !seen[r.in]:
				seen[r.in] = true
				work = append(work, r.in)
			}
		}
	}
	return w
}

func (j *judge) report(u *unit, s *site, e Event) {
	if s.merged && j.hasMerged(u, e) {
		return
	}
	callers := j.callers(u)
	j.found = append(j.found, located{pos: s.pos, unit: u, merged: s.merged, Finding: Finding{
		Event: e.String(), What: s.what, In: u.name(u.pkg), CalledFrom: callers,
		Message: fmt.Sprintf("%s not counted: %s in %s%s: count it with %s, or declare: %s reason",
			e, s.what, u.name(u.pkg), calledFrom(callers), e.counter(), directive),
	}})
}

// hasMerged reports whether a finding that tells of all such sites of e in u is
// there already.
func (j *judge) hasMerged(u *unit, e Event) bool {
	return slices.ContainsFunc(j.found, func(f located) bool { return f.merged && f.unit == u && f.Event == e.String() })
}

// callers returns the names of the units that mention u, ascending.
func (j *judge) callers(u *unit) []string {
	var names []string
	for _, r := range j.program.refs[u] {
		name := r.in.name(u.pkg)
		if r.site.value {
			name += " as a value"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// shownCallers is how many callers a line names.
const shownCallers = 3

func calledFrom(callers []string) string {
	switch n := len(callers); {
	case n == 0:
		return ""
	case n > shownCallers:
		return fmt.Sprintf(" (called from %s and %d more)", strings.Join(callers[:shownCallers], ", "), n-shownCallers)
	}
	return fmt.Sprintf(" (called from %s)", strings.Join(callers, ", "))
}
