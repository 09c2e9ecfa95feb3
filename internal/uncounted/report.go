package uncounted

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// A Report is what Examine found.
type Report struct {
	Version    int         `json:"version"`  // of this form: 1
	Packages   int         `json:"packages"` // examined
	Counts     int         `json:"counts"`   // counting calls in the module
	Findings   []Finding   `json:"findings"`
	Exceptions []Exception `json:"exceptions"`
}

// A Place is where something stands.
type Place struct {
	File   string `json:"file"` // relative to the module, with slashes
	Line   int    `json:"line"`
	Column int    `json:"column"` // in bytes, from 1
}

// String returns "file:line:column".
func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// A Finding is an event that nothing counts, or an exception that is wrong.
type Finding struct {
	Place
	Event      string   `json:"event"`                // "decode", "encode", "hash", "copy" or "exception"
	What       string   `json:"what,omitempty"`       // what is called
	In         string   `json:"in,omitempty"`         // the function around it
	CalledFrom []string `json:"calledFrom,omitempty"` // functions that mention that one
	Message    string   `json:"message"`              // all of it in a line
}

// An Exception is a comment that declares events as not to be counted.
type Exception struct {
	Place
	Reason string   `json:"reason"`
	Events []string `json:"events"` // those it is needed for
	Sites  int      `json:"sites"`  // how many of them
}

func newReport(summaries []*summary, named map[string]bool, root string) Report {
	p := join(summaries)
	found := p.judge()
	r := Report{Version: 1, Counts: p.counted, Findings: []Finding{}, Exceptions: []Exception{}}
	for _, f := range found {
		if named[f.unit.pkg.Path()] {
			f.Place = place(f.pos, root)
			r.Findings = append(r.Findings, f.Finding)
		}
	}
	for _, s := range summaries {
		if !named[s.pkg.Path()] {
			continue
		}
		r.Packages++
		for _, e := range s.exceptions {
			r.addException(e, root)
		}
	}
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(a.compare(b.Place), cmp.Compare(a.Message, b.Message))
	})
	slices.SortFunc(r.Exceptions, func(a, b Exception) int { return a.compare(b.Place) })
	return r
}

// addException lists e, and what is wrong with it.
func (r *Report) addException(e *exception, root string) {
	listed := Exception{Place: place(e.pos, root), Reason: e.reason, Sites: e.sites, Events: []string{}}
	for _, event := range events {
		if e.covers[event] {
			listed.Events = append(listed.Events, event.String())
		}
	}
	r.Exceptions = append(r.Exceptions, listed)
	if e.reason == "" {
		r.Findings = append(r.Findings, Finding{Place: listed.Place, Event: "exception", Message: "exception without a reason: say why the event is not counted"})
	}
	if e.sites == 0 {
		r.Findings = append(r.Findings, Finding{Place: listed.Place, Event: "exception", Message: "exception that covers nothing: remove it"})
	}
}

func place(p token.Position, root string) Place {
	file := p.Filename
	if rel, err := filepath.Rel(root, file); root != "" && err == nil && filepath.IsLocal(rel) {
		file = rel
	}
	return Place{File: filepath.ToSlash(file), Line: p.Line, Column: p.Column}
}

func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// WriteText writes each finding as a line "file:line:column: message".
func (r Report) WriteText(w io.Writer) error {
	var text strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&text, "%v: %s\n", f.Place, f.Message)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// Summary says how much was found in how much.
func (r Report) Summary() string {
	return fmt.Sprintf("%d %s in %d %s", len(r.Findings), plural(len(r.Findings), "finding"), r.Packages, plural(r.Packages, "package"))
}

// WriteExceptions writes each exception as a line with its reason and what it
// is needed for.
func (r Report) WriteExceptions(w io.Writer) error {
	var text strings.Builder
	for _, e := range r.Exceptions {
		fmt.Fprintf(&text, "%v: %s (%s at %d %s)\n", e.Place, cmp.Or(e.Reason, "no reason"),
			cmp.Or(strings.Join(e.Events, ", "), "nothing"), e.Sites, plural(e.Sites, "site"))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// WriteJSON writes r as one JSON document.
func (r Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	return enc.Encode(r)
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
