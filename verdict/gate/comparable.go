package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/msgpath/msgpath/verdict"
)

// settings are the names that a budget's settings may have: all that any figure
// depends on.
var settings = verdict.DependsOn(verdict.Metric{Class: verdict.Time})

// differences names the conditions that keep figures of a metric from being
// compared. One that only one side says keeps them too: what is not known passes
// nothing.
func differences(m verdict.Metric, run, base verdict.Record) (all []string) {
	for _, name := range verdict.DependsOn(m) {
		now, one := run.Condition(name)
		before, other := base.Condition(name)
		switch {
		case !one || !other:
			all = append(all, fmt.Sprintf("%s is not the same in all files", name))
		case now != before:
			all = append(all, fmt.Sprintf("%s is %s, of the base %s", name, orUnknown(now), orUnknown(before)))
		case name == "cpu" && now == "":
			all = append(all, "cpu is not known")
		}
	}
	return all
}

// otherSettings names the settings that a limit was made for and that the run was
// not measured with. Counts do not depend on them.
func otherSettings(l Limit, m verdict.Metric, run verdict.Record) (all []string) {
	if m.Class == verdict.Count {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(l.Settings)) {
		if now, one := run.Condition(name); !one || now != l.Settings[name] {
			all = append(all, fmt.Sprintf("%s is %s, the limit is for %s", name, orUnknown(now), l.Settings[name]))
		}
	}
	return all
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}
