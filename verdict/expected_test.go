package verdict

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/msgpath/msgpath/counters"
)

// totals returns what all sites count for each message, by scenario, path and
// role, and for [RoleAll] as the sum over nodes.
func totals() map[string]counters.Counts {
	sums := make(map[string]counters.Counts)
	for _, e := range ExpectedCounts {
		for _, role := range slices.Compact([]string{e.Role, RoleAll}) {
			key := strings.Join([]string{e.Scenario, e.Path, role}, " ")
			sums[key] = sums[key].Add(e.Total())
		}
	}
	return sums
}

// The figures that a relayed message must come to, whatever the sites.
func TestExpectedSitesAddUp(t *testing.T) {
	type per = counters.Counts
	want := map[string]per{
		"micro baseline all": {Decodes: 2, Hashes: 2, Copies: 2},
		"micro envelope all": {Decodes: 2, Hashes: 1, Copies: 2},
		"micro zerocopy all": {Decodes: 1, Hashes: 1},

		"macro baseline all":       {Decodes: 6, Hashes: 5, IDHashes: 2, Encodes: 1, Copies: 6},
		"macro baseline publisher": {Decodes: 2, Hashes: 2, IDHashes: 1, Encodes: 1, Copies: 2},
		"macro baseline receiver":  {Decodes: 4, Hashes: 3, IDHashes: 1, Copies: 4},

		"macro envelope all":       {Decodes: 3, Hashes: 3, IDHashes: 2, Encodes: 1, Copies: 3},
		"macro envelope publisher": {Decodes: 1, Hashes: 2, IDHashes: 1, Encodes: 1, Copies: 1},
		"macro envelope receiver":  {Decodes: 2, Hashes: 1, IDHashes: 1, Copies: 2},

		"macro zerocopy all":       {Decodes: 1, Hashes: 2, IDHashes: 2, Encodes: 1},
		"macro zerocopy publisher": {Hashes: 1, IDHashes: 1, Encodes: 1},
		"macro zerocopy receiver":  {Decodes: 1, Hashes: 1, IDHashes: 1},

		"macro raw all":       {IDHashes: 2, Encodes: 1},
		"macro raw publisher": {IDHashes: 1, Encodes: 1},
		"macro raw receiver":  {IDHashes: 1},
	}
	if diff := cmp.Diff(want, totals()); diff != "" {
		t.Errorf("sums over sites (-want +got):\n%s", diff)
	}
}

func TestExpectedCountsAreThePublishedOnes(t *testing.T) {
	all := totals()
	for path, published := range map[string][]Published{"baseline": PublishedBefore, "envelope": PublishedAfter} {
		for _, p := range published {
			got := all[p.Scenario+" "+path+" "+RoleAll]
			if float64(got.Decodes) != p.Decodes || float64(got.Hashes) != p.Hashes {
				t.Errorf("%s, path %s: decodes %d, hashes %d, published %v, %v", p.Scenario, path, got.Decodes, got.Hashes, p.Decodes, p.Hashes)
			}
		}
	}
}

var (
	tableLine = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ((?:[AB] )?`.*`) \\| (.*`) \\|$")
	tableName = regexp.MustCompile("(?:([AB]) )?`([a-z_]+\\.[a-z_]+)`")
)

// The table of the architecture page says the same of macro, in the same order.
func TestExpectedCountsAreInTheArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string][]string)
	for _, line := range tableLine.FindAllStringSubmatch(string(page), -1) {
		for i, what := range []string{"decodes", "hashes"} {
			node := ""
			for _, name := range tableName.FindAllStringSubmatch(line[2+i], -1) {
				if name[1] != "" {
					node = name[1]
				}
				key := fmt.Sprintf("%s, node %s: %s", line[1], node, what)
				got[key] = append(got[key], name[2])
			}
		}
	}
	want := make(map[string][]string)
	for _, e := range ExpectedCounts {
		for _, s := range e.Sites {
			node := map[string]string{RolePublisher: "A", RoleReceiver: "B"}[e.Role]
			for what, n := range map[string]uint64{"decodes": s.Decodes, "hashes": s.Hashes} {
				if key := fmt.Sprintf("%s, node %s: %s", e.Path, node, what); e.Scenario == Macro && n > 0 {
					want[key] = append(want[key], s.Site)
				}
			}
		}
	}
	for _, sites := range []map[string][]string{got, want} {
		for key := range maps.Keys(sites) {
			slices.Sort(sites[key])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/ARCHITECTURE.md, where each count arises (-want +got):\n%s", diff)
	}
}
