package counters_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/msgpath/msgpath/counters"
)

var (
	siteB = counters.NewSite("counters_test.b")
	siteA = counters.NewSite("counters_test.a")
	siteC = counters.NewSite("counters_test.c") // never counted at
)

// inThisBuild returns what a build that counts has; the other one has nothing.
func inThisBuild(sites ...counters.SiteCounts) []counters.SiteCounts {
	if counters.Enabled {
		return sites
	}
	return nil
}

func expect(t *testing.T, got, want []counters.SiteCounts) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("counts are\n%+v, want\n%+v", got, want)
	}
}

func TestEvents(t *testing.T) {
	set := counters.New()
	counters.Decode(set, siteB, 1)
	counters.Decode(set, siteB, 2)
	counters.Hash(set, siteB, 10)
	counters.IDHash(set, siteA, 100)
	counters.Encode(set, siteA, 1000)
	counters.Copy(set, siteA, 10_000)
	counters.Copy(set, siteA, 0)
	counters.Copy(set, counters.Site{}, 7)
	expect(t, counters.Load(set), inThisBuild(
		counters.SiteCounts{Site: "?", Counts: counters.Counts{Copies: 1, CopiedBytes: 7}},
		counters.SiteCounts{Site: "counters_test.a", Counts: counters.Counts{
			IDHashes: 1, IDHashedBytes: 100, Encodes: 1, EncodedBytes: 1000, Copies: 2, CopiedBytes: 10_000,
		}},
		counters.SiteCounts{Site: "counters_test.b", Counts: counters.Counts{
			Decodes: 2, DecodedBytes: 3, Hashes: 1, HashedBytes: 10,
		}},
	))
}

// Each event reaches its own two fields, and those alone.
func TestEventsApart(t *testing.T) {
	for name, c := range map[string]struct {
		count func(counters.Set, counters.Site, int)
		want  counters.Counts
	}{
		"decode":  {counters.Decode, counters.Counts{Decodes: 1, DecodedBytes: 5}},
		"hash":    {counters.Hash, counters.Counts{Hashes: 1, HashedBytes: 5}},
		"id hash": {counters.IDHash, counters.Counts{IDHashes: 1, IDHashedBytes: 5}},
		"id hash, shared": {func(s counters.Set, site counters.Site, n int) {
			counters.IDHash(s, site, n)
			counters.IDHashShared(s, site, 2)
		}, counters.Counts{IDHashes: 1, IDHashedBytes: 3}},
		"id hash, shared more than was counted": {func(s counters.Set, site counters.Site, n int) {
			counters.IDHash(s, site, n)
			counters.IDHashShared(s, site, n+1)
		}, counters.Counts{IDHashes: 1}},
		"encode": {counters.Encode, counters.Counts{Encodes: 1, EncodedBytes: 5}},
		"copy":   {counters.Copy, counters.Counts{Copies: 1, CopiedBytes: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			set := counters.New()
			c.count(set, siteA, 5)
			expect(t, counters.Load(set), inThisBuild(counters.SiteCounts{Site: "counters_test.a", Counts: c.want}))
		})
	}
}

func TestZeroSetCountsNothing(t *testing.T) {
	var set counters.Set
	counters.Decode(set, siteA, 1)
	counters.Hash(set, siteA, 1)
	counters.IDHash(set, siteA, 1)
	counters.IDHashShared(set, siteA, 1)
	counters.Encode(set, siteA, 1)
	counters.Copy(set, siteA, 1)
	if got := counters.Load(set); got != nil {
		t.Errorf("counts are %+v, want nil", got)
	}
}

func TestSetsAreApart(t *testing.T) {
	a, b := counters.New(), counters.New()
	counters.Decode(a, siteA, 1)
	if got := counters.Load(b); got != nil {
		t.Errorf("another node has %+v", got)
	}
	passed := func(s counters.Set) { counters.Decode(s, siteA, 1) }
	passed(a) // a Set is a handle: a copy counts for the same node
	expect(t, counters.Load(a), inThisBuild(
		counters.SiteCounts{Site: "counters_test.a", Counts: counters.Counts{Decodes: 2, DecodedBytes: 2}},
	))
}

// 8 goroutines on one Set, with a reader beside them: no event is lost.
func TestConcurrentCounting(t *testing.T) {
	const goroutines, each = 8, 1000
	set := counters.New()
	var counting, reading sync.WaitGroup
	stop := make(chan struct{})
	reading.Go(func() { readUpwards(t, set, stop) })
	for range goroutines {
		counting.Go(func() {
			for range each {
				counters.Decode(set, siteA, 3)
				counters.Hash(set, siteB, 5)
			}
		})
	}
	counting.Wait()
	close(stop)
	reading.Wait()
	expect(t, counters.Load(set), inThisBuild(
		counters.SiteCounts{Site: "counters_test.a", Counts: counters.Counts{Decodes: goroutines * each, DecodedBytes: 3 * goroutines * each}},
		counters.SiteCounts{Site: "counters_test.b", Counts: counters.Counts{Hashes: goroutines * each, HashedBytes: 5 * goroutines * each}},
	))
}

// readUpwards loads set until stop is closed and fails if a count ever falls.
func readUpwards(t *testing.T, set counters.Set, stop <-chan struct{}) {
	var last counters.Counts
	for {
		now := counters.Total(counters.Load(set))
		if now.Decodes < last.Decodes || now.HashedBytes < last.HashedBytes {
			t.Errorf("counts fell from %+v to %+v", last, now)
		}
		last = now
		select {
		case <-stop:
			return
		default:
		}
	}
}

