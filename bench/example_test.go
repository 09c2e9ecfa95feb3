package bench_test

import (
	"context"
	"fmt"

	"github.com/msgpath/msgpath/bench"
)

// A small session: one run of micro on the path zerocopy.
func Example() {
	o := bench.DefaultOptions()
	o.Scenarios, o.Paths = []string{bench.Micro}, []string{"zerocopy"}
	o.Messages, o.WarmupMicro, o.Runs = 20, 5, 1
	result, err := bench.Run(context.Background(), o)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, run := range result.Runs {
		fmt.Println(run.Scenario, run.Path, "delivered", run.Nodes[0].Delivered, "verified", run.Verified)
	}
	// Output:
	// micro_run1 zerocopy delivered 20 verified true
}
