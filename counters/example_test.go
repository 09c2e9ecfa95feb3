package counters_test

import (
	"fmt"

	"github.com/msgpath/msgpath/counters"
)

var siteExample = counters.NewSite("example.handler")

func Example() {
	node := counters.New()
	before := counters.Load(node)
	counters.Decode(node, siteExample, 65_000)
	counters.Hash(node, siteExample, 64_960)

	// A build without the tag has no counts: say "n/a", not 0.
	got := "n/a"
	if counters.Enabled {
		total := counters.Total(counters.Since(before, counters.Load(node)))
		got = fmt.Sprintf("%d decode, %d hash", total.Decodes, total.Hashes)
	}
	fmt.Println("as expected:", got == "1 decode, 1 hash" || got == "n/a" && !counters.Enabled)
	// Output: as expected: true
}
