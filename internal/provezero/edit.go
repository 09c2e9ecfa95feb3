package provezero

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// An edit replaces the bytes from offset from to offset to by text. The line
// ends among the bytes stay.
type edit struct {
	from, to int
	text     string
}

// cut records an edit of the source between two positions.
func (s *stripper) cut(from, to token.Pos, text string) {
	file := s.fset.File(from)
	s.edits = append(s.edits, edit{file.Offset(from), file.Offset(to), text})
}

// isCut reports whether an edit removes the byte at pos.
func (s *stripper) isCut(pos token.Pos) bool {
	at := s.fset.File(pos).Offset(pos)
	return slices.ContainsFunc(s.edits, func(e edit) bool { return e.from <= at && at < e.to })
}

func (s *stripper) removeNode(n ast.Node, text string) {
	s.removed = append(s.removed, removal{n, len(s.edits)})
	s.cut(n.Pos(), n.End(), text)
}

func (s *stripper) removeStatement(n ast.Stmt) { s.removeNode(n, "") }

// remove takes the nodes for which gone is true out of a comma-separated or
// line-separated list.
func (s *stripper) remove(nodes []ast.Node, gone func(ast.Node) bool) {
	var kept ast.Node
	for i, n := range nodes {
		switch {
		case !gone(n):
			kept = n
		case i+1 < len(nodes):
			s.cut(n.Pos(), nodes[i+1].Pos(), "")
		case kept != nil:
			s.cutLast(kept.End(), n.End())
		default:
			s.cut(n.Pos(), n.End(), "")
		}
	}
}

// cutLast removes the end of a list. A list that ends its line with a comma
// still must.
func (s *stripper) cutLast(from, to token.Pos) {
	file := s.fset.File(from)
	var text string
	if end := file.Offset(to); s.src[end] == ',' {
		text, to = ",", to+1
	}
	s.cut(from, to, text)
}

// apply returns src with edits made. Edits that overlap become one.
func apply(src []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.to <= at {
			continue
		}
		from := max(e.from, at)
		out = append(out, src[at:from]...)
		out = append(out, e.text...)
		out = append(out, strings.Repeat("\n", strings.Count(string(src[from:e.to]), "\n"))...)
		at = e.to
	}
	return append(out, src[at:]...)
}
