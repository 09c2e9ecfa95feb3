package counterstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/counters"
)

// Diff returns how got is not what want says, by the rules of [Exact], one line
// for each kind of event at each site in ascending order, and "" if it is. Lines
// are added to what was counted; they may be nil.
func Diff(got []counters.SiteCounts, want map[string]counters.Counts, lines []counters.SiteLines) string {
	counted := make(map[string]counters.Counts, len(got))
	for _, s := range got {
		counted[s.Site] = counted[s.Site].Add(s.Counts)
	}
	sites := maps.Clone(counted)
	maps.Copy(sites, want)
	var text strings.Builder
	for _, site := range slices.Sorted(maps.Keys(sites)) {
		for _, e := range events {
			if wrong := e.difference(counted[site], want[site]); wrong != "" {
				fmt.Fprintf(&text, "  %s: %s%s\n", site, wrong, at(lines, site, e.kind))
			}
		}
	}
	return text.String()
}

// difference says what is wrong with the counts of one event at one site, ""
// if nothing is.
func (e event) difference(got, want counters.Counts) string {
	n, bytes := e.of(got)
	wantN, wantBytes := e.of(want)
	switch {
	case n != wantN && wantN == 0:
		return fmt.Sprintf("%s %d, want none", e.name, n)
	case n != wantN && n == 0:
		return fmt.Sprintf("%s none, want %d", e.name, wantN)
	case n != wantN:
		return fmt.Sprintf("%s %d, want %d (%+d)", e.name, n, wantN, int64(n-wantN))
	case wantBytes != 0 && bytes != wantBytes:
		return fmt.Sprintf("%s %d, want %d (%s %d)", e.bytes, bytes, wantBytes, e.name, n)
	}
	return ""
}

// at returns where an event of this kind was counted at a site.
func at(lines []counters.SiteLines, site, kind string) string {
	for _, l := range lines {
		if l.Site == site && l.Event == kind {
			return ", at " + strings.Join(l.At, ", ")
		}
	}
	return ""
}
