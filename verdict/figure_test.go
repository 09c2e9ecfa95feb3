package verdict

import (
	"bytes"
	"testing"
)

// A run that was not counted is n/a at each site, and not left out: of every
// place there are as many samples as there are runs.
func TestFiguresOfUncountedRun(t *testing.T) {
	r := fixture()
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Scenario == RunName(Macro, 2) && run.Path == "baseline" {
			run.Nodes[0].Sites, run.Nodes[1].Sites = nil, nil
		}
	}
	for name, text := range map[string]string{
		"bench.json": jsonOf(t, r),
		"sites.csv":  string(written(t, func(b *bytes.Buffer) error { return WriteSites(b, r) })),
	} {
		type at struct {
			Place
			metric string
		}
		samples, known := make(map[at]int), make(map[at]int)
		for _, f := range record(t, name, text).Figures {
			if f.Site == "" || f.Scenario != Macro {
				continue
			}
			where := at{f.Place, f.Metric.Name}
			samples[where]++
			if f.Known {
				known[where]++
			}
		}
		want := map[string]int{"baseline": 1, "envelope": 2, "zerocopy": 2, "theirs": 0}
		for where, n := range samples {
			if n != 2 || known[where] != want[where.Path] {
				t.Fatalf("%s: %+v has %d samples, %d of them known; want 2, %d", name, where, n, known[where], want[where.Path])
			}
		}
		if len(samples) == 0 {
			t.Errorf("%s has no figure of a site", name)
		}
	}
}
