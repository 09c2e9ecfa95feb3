package verdict

import (
	"slices"
	"testing"

	"github.com/msgpath/msgpath/counters"
)

// site returns the counts of one site of r, to be changed.
func site(t *testing.T, r *Result, scenario, path string, node int, name string) *counters.SiteCounts {
	t.Helper()
	sites := find(t, r, scenario, path).Nodes[node].Sites
	i := slices.IndexFunc(sites, func(s counters.SiteCounts) bool { return s.Site == name })
	if i < 0 {
		t.Fatalf("%s, path %s has no site %s", scenario, path, name)
	}
	return &sites[i]
}

// eachSite calls change for every site of a run.
func eachSite(t *testing.T, r *Result, scenario, path string, change func(*counters.SiteCounts)) {
	t.Helper()
	for _, n := range find(t, r, scenario, path).Nodes {
		for i := range n.Sites {
			change(&n.Sites[i])
		}
	}
}

func TestExpectedCountsOfRaw(t *testing.T) {
	r := withRaw()
	criteria := Acceptance(r, Context{})
	wantCriterion(t, criterion(t, criteria, CriterionCounts), Pass, "14 of 16 runs have expected counts and all match")
	find(t, &r, "macro_run2", "raw").Nodes[1].Sites = nil
	criteria = Acceptance(r, Context{})
	wantCriterion(t, criterion(t, criteria, CriterionCounts), Inconclusive, "n/a: macro_run2, path raw, node B")
	if code := ExitCode(r, criteria); code != ExitInvalid {
		t.Errorf("exit code %d", code)
	}
}

// wrongCounts break one count of a good result each. The evidence must name the
// place where that shows and say what is wanted there.
var wrongCounts = []struct {
	name   string
	breaks func(*testing.T, *Result)
	want   string
}{
	{"one decode more at the receiver", func(t *testing.T, r *Result) {
		site(t, r, "macro_run2", "envelope", 1, "relay.handler").Decodes++
	}, "macro_run2, path envelope, node B, site relay.handler: decodes 1001, want 1000"},
	{"right sum, wrong nodes", func(t *testing.T, r *Result) {
		site(t, r, "macro", "envelope", 0, "relay.handler").Decodes--
		site(t, r, "macro", "envelope", 1, "relay.handler").Decodes++
	}, "macro, path envelope, node A, site relay.handler: decodes 999, want 1000; and 1 more"},
	{"right node, wrong site", func(t *testing.T, r *Result) {
		site(t, r, "macro", "baseline", 1, "storesync.storesync").Site = "storesync.sync"
	}, "macro, path baseline, node B, site storesync.sync: hashes 1000, want 0; and 1 more"},
	{"two decodes at one site, none at another", func(t *testing.T, r *Result) {
		from, to := site(t, r, "micro_run1", "baseline", 0, "relay.validator"), site(t, r, "micro_run1", "baseline", 0, "relay.handler")
		to.Counts, from.Counts = to.Add(from.Counts), counters.Counts{}
	}, "micro_run1, path baseline, node node, site relay.handler: decodes 2000, want 1000; and 3 more"},
	{"a site is missing", func(t *testing.T, r *Result) {
		n := &find(t, r, "micro_run1", "zerocopy").Nodes[0]
		n.Sites = n.Sites[1:]
	}, "micro_run1, path zerocopy, node node, site relay.envelope: hashes 0, want 1000"},
	{"a site too many", func(t *testing.T, r *Result) {
		n := &find(t, r, "macro", "zerocopy").Nodes[0]
		n.Sites = append(n.Sites, counters.SiteCounts{Site: "bench.app", Counts: counters.Counts{Hashes: 1}})
	}, "macro, path zerocopy, node A, site bench.app: hashes 1, want 0"},
	{"a hash less", func(t *testing.T, r *Result) {
		site(t, r, "micro_run2", "zerocopy", 0, "relay.envelope").Hashes--
	}, "micro_run2, path zerocopy, node node, site relay.envelope: hashes 999, want 1000"},
	{"a hash of fewer bytes", func(t *testing.T, r *Result) {
		site(t, r, "micro_run1", "baseline", 0, "archive.archive").HashedBytes -= 8
	}, "micro_run1, path baseline, node node, site archive.archive: hashed_bytes 64999992, want 65000000"},
	{"an id hash in micro", func(t *testing.T, r *Result) {
		site(t, r, "micro_run1", "envelope", 0, "relay.envelope").IDHashes = 1
	}, "micro_run1, path envelope, node node, site relay.envelope: id_hashes 1, want 0"},
	{"an id hash missing in macro", func(t *testing.T, r *Result) {
		site(t, r, "macro", "zerocopy", 0, "relay.gossip_id").IDHashes--
	}, "macro, path zerocopy, node A, site relay.gossip_id: id_hashes 999, want 1000"},
	{"id hashes of unlike bytes", func(t *testing.T, r *Result) {
		site(t, r, "macro", "zerocopy", 1, "relay.gossip_id").IDHashedBytes--
	}, "macro, path zerocopy, node B, site relay.gossip_id: id_hashed_bytes 65052999, want 65053000"},
	{"id hashes of too few bytes at both nodes", func(t *testing.T, r *Result) {
		eachSite(t, r, "macro", "zerocopy", func(s *counters.SiteCounts) { s.IDHashedBytes = s.IDHashes * 8 })
	}, "macro, path zerocopy: bytes that the gossip ids cover 8000, want at least 53000"},
	{"id hashes of too few bytes where no pass is shared", func(t *testing.T, r *Result) {
		eachSite(t, r, "macro", "envelope", func(s *counters.SiteCounts) { s.IDHashedBytes = s.IDHashes * 8 })
	}, "macro, path envelope: bytes that the gossip ids cover 8000, want at least 65053000"},
	{"id hashes of too few bytes under a hash that shares no pass", func(t *testing.T, r *Result) {
		r.Settings.Hash = "waku-sha256"
		eachSite(t, r, "macro", "zerocopy", func(s *counters.SiteCounts) { s.IDHashedBytes = s.IDHashes * 60 })
	}, "macro, path zerocopy: bytes that the gossip ids cover 60000, want at least 65053000"},
	{"two encodes", func(t *testing.T, r *Result) {
		site(t, r, "macro", "envelope", 0, "relay.publish").Encodes *= 2
	}, "macro, path envelope, node A, site relay.publish: encodes 2000, want 1000"},
	{"decodes of unlike bytes", func(t *testing.T, r *Result) {
		site(t, r, "macro", "baseline", 1, "relay.handler").DecodedBytes--
	}, "macro, path baseline, node B, site relay.handler: decoded_bytes 65052999, want 65053000"},
	{"encodes of unlike bytes", func(t *testing.T, r *Result) {
		site(t, r, "macro", "zerocopy", 0, "relay.publish").EncodedBytes++
	}, "macro, path zerocopy, node B, site relay.validator: decoded_bytes 65053000, want 65053001"},
	{"decodes of too few bytes at every site", func(t *testing.T, r *Result) {
		eachSite(t, r, "micro_run1", "envelope", func(s *counters.SiteCounts) { s.DecodedBytes = 0 })
	}, "micro_run1, path envelope: encoded messages, bytes 0, want at least 65000000"},
	{"a copy on zerocopy", func(t *testing.T, r *Result) {
		site(t, r, "macro", "zerocopy", 1, "relay.validator").Copies = 1
	}, "macro, path zerocopy, node B, site relay.validator: copies 1, want 0"},
	{"a copy by the archive on zerocopy", func(t *testing.T, r *Result) {
		n := &find(t, r, "micro_run2", "zerocopy").Nodes[0]
		n.Sites = append(n.Sites, at("archive.retain", 0, 1, 0, 0, 0))
	}, "micro_run2, path zerocopy, node node, site archive.retain: copies 1000, want 0"},
	{"half a copy", func(t *testing.T, r *Result) {
		site(t, r, "macro", "baseline", 1, "relay.on_recv").CopiedBytes /= 2
	}, "macro, path baseline, node B, site relay.on_recv: copied_bytes 32500000, want 65000000"},
	{"two publishers", func(t *testing.T, r *Result) {
		for _, run := range []string{"macro", "macro_run2"} {
			find(t, r, run, "zerocopy").Nodes[1].Role = RolePublisher
		}
	}, "macro, path zerocopy: 2 nodes of role publisher, want 1; and 11 more"},
	{"one node for both", func(t *testing.T, r *Result) {
		for _, run := range []string{"macro", "macro_run2"} {
			find(t, r, run, "baseline").Nodes = []Node{
				{Name: "AB", Role: RoleAll, Sites: []counters.SiteCounts{at("x.y", 6, 0, 5, 2, 0)}, Delivered: messages},
			}
		}
	}, "macro, path baseline, node AB: role is all, want none of it; and 5 more"},
}

