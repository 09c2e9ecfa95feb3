package uncounted

import (
	"bytes"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// directive begins a comment that declares an exception.
const directive = "//msgpath:uncounted"

// An exception is an event that is meant not to be counted.
type exception struct {
	reason string
	pos    token.Position
	covers [len(events) + 1]bool // events it is needed for
	sites  int
}

// use notes that e is needed for an event at one more site.
func (e *exception) use(event Event) {
	e.covers[event] = true
	e.sites++
}

// exceptions holds those of one file.
type exceptions struct {
	all      []*exception
	byLine   map[int]*exception
	comments map[*ast.Comment]*exception
}

// readExceptions returns the exceptions of a file.
func readExceptions(pass *analysis.Pass, file *ast.File) (exceptions, error) {
	found := exceptions{byLine: make(map[int]*exception), comments: make(map[*ast.Comment]*exception)}
	for _, group := range file.Comments {
		for _, c := range group.List {
			reason, ok := reasonOf(c.Text)
			if !ok {
				continue
			}
			e := &exception{reason: reason, pos: pass.Fset.Position(c.Pos())}
			found.all = append(found.all, e)
			found.comments[c] = e
			trailing, err := followsCode(pass, e.pos)
			if err != nil {
				return exceptions{}, err
			}
			if trailing {
				found.byLine[e.pos.Line] = e
			} else {
				found.byLine[pass.Fset.Position(group.End()).Line+1] = e
			}
		}
	}
	return found, nil
}

func reasonOf(comment string) (reason string, ok bool) {
	rest, ok := strings.CutPrefix(comment, directive)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// followsCode reports whether anything but space stands before p on its line.
func followsCode(pass *analysis.Pass, p token.Position) (bool, error) {
	text, err := pass.ReadFile(p.Filename)
	if err != nil {
		return false, err
	}
	begin := bytes.LastIndexByte(text[:p.Offset], '\n') + 1
	return len(bytes.TrimSpace(text[begin:p.Offset])) > 0, nil
}

// in returns the exception that a doc comment declares, or nil.
func (x exceptions) in(docs ...*ast.CommentGroup) *exception {
	for _, doc := range docs {
		if doc == nil {
			continue
		}
		for _, c := range doc.List {
			if e := x.comments[c]; e != nil {
				return e
			}
		}
	}
	return nil
}
