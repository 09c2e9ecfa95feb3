package gate_test

import (
	"fmt"
	"os"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/gate"
)

// A run of two messages that were decoded three times.
func Example() {
	budget, err := gate.Parse("budget.yaml", []byte(`
version: 1
limits:
  - name: decoded once
    path: zerocopy
    metric: decodes/msg
    hard: {equal: 1}
    reason: everything behind the validator shares its message
    owner: relay
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	result := verdict.Result{
		Environment: verdict.Environment{Counting: true}, Verified: true,
		Runs: []verdict.Run{{
			Scenario: "micro_run1", Path: "zerocopy", Number: 1, Messages: 2, WallNanos: 1, Published: 2, Verified: true,
			Nodes: []verdict.Node{{Name: "node", Role: verdict.RoleAll, Delivered: 2, Sites: []counters.SiteCounts{
				{Site: "relay.validator", Counts: counters.Counts{Decodes: 3}},
			}}},
		}},
	}
	report := gate.Judge(budget, verdict.NewRecord("bench.json", result), nil)
	if err := gate.WriteText(os.Stdout, report); err != nil {
		fmt.Println(err)
	}
	fmt.Println("exit", report.ExitCode())
	// Output:
	// FAIL (exit code 1): bench.json: 0 pass, 1 FAIL
	//
	// FAIL  budget.yaml:4:5
	//   micro zerocopy all decodes/msg: 1.5, want 1; 1 of 1 samples
	//   reason: everything behind the validator shares its message
	//   owner: relay
	//
	// verdict  limit         bound  value  places  samples
	// ──────────────────────────────────────────────────────
	// FAIL     decoded once  = 1      1.5       1        1
	// exit 1
}
