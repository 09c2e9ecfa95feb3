package counterstest

import "github.com/msgpath/msgpath/counters"

// An event is one of the five that are counted.
type event struct {
	name, bytes string // units: "decodes", "decoded-B"
	kind        string // as counters.SiteLines names it
	of          func(counters.Counts) (events, bytes uint64)
}

var events = []event{
	{"decodes", "decoded-B", "decode", func(c counters.Counts) (uint64, uint64) { return c.Decodes, c.DecodedBytes }},
	{"hashes", "hashed-B", "hash", func(c counters.Counts) (uint64, uint64) { return c.Hashes, c.HashedBytes }},
	{"id-hashes", "id-hashed-B", "id_hash", func(c counters.Counts) (uint64, uint64) { return c.IDHashes, c.IDHashedBytes }},
	{"encodes", "encoded-B", "encode", func(c counters.Counts) (uint64, uint64) { return c.Encodes, c.EncodedBytes }},
	{"copies", "copied-B", "copy", func(c counters.Counts) (uint64, uint64) { return c.Copies, c.CopiedBytes }},
}
