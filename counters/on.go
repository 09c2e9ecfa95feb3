//go:build msgpathcounters

package counters

import (
	"fmt"
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
	names []string // index = Site.index-1
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

// A Set counts the work of one node. The zero Set counts nothing.
//
// What can be done with a Set are functions of this package: the linker keeps
// every exported method of a type that reflection could reach, which is each
// type inside a value that was ever put into an interface, whether or not
// anybody calls it.
type Set struct{ cells *[maxSites]cell }

type cell struct{ decode, hash, idHash, encode, copied tally }

type tally struct{ n, bytes atomic.Uint64 }

// add counts one event of n bytes. A reader may see the event before its bytes.
func (t *tally) add(n int) {
	t.n.Add(1)
	t.bytes.Add(uint64(n))
}

// New returns a Set for one node.
func New() Set { return Set{cells: new([maxSites]cell)} }

// Decode counts one decode of n bytes at site.
func Decode(s Set, site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].decode.add(n)
	}
}

// Hash counts one message hash over n bytes of payload and meta at site.
func Hash(s Set, site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].hash.add(n)
	}
}

// IDHash counts one gossip message id over n bytes at site.
func IDHash(s Set, site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].idHash.add(n)
	}
}

// Encode counts one encode to n bytes at site.
func Encode(s Set, site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].encode.add(n)
	}
}

// Copy counts one copy of n payload bytes at site.
func Copy(s Set, site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].copied.add(n)
	}
}

// Load returns the counts so far of each site with any, by name. It is exact
// once nothing counts any more; before, an event may be there without its bytes.
func Load(s Set) []SiteCounts {
	if s.cells == nil {
		return nil
	}
	declared.Lock()
	names := slices.Concat([]string{"?"}, declared.names)
	declared.Unlock()
	var sites []SiteCounts
	for i, name := range names {
		if c := s.cells[i].load(); c != (Counts{}) {
			sites = append(sites, SiteCounts{Site: name, Counts: c})
		}
	}
	slices.SortFunc(sites, func(a, b SiteCounts) int { return strings.Compare(a.Site, b.Site) })
	return sites
}

func (c *cell) load() Counts {
	return Counts{
		Decodes: c.decode.n.Load(), DecodedBytes: c.decode.bytes.Load(),
		Hashes: c.hash.n.Load(), HashedBytes: c.hash.bytes.Load(),
		IDHashes: c.idHash.n.Load(), IDHashedBytes: c.idHash.bytes.Load(),
		Encodes: c.encode.n.Load(), EncodedBytes: c.encode.bytes.Load(),
		Copies: c.copied.n.Load(), CopiedBytes: c.copied.bytes.Load(),
	}
}
