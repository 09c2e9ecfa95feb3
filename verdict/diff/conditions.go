package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

var (
	// workloadConditions are what counted bytes depend on besides the code.
	workloadConditions = []string{"profile", "seed", "messages", "hash"}

	// timeConditions are what times and memory depend on besides the code.
	timeConditions = []string{
		"cpu", "go", "goos", "goarch", "gomaxprocs", "tags", "counting", "gogc", "gomemlimit",
		"profile", "seed", "messages", "hash", "window", "archive", "cold",
	}

	// machineConditions make times incomparable even if only one side says them.
	machineConditions = []string{"cpu", "go"}
)

// conditionsOf returns the conditions of both sides: those that times depend on
// first, then what else the files say, by name.
func conditionsOf(before, after verdict.Record) (all []Condition) {
	b, a := said(before), said(after)
	names := slices.Concat(timeConditions, slices.Sorted(maps.Keys(b)), slices.Sorted(maps.Keys(a)))
	seen := make(map[string]bool)
	for _, name := range names {
		if seen[name] || b[name] == "" && a[name] == "" {
			continue
		}
		seen[name] = true
		c := Condition{Name: name, Before: b[name], After: a[name]}
		bothSay := b[name] != "" && a[name] != ""
		c.Differs = slices.Contains(timeConditions, name) && b[name] != a[name] &&
			(bothSay || slices.Contains(machineConditions, name))
		all = append(all, c)
	}
	return all
}

// said returns what the files of one side say, all of it where they do not agree.
func said(r verdict.Record) map[string]string {
	values := make(map[string][]string)
	for _, c := range r.Conditions {
		for name, value := range c {
			if !slices.Contains(values[name], value) {
				values[name] = append(values[name], value)
			}
		}
	}
	out := make(map[string]string, len(values))
	for name, v := range values {
		slices.Sort(v)
		out[name] = strings.Join(v, " and ")
	}
	return out
}

// differing describes the conditions among names that differ.
func differing(all []Condition, names []string) (out []string) {
	for _, c := range all {
		if c.Differs && slices.Contains(names, c.Name) {
			out = append(out, fmt.Sprintf("%s is %s %s, %s %s", c.Name, orUnsaid(c.Before), Before, orUnsaid(c.After), After))
		}
	}
	return out
}

func orUnsaid(value string) string {
	if value == "" {
		return "not said"
	}
	return value
}
