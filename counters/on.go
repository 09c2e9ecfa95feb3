//go:build msgpathcounters

package counters

import (
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
)

// Enabled reports whether this build counts.
const Enabled = true

// maxSites bounds the sites of one program, so that a Set is one allocation
// and counting is one atomic addition at a fixed place.
const maxSites = 128

var declared struct {
	sync.Mutex
	names    []string          // index = Site.index-1
	packages map[string]string // by name, the import path of the declaring package
}

// A Site is a place in the code where messages are worked on. The zero Site is
// reported as "?".
type Site struct{ index uint8 } // 1 more than its place in declared.names

// NewSite declares a site by its name, "package.site". It panics on a name of
// another form, a name declared before, and past 127 sites: all are mistakes
// in the declaring package's source. A build without the tag checks nothing.
func NewSite(name string) Site {
	if !wellFormed(name) {
		panic(fmt.Sprintf("counters: declare site %q: want \"package.site\" of letters, digits, '_', '-' and '/'", name))
	}
	declared.Lock()
	defer declared.Unlock()
	if slices.Contains(declared.names, name) {
		panic(fmt.Sprintf("counters: declare site %q: declared twice", name))
	}
	if len(declared.names) == maxSites-1 {
		panic(fmt.Sprintf("counters: declare site %q: more than %d sites", name, maxSites-1))
	}
	declared.names = append(declared.names, name)
	if declared.packages == nil {
		declared.packages = make(map[string]string)
	}
	declared.packages[name] = callerPackage()
	return Site{index: uint8(len(declared.names))}
}

// wellFormed keeps names free of what CSV, metrics or a terminal would have to
// escape.
func wellFormed(name string) bool {
	pkg, site, ok := strings.Cut(name, ".")
	foreign := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-/", r)
	}
	return ok && pkg != "" && site != "" && !strings.ContainsFunc(pkg+site, foreign)
}

// Sites returns the names of all declared sites in ascending order.
func Sites() []string {
	declared.Lock()
	defer declared.Unlock()
	return slices.Sorted(slices.Values(declared.names))
}

// Find returns the site of this name, and false if none is declared. A build
// without the tag knows none.
func Find(name string) (Site, bool) {
	declared.Lock()
	defer declared.Unlock()
	i := slices.Index(declared.names, name)
	return Site{index: uint8(i + 1)}, i >= 0
}

// A Set counts the work of one node. The zero Set counts nothing.
//
// What can be done with a Set are functions of this package: the linker keeps
// every exported method of a type that reflection could reach, which is each
// type inside a value that was ever put into an interface, whether or not
// anybody calls it.
type Set struct{ node *node }

// node is what a Set points at.
type node struct {
	cells  [maxSites]cell
	lines  lines
	labels labels
}

// cell is what happened at one site, by event.
type cell [events]tally

type tally struct{ n, bytes atomic.Uint64 }

// Events, as indices of a cell.
const (
	decode = iota
	hash
	idHash
	encode
	copied
	events
)

// add counts one event of n bytes at site. A reader may see the event before its
// bytes.
func (s Set) add(site Site, event, n int) {
	if s.node == nil {
		return
	}
	t := &s.node.cells[site.index][event]
	if t.n.Add(1) <= traced {
		s.node.lines.note(site, event)
	}
	t.bytes.Add(uint64(n))
}

// New returns a Set for one node.
func New() Set { return Set{node: new(node)} }

// Decode counts one decode of n bytes at site.
func Decode(s Set, site Site, n int) { s.add(site, decode, n) }

// Hash counts one message hash over n bytes of payload and meta at site.
func Hash(s Set, site Site, n int) { s.add(site, hash, n) }

// IDHash counts one gossip message id over n bytes at site.
func IDHash(s Set, site Site, n int) { s.add(site, idHash, n) }

// IDHashShared tells that n bytes of a gossip message id counted at site serve a
// message hash too, which is charged for them: they are taken from the id's
// bytes, which do not go below 0. It counts no event.
func IDHashShared(s Set, site Site, n int) {
	if s.node == nil {
		return
	}
	bytes := &s.node.cells[site.index][idHash].bytes
	for {
		have := bytes.Load()
		if bytes.CompareAndSwap(have, have-min(have, uint64(n))) {
			return
		}
	}
}

// Encode counts one encode to n bytes at site.
func Encode(s Set, site Site, n int) { s.add(site, encode, n) }

// Copy counts one copy of n payload bytes at site.
func Copy(s Set, site Site, n int) { s.add(site, copied, n) }

// Label marks the samples that a CPU profile takes of the calling goroutine, and of
// those it starts, with the labels site and node, until its End. It does so only
// while [Labelling] is on; else it costs one atomic load. Call it as
//
//	if counters.Enabled {
//		defer counters.Label(set, site).End()
//	}
func Label(s Set, site Site) Labelled {
	if s.node == nil || !labelling.Load() {
		return Labelled{}
	}
	pprof.SetGoroutineLabels(s.node.labels.of(site))
	return Labelled{on: true}
}

// Labelled is a stretch of work between [Label] and End. The zero Labelled has no
// labels.
type Labelled struct{ on bool }

// End takes all labels away. They do not nest: of two stretches, the inner one ends
// the labels of both.
func (l Labelled) End() {
	if l.on {
		pprof.SetGoroutineLabels(context.Background())
	}
}

// Name gives a node the name that labels have, "?" without one. A build without the
// tag knows none.
func Name(s Set, name string) {
	if s.node != nil {
		s.node.labels.rename(name)
	}
}

// Labelling switches labels on for as long as a profile is taken, and off. It is off
// when a program starts.
func Labelling(on bool) { labelling.Store(on) }

// Load returns the counts so far of each site with any, by name. It is exact
// once nothing counts any more; before, an event may be there without its bytes.
func Load(s Set) []SiteCounts {
	if s.node == nil {
		return nil
	}
	var sites []SiteCounts
	for i, name := range siteNames() {
		if c := s.node.cells[i].load(); c != (Counts{}) {
			sites = append(sites, SiteCounts{Site: name, Counts: c})
		}
	}
	slices.SortFunc(sites, func(a, b SiteCounts) int { return strings.Compare(a.Site, b.Site) })
	return sites
}

func (c *cell) load() Counts {
	return Counts{
		Decodes: c[decode].n.Load(), DecodedBytes: c[decode].bytes.Load(),
		Hashes: c[hash].n.Load(), HashedBytes: c[hash].bytes.Load(),
		IDHashes: c[idHash].n.Load(), IDHashedBytes: c[idHash].bytes.Load(),
		Encodes: c[encode].n.Load(), EncodedBytes: c[encode].bytes.Load(),
		Copies: c[copied].n.Load(), CopiedBytes: c[copied].bytes.Load(),
	}
}

// siteNames returns the name of each site, that of the zero Site first.
func siteNames() []string {
	declared.Lock()
	defer declared.Unlock()
	return slices.Concat([]string{"?"}, declared.names)
}

// Lines returns which lines caused the events so far, by site and event: lines
// of the package that declared the site, as far as the first 16 events of each
// kind show them. It is nil in a build that does not count.
func Lines(s Set) []SiteLines {
	if s.node == nil {
		return nil
	}
	return s.node.lines.list()
}
