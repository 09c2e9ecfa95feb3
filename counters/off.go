//go:build !msgpathcounters

package counters

// Enabled reports whether this build counts.
const Enabled = false

// A Site is a place in the code where messages are worked on. The zero Site is
// reported as "?".
type Site struct{}

// NewSite declares a site by its name, "package.site". It panics on a name of
// another form, a name declared before, and past 127 sites: all are mistakes
// in the declaring package's source. A build without the tag checks nothing.
func NewSite(string) Site { return Site{} }

// Sites returns the names of all declared sites in ascending order.
func Sites() []string { return nil }

// Find returns the site of this name, and false if none is declared. A build
// without the tag knows none.
func Find(string) (Site, bool) { return Site{}, false }

// A Set counts the work of one node. The zero Set counts nothing.
//
// What can be done with a Set are functions of this package: the linker keeps
// every exported method of a type that reflection could reach, which is each
// type inside a value that was ever put into an interface, whether or not
// anybody calls it.
type Set struct{}

// New returns a Set for one node.
func New() Set { return Set{} }

// Decode counts one decode of n bytes at site.
func Decode(Set, Site, int) {}

// Hash counts one message hash over n bytes of payload and meta at site.
func Hash(Set, Site, int) {}

// IDHash counts one gossip message id over n bytes at site.
func IDHash(Set, Site, int) {}

// IDHashShared tells that n bytes of a gossip message id counted at site serve a
// message hash too, which is charged for them: they are taken from the id's
// bytes, which do not go below 0. It counts no event.
func IDHashShared(Set, Site, int) {}

// Encode counts one encode to n bytes at site.
func Encode(Set, Site, int) {}

// Copy counts one copy of n payload bytes at site.
func Copy(Set, Site, int) {}

// Label marks the samples that a CPU profile takes of the calling goroutine, and of
// those it starts, with the labels site and node, until its End. It does so only
// while [Labelling] is on; else it costs one atomic load. Call it as
//
//	if counters.Enabled {
//		defer counters.Label(set, site).End()
//	}
func Label(Set, Site) Labelled { return Labelled{} }

// Labelled is a stretch of work between [Label] and End. The zero Labelled has no
// labels.
type Labelled struct{}

// End takes all labels away. They do not nest: of two stretches, the inner one ends
// the labels of both.
func (Labelled) End() {}

// Name gives a node the name that labels have, "?" without one. A build without the
// tag knows none.
func Name(Set, string) {}

// Labelling switches labels on for as long as a profile is taken, and off. It is off
// when a program starts.
func Labelling(bool) {}

// Load returns the counts so far of each site with any, by name. It is exact
// once nothing counts any more; before, an event may be there without its bytes.
func Load(Set) []SiteCounts { return nil }

// Lines returns which lines caused the events so far, by site and event: lines
// of the package that declared the site, as far as the first 16 events of each
// kind show them. It is nil in a build that does not count.
func Lines(Set) []SiteLines { return nil }
