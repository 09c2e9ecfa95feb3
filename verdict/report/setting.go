package report

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/msgpath/msgpath/verdict"
)

// settings returns the environment and settings of each side, side by side.
func settings(sides []Side) grid {
	g := grid{Caption: "Where and how it was measured", Head: []string{"item"}, Prose: true}
	var columns [][][2]string
	for _, s := range sides {
		name := s.Name
		if len(sides) == 1 {
			name = "value"
		}
		g.Head = append(g.Head, name)
		columns = append(columns, slices.Concat(machine(s.Result), workload(s.Result)))
	}
	for i, item := range columns[0] {
		r := gridRow{Name: item[0]}
		for _, column := range columns {
			r.Cells = append(r.Cells, column[i][1])
		}
		g.Rows = append(g.Rows, r)
	}
	return g
}

// machine says what times depend on besides the workload.
func machine(r verdict.Result) [][2]string {
	e := r.Environment
	tags, counting := "none", "no: every count is n/a"
	if len(e.Tags) > 0 {
		tags = strings.Join(e.Tags, ", ")
	}
	if e.Counting {
		counting = "yes"
	}
	return [][2]string{
		{"Measured", r.MeasuredAt.UTC().Format(time.DateTime) + " UTC"},
		{"Commit", e.Commit},
		{"Branch", e.Branch},
		{"CPU", fmt.Sprintf("%s, %d cores, GOMAXPROCS %d", e.CPU, e.Cores, e.GOMAXPROCS)},
		{"Memory", fmt.Sprintf("%s GiB", quantity(float64(e.MemoryBytes)/(1<<30)))},
		{"Load at the start", quantity(e.Load1)},
		{"System", fmt.Sprintf("%s/%s, kernel %s", e.GOOS, e.GOARCH, e.Kernel)},
		{"Go", fmt.Sprintf("%s, GOGC %s, GOMEMLIMIT %s", e.Go, e.GOGC, e.GOMEMLIMIT)},
		{"Build tags", tags},
		{"Counting", counting},
		{"Modules", modules(e.Modules)},
		{"Log level", e.LogLevel},
	}
}

func modules(versions map[string]string) string {
	var all []string
	for _, module := range slices.Sorted(maps.Keys(versions)) {
		all = append(all, path.Base(module)+" "+versions[module])
	}
	if len(all) == 0 {
		return notAvailable
	}
	return strings.Join(all, ", ")
}

// workload says what was run.
func workload(r verdict.Result) [][2]string {
	s := r.Settings
	memory, inFlight := "warmed before each run", fmt.Sprintf("at most %d", s.Window)
	if s.Rate > 0 {
		inFlight = fmt.Sprintf("whatever is: an open loop at %v messages/s", s.Rate)
	}
	if s.Cold {
		memory = "cold"
	}
	all := [][2]string{
		{"Messages", count(float64(s.Messages)) + " a run of profile " + s.Profile},
		{"Payload", fmt.Sprintf("%s bytes a run", count(float64(s.PayloadBytes)))},
		{"Seed", fmt.Sprint(s.Seed)},
		{"Warm-up", fmt.Sprintf("%d micro, %d macro, not counted", s.WarmupMicro, s.WarmupMacro)},
		{"In flight", inFlight},
		{"Runs", fmt.Sprintf("%d for each scenario and path; %d valid, %d invalid", s.Runs, len(r.Runs), len(r.Invalid))},
		{"Memory state", memory},
		{"Hash", s.Hash},
		{"Archive", s.Archive},
	}
	if c := s.Corpus; c != nil {
		all = append(all, [2]string{"Corpus", fmt.Sprintf("%s, %d messages, SHA-256 %s", c.File, c.Messages, c.SHA256)})
	}
	if s.FilterPeers > 0 {
		all = append(all, [2]string{"Light peers", fmt.Sprintf("%d, to which the receiver pushed each message", s.FilterPeers)})
	}
	return all
}

// A reproduction is what to paste to run a side again.
type reproduction struct{ Side, Paste string }

func reproductions(sides []Side) (all []reproduction) {
	for _, s := range sides {
		r := reproduction{Paste: strings.Join(verdict.Reproduce(s.Result), "\n")}
		if len(sides) > 1 {
			r.Side = s.Name
		}
		all = append(all, r)
	}
	return all
}
