package verdict

import (
	"slices"
	"strings"
)

// What figures depend on besides the code, by the names of [Record.Conditions].
var (
	workConditions    = []string{"profile", "seed", "messages", "hash"}
	buildConditions   = []string{"go", "goarch", "gomaxprocs", "tags", "counting", "gogc", "gomemlimit"}
	setupConditions   = []string{"window", "archive", "cold"}
	machineConditions = []string{"cpu", "goos"}
)

// DependsOn returns the conditions that figures of a metric depend on besides the
// code: two figures of which one was measured under another are not compared. It
// is nothing for counts, the workload for counted bytes, for memory also the
// build and settings of the collector and of the benchmark, and for times also
// the machine.
func DependsOn(m Metric) []string {
	switch {
	case m.Class == Time:
		return slices.Concat(machineConditions, buildConditions, workConditions, setupConditions)
	case m.Class == Memory:
		return slices.Concat(buildConditions, workConditions, setupConditions)
	case m.bytes():
		return slices.Clone(workConditions)
	}
	return nil
}

// bytes reports whether the metric is a number of bytes, as "copied-B/msg" and
// "B/op" are.
func (m Metric) bytes() bool {
	base, _, _ := strings.Cut(m.Name, "/")
	return base == "B" || strings.HasSuffix(base, "-B")
}
