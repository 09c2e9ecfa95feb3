package counterstest_test

import (
	"fmt"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/counters/counterstest"
)

// What [counterstest.Exact] prints when a handler decodes again what the
// validator had decoded.
func ExampleDiff() {
	got := []counters.SiteCounts{
		{Site: "relay.handler", Counts: counters.Counts{Decodes: 100, DecodedBytes: 6_500}},
		{Site: "relay.validator", Counts: counters.Counts{Decodes: 100, DecodedBytes: 6_500, Hashes: 99}},
	}
	lines := []counters.SiteLines{{Site: "relay.handler", Event: "decode", At: []string{"example.org/relay/handle.go:31"}}}
	want := map[string]counters.Counts{"relay.validator": {Decodes: 100, Hashes: 100}}
	fmt.Print(counterstest.Diff(got, want, lines))
	// Output:
	//   relay.handler: decodes 100, want none, at example.org/relay/handle.go:31
	//   relay.validator: hashes 99, want 100 (-1)
}
