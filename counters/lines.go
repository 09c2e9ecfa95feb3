//go:build msgpathcounters

package counters

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

const (
	// traced is how many of the first events of a kind at a site are traced to
	// the line that caused them. A line that only ever causes later ones is not
	// known.
	traced = 16
	// maxDepth is how many callers are looked at for it.
	maxDepth = 24
)

var eventNames = [events]string{"decode", "hash", "id_hash", "encode", "copy"}

// lines are the lines that caused the events of a node.
type lines struct {
	sync.Mutex
	known map[lineKey][]string
}

type lineKey struct {
	site  Site
	event int
}

// note adds the line that caused an event: of the callers, the nearest one in
// the package that declared the site, and if there is none, the nearest one
// outside this package.
func (l *lines) note(site Site, event int) {
	var pcs [maxDepth]uintptr
	line := causeOf(pcs[:runtime.Callers(2, pcs[:])], site)
	if line == "" {
		return
	}
	l.Lock()
	defer l.Unlock()
	if l.known == nil {
		l.known = make(map[lineKey][]string)
	}
	at := lineKey{site, event}
	if i, found := slices.BinarySearch(l.known[at], line); !found {
		l.known[at] = slices.Insert(l.known[at], i, line)
	}
}

func causeOf(pcs []uintptr, site Site) string {
	home := site.home()
	own, nearest := packageOf(functionHere()), ""
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		in := packageOf(f.Function)
		if in == home {
			return lineOf(f)
		}
		if nearest == "" && in != own && in != "runtime" { // of "go counters.Decode(…)", no line is left
			nearest = lineOf(f)
		}
		if !more {
			return nearest
		}
	}
}

// home returns the import path of the package that declared the site, "" for
// the zero Site.
func (s Site) home() string {
	if s == (Site{}) {
		return ""
	}
	declared.Lock()
	defer declared.Unlock()
	return declared.packages[declared.names[s.index-1]]
}

// lineOf returns "import/path/file.go:12", which is the same on every machine.
func lineOf(f runtime.Frame) string {
	return fmt.Sprintf("%s/%s:%d", packageOf(f.Function), path.Base(f.File), f.Line)
}

// packageOf returns the import path in the name of a function. A dot in its last
// element is escaped there, as in yaml%2ev4.Decode.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + strings.ReplaceAll(name, "%2e", ".")
}

func functionHere() string {
	pc, _, _, _ := runtime.Caller(0)
	return runtime.FuncForPC(pc).Name()
}

// callerPackage returns the package from which NewSite was called.
func callerPackage() string {
	var pcs [1]uintptr
	runtime.Callers(3, pcs[:])
	f, _ := runtime.CallersFrames(pcs[:]).Next()
	return packageOf(f.Function)
}

// list returns the lines of all sites, ordered by site and event.
func (l *lines) list() []SiteLines {
	l.Lock()
	defer l.Unlock()
	var all []SiteLines
	for i, name := range siteNames() {
		for event, eventName := range eventNames {
			if known := l.known[lineKey{Site{uint8(i)}, event}]; len(known) > 0 {
				all = append(all, SiteLines{Site: name, Event: eventName, At: slices.Clone(known)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b SiteLines) int { return strings.Compare(a.Site, b.Site) })
	return all
}
