package verdict

import (
	"slices"
	"testing"
)

func TestDependsOn(t *testing.T) {
	for _, tt := range []struct {
		metric  Metric
		on, not []string
	}{
		{Metric{Name: "ns/msg", Class: Time}, []string{"cpu", "goos", "go", "tags", "gogc", "gomemlimit", "profile", "hash", "archive"}, []string{"commit"}},
		{Metric{Name: "B/msg", Class: Memory}, []string{"go", "tags", "gogc", "gomemlimit", "profile", "hash", "archive"}, []string{"cpu", "goos", "commit"}},
		{Metric{Name: "hashed-B/msg", Class: Count}, []string{"profile", "seed", "messages", "hash"}, []string{"go", "gogc", "cpu", "archive"}},
		{Metric{Name: "B/op", Class: Count}, []string{"profile"}, []string{"go"}},
	} {
		got := DependsOn(tt.metric)
		for _, name := range tt.on {
			if !slices.Contains(got, name) {
				t.Errorf("%s does not depend on %s", tt.metric.Name, name)
			}
		}
		for _, name := range tt.not {
			if slices.Contains(got, name) {
				t.Errorf("%s depends on %s", tt.metric.Name, name)
			}
		}
	}
	if got := DependsOn(Metric{Name: "decodes/msg", Class: Count}); got != nil {
		t.Errorf("a count depends on %v", got)
	}
}

// Every condition that figures depend on is one that a result says.
func TestConditionsAreSaid(t *testing.T) {
	r := fixture()
	r.Environment.GOGC, r.Environment.GOMEMLIMIT = "100", "off"
	said := conditions(r)
	for _, name := range DependsOn(Metric{Class: Time}) {
		if said[name] == "" {
			t.Errorf("no result says its %s", name)
		}
	}
}
