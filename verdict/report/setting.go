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
	memory := "warmed before each run"
	if s.Cold {
		memory = "cold"
	}
	return [][2]string{
		{"Messages", count(float64(s.Messages)) + " a run of profile " + s.Profile},
		{"Payload", fmt.Sprintf("%s bytes a run", count(float64(s.PayloadBytes)))},
		{"Seed", fmt.Sprint(s.Seed)},
		{"Warm-up", fmt.Sprintf("%d micro, %d macro, not counted", s.WarmupMicro, s.WarmupMacro)},
		{"In flight", fmt.Sprintf("at most %d", s.Window)},
		{"Runs", fmt.Sprintf("%d for each scenario and path; %d valid, %d invalid", s.Runs, len(r.Runs), len(r.Invalid))},
		{"Memory state", memory},
		{"Hash", s.Hash},
		{"Archive", s.Archive},
	}
}

// A reproduction is what to paste to run a side again.
type reproduction struct {
	Side  string
	Note  string // what stands in the way
	Paste string
}

func reproductions(sides []Side) (all []reproduction) {
	for _, s := range sides {
		r := newReproduction(s.Result)
		if len(sides) > 1 {
			r.Side = s.Name
		}
		all = append(all, r)
	}
	return all
}

func newReproduction(r verdict.Result) reproduction {
	commit := r.Environment.Commit
	clean, dirty := strings.CutSuffix(strings.TrimSuffix(commit, "+dirty"), "-dirty")
	dirty = dirty || clean != commit
	var again reproduction
	var lines []string
	switch {
	case commit == "" || commit == "unknown":
		again.Note = "The build did not record its commit: use a checkout of the same sources."
	case dirty:
		again.Note = "The checkout had changes that are in no commit: this commit comes closest."
		fallthrough
	default:
		lines = append(lines, "git checkout "+verdict.ShellWord(clean))
	}
	build := "go build"
	if len(r.Environment.Tags) > 0 {
		build += " -tags " + verdict.ShellWord(strings.Join(r.Environment.Tags, ","))
	}
	s := r.Settings
	again.Paste = strings.Join(append(lines, build+" -o bin/ ./cmd/...", command(r.Environment.CommandLine),
		fmt.Sprintf("# seed %d, %d messages of %s, %d runs", s.Seed, s.Messages, s.Profile, s.Runs)), "\n")
	return again
}

// command returns a command line as it is typed, without the folder of its
// program, which is of the machine that ran it.
func command(words []string) string {
	if len(words) == 0 {
		return "# the command line is not known"
	}
	quoted := []string{verdict.ShellWord("bin/" + path.Base(words[0]))}
	for _, word := range words[1:] {
		quoted = append(quoted, verdict.ShellWord(word))
	}
	return strings.Join(quoted, " ")
}
