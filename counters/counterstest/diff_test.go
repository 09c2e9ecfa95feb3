package counterstest_test

import (
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/counters/counterstest"
)

func TestDiff(t *testing.T) {
	numbered := counters.Counts{
		Decodes: 1, DecodedBytes: 2, Hashes: 3, HashedBytes: 4, IDHashes: 5,
		IDHashedBytes: 6, Encodes: 7, EncodedBytes: 8, Copies: 9, CopiedBytes: 10,
	}
	at := func(c counters.Counts) []counters.SiteCounts { return []counters.SiteCounts{{Site: "p.s", Counts: c}} }
	for _, tt := range []struct {
		name string
		got  []counters.SiteCounts
		want map[string]counters.Counts
		diff string
	}{
		{"nothing", nil, nil, ""},
		{"equal", at(numbered), map[string]counters.Counts{"p.s": numbered}, ""},
		{"nothing at a named site", nil, map[string]counters.Counts{"p.s": {}}, ""},
		{"missing", nil, map[string]counters.Counts{"p.s": {Decodes: 2}}, "  p.s: decodes none, want 2\n"},
		{"extra", at(counters.Counts{Hashes: 2}), nil, "  p.s: hashes 2, want none\n"},
		{"extra event", at(numbered), map[string]counters.Counts{"p.s": {Decodes: 1, Hashes: 3, IDHashes: 5, Encodes: 7}}, "  p.s: copies 9, want none\n"},
		{"more", at(counters.Counts{Encodes: 9}), map[string]counters.Counts{"p.s": {Encodes: 7}}, "  p.s: encodes 9, want 7 (+2)\n"},
		{"fewer", at(counters.Counts{IDHashes: 5}), map[string]counters.Counts{"p.s": {IDHashes: 7}}, "  p.s: id-hashes 5, want 7 (-2)\n"},
		{"bytes not wanted", at(counters.Counts{Copies: 1, CopiedBytes: 5}), map[string]counters.Counts{"p.s": {Copies: 1}}, ""},
		{"bytes", at(counters.Counts{Copies: 2, CopiedBytes: 5}), map[string]counters.Counts{"p.s": {Copies: 2, CopiedBytes: 6}}, "  p.s: copied-B 5, want 6 (copies 2)\n"},
		{"two nodes", append(at(numbered), at(numbered)...), map[string]counters.Counts{"p.s": numbered.Add(numbered)}, ""},
		{
			"order",
			[]counters.SiteCounts{{Site: "p.b", Counts: counters.Counts{Decodes: 1}}, {Site: "p.a", Counts: counters.Counts{Copies: 1, Decodes: 1}}},
			nil,
			"  p.a: decodes 1, want none\n  p.a: copies 1, want none\n  p.b: decodes 1, want none\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := counterstest.Diff(tt.got, tt.want, nil); diff != tt.diff {
				t.Errorf("Diff is\n%s, want\n%s", diff, tt.diff)
			}
		})
	}
}