func TestSites(t *testing.T) {
	got := counters.Sites()
	if !counters.Enabled {
		if got != nil {
			t.Errorf("a build that does not count knows the sites %q", got)
		}
		return
	}
	if !slices.IsSorted(got) {
		t.Errorf("sites are not in order: %q", got)
	}
	for _, name := range []string{"counters_test.a", "counters_test.b", "counters_test.c"} {
		if !slices.Contains(got, name) {
			t.Errorf("%s is missing from %q", name, got)
		}
	}
	got[0] = "changed"
	if slices.Contains(counters.Sites(), "changed") {
		t.Error("Sites hands out its own list")
	}
	if siteC == siteA || siteA == siteB || siteC == (counters.Site{}) {
		t.Error("two sites are one")
	}
}

// numbered has 1 to 10 in its fields, so that no field stands for another.
var numbered = counters.Counts{
	Decodes: 1, DecodedBytes: 2, Hashes: 3, HashedBytes: 4, IDHashes: 5,
	IDHashedBytes: 6, Encodes: 7, EncodedBytes: 8, Copies: 9, CopiedBytes: 10,
}

func TestArithmetic(t *testing.T) {
	doubled := counters.Counts{
		Decodes: 2, DecodedBytes: 4, Hashes: 6, HashedBytes: 8, IDHashes: 10,
		IDHashedBytes: 12, Encodes: 14, EncodedBytes: 16, Copies: 18, CopiedBytes: 20,
	}
	if got := numbered.Add(numbered); got != doubled {
		t.Errorf("Add: %+v", got)
	}
	if got := doubled.Sub(numbered); got != numbered {
		t.Errorf("Sub: %+v", got)
	}
	earlier := counters.Counts{IDHashes: 1, IDHashedBytes: 7} // and one byte of them went to a message hash since
	if got := numbered.Sub(earlier); got.IDHashes != 4 || got.IDHashedBytes != 0 {
		t.Errorf("Sub of ids whose bytes became fewer: %+v", got)
	}
	sites := []counters.SiteCounts{{Site: "p.a", Counts: numbered}, {Site: "p.b", Counts: numbered}}
	if got := counters.Total(sites); got != doubled {
		t.Errorf("Total: %+v", got)
	}
	if got := counters.Total(nil); got != (counters.Counts{}) {
		t.Errorf("Total of nothing: %+v", got)
	}
}

func TestSince(t *testing.T) {
	at := func(site string, decodes uint64) counters.SiteCounts {
		return counters.SiteCounts{Site: site, Counts: counters.Counts{Decodes: decodes, DecodedBytes: 10 * decodes}}
	}
	before := []counters.SiteCounts{at("p.a", 2), at("p.b", 1)}
	now := []counters.SiteCounts{at("p.a", 5), at("p.b", 1), at("p.c", 4)}
	expect(t, counters.Since(before, now), []counters.SiteCounts{at("p.a", 3), at("p.c", 4)})
	expect(t, counters.Since(nil, now), now)
	expect(t, counters.Since(now, now), nil)
}

func TestSinceOfOneSet(t *testing.T) {
	set := counters.New()
	counters.Encode(set, siteA, 1)
	counters.Encode(set, siteB, 1)
	before := counters.Load(set)
	counters.Encode(set, siteB, 9)
	expect(t, counters.Since(before, counters.Load(set)), inThisBuild(
		counters.SiteCounts{Site: "counters_test.b", Counts: counters.Counts{Encodes: 1, EncodedBytes: 9}},
	))
}

func TestCountingAllocatesNothing(t *testing.T) {
	set := counters.New()
	for range 16 { // the first ones are traced to their lines
		counters.Decode(set, siteA, 1)
	}
	if got := testing.AllocsPerRun(100, func() { counters.Decode(set, siteA, 1) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func BenchmarkDecode(b *testing.B) {
	set := counters.New()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			counters.Decode(set, siteA, 1)
		}
	})
}

func TestSumOverNodes(t *testing.T) {
	a, b := counters.New(), counters.New()
	counters.Decode(a, siteA, 1)
	counters.Decode(a, siteB, 2)
	counters.Decode(b, siteA, 4)
	sum := counters.Total(slices.Concat(counters.Load(a), counters.Load(b)))
	want := counters.Total(inThisBuild(counters.SiteCounts{Counts: counters.Counts{Decodes: 3, DecodedBytes: 7}}))
	if sum != want {
		t.Errorf("sum over nodes and sites %+v, want %+v", sum, want)
	}
}

// countedTwice counts at siteB from two lines.
func countedTwice(set counters.Set) {
	counters.Hash(set, siteB, 1)
	counters.Hash(set, siteB, 1)
	counters.Encode(set, counters.Site{}, 1) // a site that nobody declared
}

func TestLines(t *testing.T) {
	set := counters.New()
	for range 100 {
		countedTwice(set)
	}
	got := counters.Lines(set)
	if !counters.Enabled {
		if got != nil {
			t.Errorf("a build that does not count has lines: %v", got)
		}
		return
	}
	if len(got) != 2 || got[0].Site != "?" || got[0].Event != "encode" || len(got[0].At) != 1 ||
		got[1].Event != "hash" || len(got[1].At) != 2 {
		t.Fatalf("lines are %+v", got)
	}
	for _, line := range got[1].At {
		if !strings.HasPrefix(line, "github.com/msgpath/msgpath/counters_test/counters_test.go:") {
			t.Errorf("line is %q", line)
		}
	}
	if counters.Lines(counters.Set{}) != nil {
		t.Error("the zero Set has lines")
	}
}

func TestFind(t *testing.T) {
	site, ok := counters.Find("counters_test.a")
	if ok != counters.Enabled || ok && site != siteA {
		t.Errorf("found %v, %t", site, ok)
	}
	if site, ok := counters.Find("counters_test.none"); ok || site != (counters.Site{}) {
		t.Errorf("found %v, %t, want none", site, ok)
	}
}
