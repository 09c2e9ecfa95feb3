package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/verdict"
)

// onlyOne are conditions that differ even where only one side says them: files that
// say nothing of a machine are of any.
var onlyOne = []string{"cpu", "go"}

// conditionsOf returns the conditions of both sides: those that times depend on
// first, then what else the files say, by name.
func conditionsOf(before, after verdict.Record) (all []Condition) {
	b, a := said(before), said(after)
	ofTimes := verdict.DependsOn(verdict.Metric{Class: verdict.Time})
	names := slices.Concat(ofTimes, slices.Sorted(maps.Keys(b)), slices.Sorted(maps.Keys(a)))
	seen := make(map[string]bool)
	for _, name := range names {
		if seen[name] || b[name] == "" && a[name] == "" {
			continue
		}
		seen[name] = true
		c := Condition{Name: name, Before: b[name], After: a[name]}
		bothSay := b[name] != "" && a[name] != ""
		c.Differs = slices.Contains(ofTimes, name) && b[name] != a[name] &&
			(bothSay || slices.Contains(onlyOne, name))
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

// differing describes the conditions that differ and that a metric depends on.
func differing(all []Condition, m verdict.Metric) (out []string) {
	on := verdict.DependsOn(m)
	for _, c := range all {
		if c.Differs && slices.Contains(on, c.Name) {
			out = append(out, fmt.Sprintf("%s is %s %s, %s %s", c.Name, orUnsaid(c.Before), Before, orUnsaid(c.After), After))
		}
	}
	return out
}

// coresNote says where names of Go benchmarks ended in different numbers on both
// sides, which were taken for numbers of cores.
func coresNote(all []Condition) []string {
	for _, c := range all {
		if c.Name == "gomaxprocs" && c.Differs {
			return []string{fmt.Sprintf("numbers of cores differ: %s %s, %s %s; the ending of a Go benchmark's name is taken for one",
				c.Before, Before, c.After, After)}
		}
	}
	return nil
}

func orUnsaid(value string) string {
	if value == "" {
		return "not said"
	}
	return value
}