func TestWrongCountFails(t *testing.T) {
	for _, tt := range wrongCounts {
		t.Run(tt.name, func(t *testing.T) {
			r := fixture()
			tt.breaks(t, &r)
			criteria := Acceptance(r, Context{})
			c := criterion(t, criteria, CriterionCounts)
			if c.Verdict != Fail || c.Evidence != tt.want {
				t.Errorf("criterion 4 is %s (%s), want FAIL (%s)", c.Verdict, c.Evidence, tt.want)
			}
			if code := ExitCode(r, criteria); code != ExitFailed {
				t.Errorf("exit code %d, want %d", code, ExitFailed)
			}
		})
	}
}

// TestMetaIsHashedAndNotCopied: no copy of a payload has the meta that a hash is fed.
func TestMetaIsHashedAndNotCopied(t *testing.T) {
	const meta = 3000
	r := fixture()
	r.Settings.MetaBytes = meta
	for i := range r.Runs {
		for _, n := range r.Runs[i].Nodes {
			for j := range n.Sites {
				c := &n.Sites[j].Counts
				c.CopiedBytes -= c.Copies / uint64(r.Runs[i].Messages) * meta
			}
		}
	}
	wantCriterion(t, criterion(t, Acceptance(r, Context{}), CriterionCounts), Pass, "match")
	r.Settings.MetaBytes = 0
	wantCriterion(t, criterion(t, Acceptance(r, Context{}), CriterionCounts), Fail, "copied_bytes")
}

func TestARunOfNoMessagesIsNotDividedBy(t *testing.T) {
	r := fixture()
	r.Runs[0].Messages = 0
	criteria := Acceptance(r, Context{})
	wantCriterion(t, criterion(t, criteria, CriterionCounts), Fail, "messages is 0")
	if code := ExitCode(r, criteria); code != ExitFailed {
		t.Errorf("exit code %d", code)
	}
}
