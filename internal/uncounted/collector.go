package uncounted

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// A collector gathers the sites and counts of one unit.
type collector struct {
	pass     *analysis.Pass
	found    exceptions
	unit     *unit
	whole    span                  // of the unit
	payloads map[types.Object]bool // variables that were assigned a payload
}

// ident looks at a name that may be a function's.
func (c *collector) ident(id *ast.Ident, stack []ast.Node) {
	fn, ok := c.pass.TypesInfo.Uses[id].(*types.Func)
	if !ok || fn.Pkg() == nil {
		return
	}
	fn = fn.Origin()
	if fn.Pkg().Path() == CountersPath {
		if e := countedBy[fn.Name()]; e != 0 && fn.Signature().Recv() == nil {
			c.unit.counts = append(c.unit.counts, count{e, c.scope(stack)})
		}
		return
	}
	s := c.site(id, stack)
	s.callee, s.recv, s.value = fn, c.receiver(id, stack), !isCalled(id, stack)
	s.event = eventOf(fn, s.recv)
	s.merged = s.event == Hash || fn.Pkg().Path() == wirePackage
	s.what = funcName(fn, c.pass.Pkg)
	c.unit.sites = append(c.unit.sites, s)
}

// call looks for events that a function's name does not tell.
func (c *collector) call(call *ast.CallExpr, stack []ast.Node) {
	e, what := c.jsonEvent(call)
	if e == 0 {
		if what = c.copied(call, stack); what == "" {
			return
		}
		e = Copy
	}
	s := c.site(call, stack)
	s.event, s.what = e, what
	c.unit.sites = append(c.unit.sites, s)
}

// jsonFunctions hold the index of the argument that is the message.
var jsonFunctions = map[string]struct {
	event    Event
	argument int
}{
	"encoding/json.Unmarshal":         {Decode, 1},
	"(*encoding/json.Decoder).Decode": {Decode, 0},
	"encoding/json.Marshal":           {Encode, 0},
	"encoding/json.MarshalIndent":     {Encode, 0},
	"(*encoding/json.Encoder).Encode": {Encode, 0},
}

// jsonEvent: encoding/json of a protobuf message.
func (c *collector) jsonEvent(call *ast.CallExpr) (Event, string) {
	fn := c.function(call.Fun)
	if fn == nil {
		return 0, ""
	}
	j, ok := jsonFunctions[fn.FullName()]
	if !ok || len(call.Args) <= j.argument || !isProtobuf(c.pass.TypesInfo.TypeOf(call.Args[j.argument])) {
		return 0, ""
	}
	return j.event, funcName(fn, c.pass.Pkg)
}

// function returns the function that a call names, or nil.
func (c *collector) function(fun ast.Expr) *types.Func {
	var id *ast.Ident
	switch x := ast.Unparen(fun).(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	case *ast.IndexExpr:
		return c.function(x.X)
	default:
		return nil
	}
	fn, _ := c.pass.TypesInfo.Uses[id].(*types.Func)
	return fn
}

// receiver returns the type that the method id is selected from.
func (c *collector) receiver(id *ast.Ident, stack []ast.Node) types.Type {
	if sel, ok := parent(stack).(*ast.SelectorExpr); ok && sel.Sel == id {
		if s := c.pass.TypesInfo.Selections[sel]; s != nil {
			return s.Recv()
		}
	}
	return nil
}

// site returns a site at n, which stands in stack. An exception for its line
// may stand at the statement's beginning.
func (c *collector) site(n ast.Node, stack []ast.Node) *site {
	s := &site{pos: c.pass.Fset.Position(n.Pos()), scope: c.scope(stack)}
	if sel, ok := parent(stack).(*ast.SelectorExpr); ok && sel.Sel == n {
		s.pos = c.pass.Fset.Position(sel.Pos())
	}
	lines := []int{c.pass.Fset.Position(n.Pos()).Line, s.pos.Line}
	for _, around := range slices.Backward(stack) {
		if _, ok := around.(ast.Stmt); ok {
			lines = append(lines, c.pass.Fset.Position(around.Pos()).Line)
			break
		}
	}
	for _, line := range lines {
		if e := c.found.byLine[line]; e != nil {
			s.except = e
			break
		}
	}
	return s
}

// scope returns what runs together with the innermost node of stack: the unit,
// or the innermost literal that is passed on and so may run at another time.
func (c *collector) scope(stack []ast.Node) span {
	for i, n := range slices.Backward(stack) {
		if lit, ok := n.(*ast.FuncLit); ok && i > 0 && isPassedOn(lit, stack[i-1]) {
			return span{lit.Pos(), lit.End()}
		}
	}
	return c.whole
}

// isPassedOn is false for a literal that is called where it stands or has a
// local name.
func isPassedOn(lit *ast.FuncLit, around ast.Node) bool {
	switch around := around.(type) {
	case *ast.CallExpr:
		return around.Fun != lit
	case *ast.ValueSpec:
		return false
	case *ast.AssignStmt:
		return slices.ContainsFunc(around.Lhs, func(x ast.Expr) bool { _, local := x.(*ast.Ident); return !local })
	}
	return true
}

// isCalled reports whether the function that id names is called there.
func isCalled(id *ast.Ident, stack []ast.Node) bool {
	var x ast.Node = id
	for _, around := range slices.Backward(stack) {
		switch n := around.(type) {
		case *ast.CallExpr:
			return n.Fun == x
		case *ast.SelectorExpr, *ast.ParenExpr, *ast.IndexExpr, *ast.IndexListExpr:
			x = n
		default:
			return false
		}
	}
	return false
}

func parent(stack []ast.Node) ast.Node {
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// withoutKeptFields drops the encoding of fields by a function that decodes: it
// keeps unknown fields.
func withoutKeptFields(sites []*site) []*site {
	onWire := func(e Event) func(*site) bool {
		return func(s *site) bool { return s.event == e && s.callee != nil && s.callee.Pkg().Path() == wirePackage }
	}
	if !slices.ContainsFunc(sites, onWire(Decode)) {
		return sites
	}
	return slices.DeleteFunc(sites, onWire(Encode))
}
