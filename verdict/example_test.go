package verdict_test

import (
	"fmt"
	"os"
	"time"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

// A result of one micro run of two messages that were decoded once too often.
func Example() {
	run := verdict.Run{
		Scenario: verdict.RunName(verdict.Micro, 1), Path: "zerocopy", Number: 1, Messages: 2,
		WallNanos: 1_500_000, NanosPerP50: 700_000, NanosPerP99: 800_000, Published: 2, Verified: true,
		Nodes: []verdict.Node{{Name: "node", Role: verdict.RoleAll, Delivered: 2, Sites: []counters.SiteCounts{
			{Site: "relay.envelope", Counts: counters.Counts{Hashes: 2, HashedBytes: 30_000}},
			{Site: "relay.validator", Counts: counters.Counts{Decodes: 3, DecodedBytes: 45_000}},
		}}},
	}
	result := verdict.Result{
		Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion, MeasuredAt: time.Now(),
		Environment: verdict.Environment{Counting: true},
		Settings:    verdict.Settings{Messages: 2, Profile: "15kB@100", PayloadBytes: 30_000},
		Runs:        []verdict.Run{run}, Verified: true,
	}
	if err := verdict.WriteSites(os.Stdout, result); err != nil {
		fmt.Println(err)
	}
	criteria := verdict.Acceptance(result, verdict.Context{})
	counts := criteria[verdict.CriterionCounts-1]
	fmt.Println(counts.Verdict, counts.Evidence)
	fmt.Println("exit", verdict.ExitCode(result, criteria))
	// Output:
	// scenario,path,node,site,decodes,decoded_bytes,hashes,hashed_bytes,id_hashes,id_hashed_bytes,encodes,encoded_bytes,copies,copied_bytes
	// micro_run1,zerocopy,node,relay.envelope,0,0,2,30000,0,0,0,0,0,0
	// micro_run1,zerocopy,node,relay.validator,3,45000,0,0,0,0,0,0,0,0
	// FAIL micro_run1, path zerocopy, node node, site relay.validator: decodes 3, want 2
	// exit 1
}
