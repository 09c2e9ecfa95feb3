package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/report"
)

// result returns one run of two messages, each decoded so often.
func result(decodes uint64) verdict.Result {
	return verdict.Result{
		Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion, MeasuredAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Environment: verdict.Environment{Counting: true, Commit: "0123456789ab", CommandLine: []string{"msgpath", "bench", "micro"}},
		Settings:    verdict.Settings{Messages: 2, Profile: "15kB@100", PayloadBytes: 30_000, Runs: 1},
		Verified:    true,
		Runs: []verdict.Run{{
			Scenario: verdict.RunName(verdict.Micro, 1), Path: "zerocopy", Number: 1, Messages: 2, WallNanos: 1_500_000,
			Published: 2, Verified: true,
			Nodes: []verdict.Node{{Name: "node", Role: verdict.RoleAll, Delivered: 2, Sites: []counters.SiteCounts{
				{Site: "relay.validator", Counts: counters.Counts{Decodes: 2 * decodes, DecodedBytes: 30_000 * decodes}},
			}}},
		}},
	}
}

// A page that sets a change beside what was before, and one of its plots.
func Example() {
	sides := []report.Side{{Name: "before", Result: result(1)}, {Name: "after", Result: result(2)}}
	var page bytes.Buffer
	err := report.Write(&page, report.Input{
		Sides: sides,
		Lines: []report.Line{{Text: "decodes do not rise", Verdict: verdict.Fail, Evidence: "2, limit 1", Decides: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	title, _, _ := strings.Cut(page.String(), "</title>")
	fmt.Println(title[strings.LastIndex(title, ">")+1:])

	plots, err := report.Plots(sides)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plots[0].Name+".svg:", plots[0].Alt)
	// Output:
	// FAIL: Message-path report
	// counts.svg: Per message in micro: zerocopy, before: decodes 1, hashes 0; zerocopy, after: decodes 2, hashes 0.
}
