package verdict

import (
	"fmt"
	"regexp"
)

// Scenarios that [ExpectedCounts] knows.
const (
	Micro = "micro" // one node, no network
	Macro = "macro" // a publisher and a receiver over loopback
)

var runSuffix = regexp.MustCompile(`_run[1-9][0-9]*$`)

// RunName returns what run number (from 1) of a scenario is called: micro_run1,
// micro_run2 and so on, but macro, macro_run2 and so on. The first run of any
// scenario but micro carries the plain name.
func RunName(scenario string, number int) string {
	if number == 1 && scenario != Micro {
		return scenario
	}
	return fmt.Sprintf("%s_run%d", scenario, number)
}

// Series returns the scenario to which a run's name belongs: micro for
// micro_run2, macro for macro.
func Series(runName string) string {
	return runSuffix.ReplaceAllString(runName, "")
}
