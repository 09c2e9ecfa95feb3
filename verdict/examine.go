package verdict

import (
	"fmt"
	"slices"

	"github.com/msgpath/msgpath/counters"
)

// examination is what comparing runs with [ExpectedCounts] came to.
type examination struct {
	compared   int    // runs with every expectation compared
	uncounted  string // the first place that lacks a count it should have
	mismatch   string // the first figure that differs
	mismatches int
}

func examine(r Result) (x examination) {
	for _, run := range r.Runs {
		if expected := expectationsOf(run); len(expected) > 0 && x.run(r, run, expected) {
			x.compared++
		}
	}
	return x
}

// run compares one run and reports whether all of its counts were there.
func (x *examination) run(r Result, run Run, expected []Expectation) bool {
	at, all, before := placeOf(run), true, x.mismatches
	if sum, counted := countsOf(run.Nodes); counted && sum == (counters.Counts{}) {
		x.lack(at + ": its nodes counted nothing at all")
		return false
	}
	sizes := sizesOf(r, run)
	for _, n := range run.Nodes {
		if !slices.ContainsFunc(expected, func(e Expectation) bool { return e.Role == n.Role }) {
			x.differ("%s, node %s: role is %s, want none of it", at, n.Name, n.Role)
		}
	}
	for _, e := range expected {
		nodes := slices.DeleteFunc(slices.Clone(run.Nodes), func(n Node) bool { return n.Role != e.Role })
		if len(nodes) != 1 {
			x.differ("%s: %d nodes of role %s, want 1", at, len(nodes), e.Role)
		}
		for _, n := range nodes {
			all = x.node(at, n, e, sizes) && all
		}
	}
	if all && x.mismatches == before {
		x.plausible(at, expected, sizes, r.Settings.Hash)
	}
	return all
}

// onePassHash is the algorithm that can share a pass with a gossip id.
const onePassHash = "blake3"

// plausible finds what agreement between sites cannot show: sizes that are too
// small at each of them.
func (x *examination) plausible(at string, expected []Expectation, sizes sizes, hash string) {
	var sum counters.Counts
	identified := sizes.encoded
	for _, e := range expected {
		sum = sum.Add(e.Total())
		if e.OnePass && hash == onePassHash {
			identified = sizes.encoded - min(sizes.encoded, sizes.payload)
		}
	}
	if sum.Decodes+sum.Encodes > 0 {
		x.atLeast(at+": encoded messages, bytes", sizes.encoded, sizes.payload)
	}
	if sum.IDHashes > 0 {
		x.atLeast(at+": bytes that the gossip ids cover", sizes.identified, identified)
	}
}

// node compares one node and reports whether it was counted.
func (x *examination) node(at string, n Node, e Expectation, sizes sizes) bool {
	at += ", node " + n.Name
	if n.Sites == nil {
		x.lack(at)
		return false
	}
	counted := make(map[string]counters.Counts, len(n.Sites))
	for _, s := range n.Sites {
		counted[s.Site] = s.Counts
		x.site(at, s, sizes.want(e.site(s.Site)))
	}
	for _, want := range e.Sites {
		if _, ok := counted[want.Site]; !ok {
			x.site(at, counters.SiteCounts{Site: want.Site}, sizes.want(want))
		}
	}
	return true
}

// site compares one site. Where events are missing or too many, their bytes are
// wrong for that reason and not told apart.
func (x *examination) site(at string, got counters.SiteCounts, want counters.Counts) {
	for kind := range slices.Chunk(countColumns, 2) { // events and their bytes
		for _, c := range kind {
			if g, w := *c.field(&got.Counts), *c.field(&want); g != w {
				x.differ("%s, site %s: %s %d, want %d", at, got.Site, c.name, g, w)
				break
			}
		}
	}
}

// lack notes a place whose counts are not known.
func (x *examination) lack(at string) {
	if x.uncounted == "" {
		x.uncounted = at
	}
}

func (x *examination) atLeast(what string, got, least uint64) {
	if got < least {
		x.differ("%s %d, want at least %d", what, got, least)
	}
}

func (x *examination) differ(format string, args ...any) {
	if x.mismatch == "" {
		x.mismatch = fmt.Sprintf(format, args...)
	}
	x.mismatches++
}

func placeOf(run Run) string { return fmt.Sprintf("%s, path %s", run.Scenario, run.Path) }

// sizes are the bytes of all messages of one run. The settings say
// how large payloads with meta are, and meta alone. How long messages are when
// encoded, and what their gossip ids cover, depends on the wire format, of which
// this package knows nothing: the first site that counts either says it, and the
// others must agree.
type sizes struct{ messages, payload, meta, encoded, identified uint64 }

func sizesOf(r Result, run Run) sizes {
	z := sizes{messages: uint64(run.Messages), payload: r.Settings.PayloadBytes, meta: r.Settings.MetaBytes}
	for _, n := range run.Nodes {
		for _, s := range n.Sites {
			z.encoded = firstOf(z.encoded, z.each(s.DecodedBytes, s.Decodes), z.each(s.EncodedBytes, s.Encodes))
			z.identified = firstOf(z.identified, z.each(s.IDHashedBytes, s.IDHashes))
		}
	}
	return z
}

// each returns how many bytes the events of one site have for one event a
// message, and 0 if there were none or not as many for each message.
func (z sizes) each(bytes, events uint64) uint64 {
	if events == 0 || z.messages == 0 || events%z.messages != 0 {
		return 0
	}
	return bytes / (events / z.messages)
}

// firstOf returns the first that is not 0.
func firstOf(values ...uint64) uint64 {
	i := slices.IndexFunc(values, func(v uint64) bool { return v != 0 })
	if i < 0 {
		return 0
	}
	return values[i]
}

// want returns what a site must count in the whole run.
func (z sizes) want(e SiteExpectation) counters.Counts {
	return counters.Counts{
		Decodes: e.Decodes * z.messages, DecodedBytes: e.Decodes * z.encoded,
		Hashes: e.Hashes * z.messages, HashedBytes: e.Hashes * z.payload,
		IDHashes: e.IDHashes * z.messages, IDHashedBytes: e.IDHashes * z.identified,
		Encodes: e.Encodes * z.messages, EncodedBytes: e.Encodes * z.encoded,
		Copies: e.Copies * z.messages, CopiedBytes: e.Copies * (z.payload - z.meta),
	}
}
