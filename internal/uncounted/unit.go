package uncounted

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
)

// A summary is what one package does: the result of the analyzer.
type summary struct {
	pkg        *types.Package
	units      []*unit
	exceptions []*exception
	whole      *exception // for the package
}

// A unit is a declared function with the literals in it, or the initial values
// of a package-level variable.
type unit struct {
	pkg       *types.Package
	fn        *types.Func // nil for variables
	variable  string      // of variables
	pos       token.Position
	sites     []*site
	counts    []count
	exception *exception // for the unit
	whole     *exception // for its package
}

// A site is where a unit does something: an event, or a mention of a function
// that may do one.
type site struct {
	event  Event       // 0: a mention
	callee *types.Func // mentioned or, as an event, called; nil for built-in functions
	recv   types.Type  // what a method is called on
	value  bool        // used as a value, not called
	merged bool        // one finding tells of all such sites of the unit
	what   string      // how to call it in a report
	pos    token.Position
	scope  span
	except *exception // for the line
}

// A count is a counted event.
type count struct {
	event Event
	scope span
}

// A span is the part of a unit that runs together: its source interval.
type span struct{ from, to token.Pos }

// meets reports whether one of the two lies in the other.
func (s span) meets(t span) bool {
	return s.from <= t.from && t.to <= s.to || t.from <= s.from && s.to <= t.to
}

// counted reports whether the unit counts e where s does it.
func (u *unit) counted(s *site, e Event) bool {
	for _, c := range u.counts {
		if c.event == e && c.scope.meets(s.scope) {
			return true
		}
	}
	return false
}

// excepted returns the exception that s falls under: that of its line, its
// unit or its package.
func (u *unit) excepted(s *site) *exception {
	for _, e := range []*exception{s.except, u.exception, u.whole} {
		if e != nil {
			return e
		}
	}
	return nil
}

// name is the unit's name as seen from package from.
func (u *unit) name(from *types.Package) string {
	if u.fn != nil {
		return funcName(u.fn, from)
	}
	if u.pkg == from {
		return "variable " + u.variable
	}
	return "variable " + u.pkg.Name() + "." + u.variable
}

// funcName returns "f", "T.m" or "(*T).m", with the package's name unless that
// is from.
func funcName(fn *types.Func, from *types.Package) string {
	qualifier := func(p *types.Package) string {
		if p == from {
			return ""
		}
		return p.Name()
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		if q := qualifier(fn.Pkg()); q != "" {
			return q + "." + fn.Name()
		}
		return fn.Name()
	}
	of := types.TypeString(recv.Type(), qualifier)
	if strings.HasPrefix(of, "*") {
		of = fmt.Sprintf("(%s)", of)
	}
	return of + "." + fn.Name()
}
