//go:build !msgpathcounters

package counters

// Enabled reports whether this build counts.
const Enabled = false

// A Site is a place in the code where messages are worked on.
type Site struct{}

// NewSite declares a site by its name, "package.site".
func NewSite(string) Site { return Site{} }

// Sites returns the names of all declared sites in ascending order.
func Sites() []string { return nil }

// A Set counts the work of one node. The zero Set counts nothing.
type Set struct{}

// New returns a Set for one node.
func New() Set { return Set{} }

// Decode counts one decode of n bytes at site.
func (Set) Decode(Site, int) {}

// Hash counts one message hash over n bytes of payload and meta at site.
func (Set) Hash(Site, int) {}

// IDHash counts one gossip message id over n bytes at site.
func (Set) IDHash(Site, int) {}

// Encode counts one encode to n bytes at site.
func (Set) Encode(Site, int) {}

// Copy counts one copy of n payload bytes at site.
func (Set) Copy(Site, int) {}

// Load returns the counts so far of each site with any, by name.
func (Set) Load() []SiteCounts { return nil }
