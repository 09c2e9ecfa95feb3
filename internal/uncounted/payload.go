package uncounted

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// payloadNames are the fields and getters that hold a payload.
var payloadNames = []string{"Payload", "GetPayload", "Data", "GetData", "Bytes"}

// isPayload reports whether x is the payload of a message: a field or getter
// with one of the payloadNames, or a variable of the unit that was assigned one,
// as a whole or without a head. A part with a constant end is a header.
func (c *collector) isPayload(x ast.Expr) bool {
	if t := c.pass.TypesInfo.TypeOf(x); t == nil || !isBytes(t) && !isString(t) {
		return false
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return c.payloads[c.pass.TypesInfo.ObjectOf(x)]
	case *ast.SliceExpr:
		return (x.High == nil || c.pass.TypesInfo.Types[x.High].Value == nil) && c.isPayload(x.X)
	case *ast.SelectorExpr:
		return c.isPayloadMember(x, types.FieldVal)
	case *ast.CallExpr:
		sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		return ok && len(x.Args) == 0 && c.isPayloadMember(sel, types.MethodVal)
	}
	return false
}

func (c *collector) isPayloadMember(sel *ast.SelectorExpr, kind types.SelectionKind) bool {
	s := c.pass.TypesInfo.Selections[sel]
	if s == nil || s.Kind() != kind || !slices.Contains(payloadNames, sel.Sel.Name) {
		return false
	}
	pkg := s.Obj().Pkg()
	if pkg == nil || c.isStandard(pkg) {
		return false
	}
	return sel.Sel.Name != "Bytes" || c.isOurs(pkg) // of others, Bytes may be those of a key or an address
}

// isStandard: the paths of the standard library have no dot in their first
// element.
func (c *collector) isStandard(pkg *types.Package) bool {
	first, _, _ := strings.Cut(pkg.Path(), "/")
	return !strings.Contains(first, ".") && !c.isOurs(pkg)
}

// isOurs reports whether pkg is in the module that is looked at.
func (c *collector) isOurs(pkg *types.Package) bool {
	m := c.pass.Module
	return pkg == c.pass.Pkg || m != nil && (pkg.Path() == m.Path || strings.HasPrefix(pkg.Path(), m.Path+"/"))
}

// assign notes the variables that are assigned a payload.
func (c *collector) assign(to, from []ast.Expr) {
	if len(to) != len(from) {
		return
	}
	for i, x := range to {
		if id, ok := x.(*ast.Ident); ok && c.isPayload(from[i]) {
			c.payloads[c.pass.TypesInfo.ObjectOf(id)] = true
		}
	}
}

func (c *collector) declare(v *ast.ValueSpec) {
	to := make([]ast.Expr, len(v.Names))
	for i, name := range v.Names {
		to[i] = name
	}
	c.assign(to, v.Values)
}

// copied returns how call copies a payload, or "".
func (c *collector) copied(call *ast.CallExpr, stack []ast.Node) string {
	info := c.pass.TypesInfo
	fun := info.Types[call.Fun]
	switch {
	case fun.IsType():
		return c.converted(call, fun.Type, parent(stack))
	case fun.IsBuiltin():
		return c.copiedByBuiltin(call)
	}
	fn := c.function(call.Fun)
	if fn == nil || len(call.Args) != 1 || !c.isPayload(call.Args[0]) {
		return ""
	}
	if name := fn.FullName(); slices.Contains([]string{"bytes.Clone", "slices.Clone", "strings.Clone"}, name) {
		return name + " of " + types.ExprString(call.Args[0])
	}
	return ""
}

// copiedByBuiltin: append of a payload to anything, copy of it to anything but
// an array, whose size is that of a header.
func (c *collector) copiedByBuiltin(call *ast.CallExpr) string {
	if len(call.Args) != 2 || !c.isPayload(call.Args[1]) {
		return ""
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	switch {
	case ok && id.Name == "copy" && !c.isArray(call.Args[0]), ok && id.Name == "append" && call.Ellipsis.IsValid():
		return id.Name + " of " + types.ExprString(call.Args[1])
	}
	return ""
}

func (c *collector) isArray(x ast.Expr) bool {
	s, ok := ast.Unparen(x).(*ast.SliceExpr)
	if !ok {
		return false
	}
	t := c.pass.TypesInfo.TypeOf(s.X).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	_, ok = t.(*types.Array)
	return ok
}

// converted: between string and bytes, but for what the compiler does without a
// copy: comparison, the key of a map, a range.
func (c *collector) converted(call *ast.CallExpr, to types.Type, around ast.Node) string {
	if len(call.Args) != 1 || !c.isPayload(call.Args[0]) {
		return ""
	}
	from := c.pass.TypesInfo.TypeOf(call.Args[0])
	if !(isString(to) && isBytes(from)) && !(isBytes(to) && isString(from)) {
		return ""
	}
	switch n := around.(type) {
	case *ast.BinaryExpr:
		if n.Op != token.ADD {
			return ""
		}
	case *ast.IndexExpr, *ast.RangeStmt, *ast.SwitchStmt, *ast.CaseClause:
		return ""
	}
	return types.ExprString(call)
}
