package verdict

import (
	"slices"

	"github.com/msgpath/msgpath/counters"
)

// Expectation is what each node of one role must count, exactly and in every
// run: at each of Sites what it says, and nothing at any other site. A site with
// a count that is not in the list is as wrong as one without it.
type Expectation struct {
	Scenario string // Micro, Macro
	Path     string
	Role     string // a run has one node of each role that is expected, and no other
	Sites    []SiteExpectation

	// OnePass: a gossip id and the message hash share one pass over the payload,
	// where the hash algorithm lets them, and the hash is charged for it.
	OnePass bool
}

// SiteExpectation is what one site must count for each message. Bytes follow
// from it: a hash is fed the payload and meta, a copy copies the payload; a decode
// reads, and an encode writes, the whole encoded message, which is equally long at every site
// of a run, as is what a gossip id alone is hashed over.
type SiteExpectation struct {
	Site     string
	Decodes  uint64 // per message, as the rest
	Hashes   uint64
	IDHashes uint64
	Encodes  uint64
	Copies   uint64
}

// Total returns the sum over sites, per message, without bytes.
func (e Expectation) Total() (sum counters.Counts) {
	for _, s := range e.Sites {
		sum = sum.Add(s.perMessage())
	}
	return sum
}

func (s SiteExpectation) perMessage() counters.Counts {
	return counters.Counts{
		Decodes: s.Decodes, Hashes: s.Hashes, IDHashes: s.IDHashes, Encodes: s.Encodes, Copies: s.Copies,
	}
}

// ExpectedCounts are the counts of a relayed message. In micro one node does
// everything and there is no gossip id. In macro the publisher is subscribed to
// its own topic, and the receiver has an archive and a sync set.
//
// A copying decoder copies each payload; zerocopy has no copy anywhere. Nor has
// any path one at archive.retain: an archive in Go memory copies a payload only
// out of a buffer that is mostly something else, and no message of the workload
// lies in such a one.
//
// Where the receiver pushes to light peers, its filter asks for the hash twice for
// each message, whatever the number of peers: see [expectationsOf].
//
// In sum the first two paths are what the Nim system counted before and after
// its refactor (logos-messaging/logos-delivery, message-path benchmark).
var ExpectedCounts = []Expectation{
	{Scenario: Micro, Path: "baseline", Role: RoleAll, Sites: []SiteExpectation{
		{Site: "relay.validator", Decodes: 1, Copies: 1},
		{Site: "relay.handler", Decodes: 1, Copies: 1},
		{Site: "archive.archive", Hashes: 1},
		{Site: "storesync.storesync", Hashes: 1},
	}},
	{Scenario: Micro, Path: "envelope", Role: RoleAll, Sites: []SiteExpectation{
		{Site: "relay.validator", Decodes: 1, Copies: 1},
		{Site: "relay.handler", Decodes: 1, Copies: 1},
		{Site: "relay.envelope", Hashes: 1},
	}},
	{Scenario: Micro, Path: "zerocopy", Role: RoleAll, Sites: []SiteExpectation{
		{Site: "relay.validator", Decodes: 1},
		{Site: "relay.envelope", Hashes: 1},
	}},

	{Scenario: Macro, Path: "baseline", Role: RolePublisher, Sites: []SiteExpectation{
		{Site: "relay.publish", Hashes: 1, Encodes: 1},
		{Site: "relay.gossip_id", IDHashes: 1},
		{Site: "relay.on_send", Decodes: 1, Hashes: 1, Copies: 1},
		{Site: "relay.handler", Decodes: 1, Copies: 1},
	}},
	{Scenario: Macro, Path: "baseline", Role: RoleReceiver, Sites: []SiteExpectation{
		{Site: "relay.gossip_id", IDHashes: 1},
		{Site: "relay.on_recv", Decodes: 1, Copies: 1},
		{Site: "relay.validator", Decodes: 1, Copies: 1},
		{Site: "relay.on_validated", Decodes: 1, Hashes: 1, Copies: 1},
		{Site: "relay.handler", Decodes: 1, Copies: 1},
		{Site: "archive.archive", Hashes: 1},
		{Site: "storesync.storesync", Hashes: 1},
	}},
	{Scenario: Macro, Path: "envelope", Role: RolePublisher, Sites: []SiteExpectation{
		{Site: "relay.publish", Hashes: 1, Encodes: 1},
		{Site: "relay.gossip_id", IDHashes: 1},
		{Site: "relay.handler", Decodes: 1, Copies: 1},
		{Site: "relay.envelope", Hashes: 1},
	}},
	{Scenario: Macro, Path: "envelope", Role: RoleReceiver, Sites: []SiteExpectation{
		{Site: "relay.gossip_id", IDHashes: 1},
		{Site: "relay.validator", Decodes: 1, Copies: 1},
		{Site: "relay.handler", Decodes: 1, Copies: 1},
		{Site: "relay.envelope", Hashes: 1},
	}},
	{Scenario: Macro, Path: "zerocopy", Role: RolePublisher, OnePass: true, Sites: []SiteExpectation{
		{Site: "relay.publish", Hashes: 1, Encodes: 1},
		{Site: "relay.gossip_id", IDHashes: 1},
	}},
	{Scenario: Macro, Path: "zerocopy", Role: RoleReceiver, OnePass: true, Sites: []SiteExpectation{
		{Site: "relay.gossip_id", IDHashes: 1},
		{Site: "relay.validator", Decodes: 1},
		{Site: "relay.envelope", Hashes: 1},
	}},
	{Scenario: Macro, Path: "raw", Role: RolePublisher, Sites: []SiteExpectation{
		{Site: "bench.raw", Encodes: 1},
		{Site: "relay.gossip_id", IDHashes: 1},
	}},
	{Scenario: Macro, Path: "raw", Role: RoleReceiver, Sites: []SiteExpectation{
		{Site: "relay.gossip_id", IDHashes: 1},
	}},
}

// filterSites are what a filter with light peers adds on the path on which each
// consumer hashes for itself; on the others it adds nothing.
var filterSites = []SiteExpectation{
	{Site: "filter.filter", Hashes: 1},
	{Site: "filter.filter_push", Hashes: 1},
}

// expectationsOf returns what is expected of a run; none of a path that is not
// in [ExpectedCounts].
func expectationsOf(run Run) (found []Expectation) {
	scenario, lightPeers := CutFilter(Series(run.Scenario))
	for _, e := range ExpectedCounts {
		if e.Scenario != scenario || e.Path != run.Path {
			continue
		}
		if lightPeers > 0 && e.Path == "baseline" && e.Role != RolePublisher {
			e.Sites = slices.Concat(e.Sites, filterSites)
		}
		found = append(found, e)
	}
	return found
}

// site returns what is expected at a site: the zero value at one that is not in
// the list.
func (e Expectation) site(name string) SiteExpectation {
	for _, s := range e.Sites {
		if s.Site == name {
			return s
		}
	}
	return SiteExpectation{Site: name}
}
