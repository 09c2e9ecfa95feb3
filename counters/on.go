//go:build msgpathcounters

package counters

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// A Site is a place in the code where messages are worked on.
type Site struct{ index uint8 } // 0: the zero Site, reported as "?"

// NewSite declares a site by its name, "package.site". It panics on a name of
// another form, a name declared before, and past 127 sites: all are mistakes
// in the declaring package's source.
func NewSite(name string) Site {
	if pkg, site, ok := strings.Cut(name, "."); !ok || pkg == "" || site == "" {
		panic(fmt.Sprintf("counters: declare site %q: want \"package.site\"", name))
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

// Sites returns the names of all declared sites in ascending order.
func Sites() []string {
	declared.Lock()
	defer declared.Unlock()
	return slices.Sorted(slices.Values(declared.names))
}

// A Set counts the work of one node. The zero Set counts nothing.
type Set struct{ cells *[maxSites]cell }

type cell struct{ decode, hash, idHash, encode, copied tally }

type tally struct{ n, bytes atomic.Uint64 }

func (t *tally) add(n int) {
	t.n.Add(1)
	t.bytes.Add(uint64(n))
}

// New returns a Set for one node.
func New() Set { return Set{cells: new([maxSites]cell)} }

// Decode counts one decode of n bytes at site.
func (s Set) Decode(site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].decode.add(n)
	}
}

// Hash counts one message hash over n bytes of payload and meta at site.
func (s Set) Hash(site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].hash.add(n)
	}
}

// IDHash counts one gossip message id over n bytes at site.
func (s Set) IDHash(site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].idHash.add(n)
	}
}

// Encode counts one encode to n bytes at site.
func (s Set) Encode(site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].encode.add(n)
	}
}

// Copy counts one copy of n payload bytes at site.
func (s Set) Copy(site Site, n int) {
	if s.cells != nil {
		s.cells[site.index].copied.add(n)
	}
}

// Load returns the counts so far of each site with any, by name.
func (s Set) Load() []SiteCounts {
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
