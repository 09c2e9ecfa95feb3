package verdict

import (
	"fmt"
	"regexp"
	"strconv"
)

// Scenarios that [ExpectedCounts] knows, each also with light peers.
const (
	Micro = "micro" // one node, no network
	Macro = "macro" // a publisher and a receiver over loopback
)

var runSuffix = regexp.MustCompile(`_run[1-9][0-9]*$`)

var filterSuffix = regexp.MustCompile(`^(.+)_filter([1-9][0-9]{0,5})$`)

// WithFilter returns the name of a scenario whose receiver pushes to so many light
// peers, such as macro_filter5, which is the plain name for none.
func WithFilter(scenario string, peers int) string {
	if peers == 0 {
		return scenario
	}
	return fmt.Sprintf("%s_filter%d", scenario, peers)
}

// CutFilter returns what WithFilter was given to return a name.
func CutFilter(scenario string) (plain string, peers int) {
	if m := filterSuffix.FindStringSubmatch(scenario); m != nil {
		peers, _ = strconv.Atoi(m[2])
		return m[1], peers
	}
	return scenario, 0
}

// RunName returns what run number (from 1) of a scenario is called: micro_run1,
// micro_run2 and so on, but macro, macro_run2 and so on. The first run of any
// scenario but micro carries the plain name.
func RunName(scenario string, number int) string {
	if plain, _ := CutFilter(scenario); number == 1 && plain != Micro {
		return scenario
	}
	return fmt.Sprintf("%s_run%d", scenario, number)
}

// Series returns the scenario to which a run's name belongs: micro for
// micro_run2, macro for macro.
func Series(runName string) string {
	return runSuffix.ReplaceAllString(runName, "")
}
