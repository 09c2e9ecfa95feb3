// Package counters counts what one node does to messages, in builds that ask.
//
// Five events are counted, each at a named site and with a number of bytes:
// decode, message hash, gossip id hash, encode and copy. Under the build tag
// msgpathcounters a [Set] points at the counts of one node. In every other
// build a Set and a [Site] are empty structs and the functions do nothing: a
// field of type Set takes no space, a call compiles to no instruction, and the
// names of the sites are not in the binary.
//
// What it will not do: it keeps no time, samples nothing, and has no global
// count. Two nodes in one process have two Sets. The zero Set counts nothing,
// in both builds. A Set is safe for concurrent use.
//
// Rules for a caller, each learnt from machine code:
//
//   - put a field of type Set or Site first in a struct, never last: Go pads a
//     trailing field of no size so that its address stays inside the object;
//
//   - count behind "if counters.Enabled": a bare call leaves no instruction
//     either, but a nil check of the struct that holds the Set may stay if it is
//     the first use, and the compiler may order what is around it otherwise;
//
//   - declare each Site once, in a package-level variable:
//
//     var siteValidator = counters.NewSite("relay.validator")
//
// A build without the tag has no counts. Report them as "n/a", never as 0:
// [Load] returns nil there.
package counters

// Counts is how often each event happened and how many bytes it was given.
// The unit of every …Bytes field is one byte.
type Counts struct {
	Decodes       uint64 `json:"decodes"`       // decodes of a wire message
	DecodedBytes  uint64 `json:"decodedBytes"`  // their encoded sizes
	Hashes        uint64 `json:"hashes"`        // message hashes
	HashedBytes   uint64 `json:"hashedBytes"`   // payload and meta fed to them
	IDHashes      uint64 `json:"idHashes"`      // gossip message ids
	IDHashedBytes uint64 `json:"idHashedBytes"` // fed to them and to no message hash, see IDHashShared
	Encodes       uint64 `json:"encodes"`       // encodes to a wire message
	EncodedBytes  uint64 `json:"encodedBytes"`
	Copies        uint64 `json:"copies"` // copies of a payload made by the project's own code
	CopiedBytes   uint64 `json:"copiedBytes"`
}

// Add returns the sum of c and d.
func (c Counts) Add(d Counts) Counts {
	c.Decodes += d.Decodes
	c.DecodedBytes += d.DecodedBytes
	c.Hashes += d.Hashes
	c.HashedBytes += d.HashedBytes
	c.IDHashes += d.IDHashes
	c.IDHashedBytes += d.IDHashedBytes
	c.Encodes += d.Encodes
	c.EncodedBytes += d.EncodedBytes
	c.Copies += d.Copies
	c.CopiedBytes += d.CopiedBytes
	return c
}

// Sub returns c without d, for two readings of one Set, d the earlier. Bytes of
// ids are 0 where more of them went over to message hashes between the readings
// than were added.
func (c Counts) Sub(d Counts) Counts {
	c.Decodes -= d.Decodes
	c.DecodedBytes -= d.DecodedBytes
	c.Hashes -= d.Hashes
	c.HashedBytes -= d.HashedBytes
	c.IDHashes -= d.IDHashes
	c.IDHashedBytes -= min(c.IDHashedBytes, d.IDHashedBytes)
	c.Encodes -= d.Encodes
	c.EncodedBytes -= d.EncodedBytes
	c.Copies -= d.Copies
	c.CopiedBytes -= d.CopiedBytes
	return c
}

// SiteCounts is what happened at one site.
type SiteCounts struct {
	Site string `json:"site"` // "package.site"
	Counts
}

// SiteLines are the source lines that caused one kind of event at a site.
type SiteLines struct {
	Site  string   `json:"site"`  // "package.site"
	Event string   `json:"event"` // "decode", "hash", "id_hash", "encode" or "copy"
	At    []string `json:"at"`    // "import/path/file.go:12", ascending
}

// Total returns the sum over sites.
func Total(sites []SiteCounts) (sum Counts) {
	for _, s := range sites {
		sum = sum.Add(s.Counts)
	}
	return sum
}

// Since returns now without before, site by site. Both are what [Load]
// returned for one Set, before the earlier; sites without a new event are left
// out.
func Since(before, now []SiteCounts) []SiteCounts {
	earlier := make(map[string]Counts, len(before))
	for _, s := range before {
		earlier[s.Site] = s.Counts
	}
	var delta []SiteCounts
	for _, s := range now {
		if d := s.Sub(earlier[s.Site]); d != (Counts{}) {
			delta = append(delta, SiteCounts{Site: s.Site, Counts: d})
		}
	}
	return delta
}
