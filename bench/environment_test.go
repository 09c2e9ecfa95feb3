package bench

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/msgpath/msgpath/counters"
)

func TestReadEnvironment(t *testing.T) {
	line := []string{"msgpath", "bench", "all"}
	e, err := ReadEnvironment(line, "info")
	if err != nil {
		t.Fatal(err)
	}
	if e.Go != runtime.Version() || e.GOOS != runtime.GOOS || e.GOARCH != runtime.GOARCH {
		t.Errorf("Go %s on %s/%s", e.Go, e.GOOS, e.GOARCH)
	}
	if e.Cores != runtime.NumCPU() || e.GOMAXPROCS != runtime.GOMAXPROCS(0) {
		t.Errorf("%d cores, GOMAXPROCS %d", e.Cores, e.GOMAXPROCS)
	}
	if !slices.Equal(e.CommandLine, line) || e.LogLevel != "info" {
		t.Errorf("command line %q, log level %q", e.CommandLine, e.LogLevel)
	}
	line[0] = "changed"
	if e.CommandLine[0] != "msgpath" {
		t.Error("the command line is the caller's slice")
	}
	if e.Counting != counters.Enabled || slices.Contains(e.Tags, countersTag) != counters.Enabled {
		t.Errorf("counting %t with tags %q in a build where it is %t", e.Counting, e.Tags, counters.Enabled)
	}
}

// TestReadEnvironmentMachine compares with what the kernel says of itself.
func TestReadEnvironmentMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	e, err := ReadEnvironment(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(readFile(t, "/proc/sys/kernel/osrelease")); e.Kernel != want {
		t.Errorf("kernel %q, want %q", e.Kernel, want)
	}
	if e.CPU == "" || e.CPU != unknown && !strings.Contains(readFile(t, "/proc/cpuinfo"), e.CPU) {
		t.Errorf("CPU %q is not in /proc/cpuinfo", e.CPU)
	}
	want := strings.Fields(readFile(t, "/proc/meminfo"))[1]
	if e.MemoryBytes%1024 != 0 || want != strconv.FormatUint(e.MemoryBytes/1024, 10) {
		t.Errorf("memory %d B, want %s kB", e.MemoryBytes, want)
	}
	if e.Load1 < 0 || math.IsNaN(e.Load1) {
		t.Errorf("load %v", e.Load1)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCollectorSettings changes what is in force: the environment variables that
// the process was started with would not show it.
func TestCollectorSettings(t *testing.T) {
	percent := debug.SetGCPercent(57)
	limit := debug.SetMemoryLimit(1 << 40)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	if gogc, limit := collectorSettings(); gogc != "57" || limit != "1099511627776B" {
		t.Errorf("GOGC=%s GOMEMLIMIT=%s, want 57 and 1099511627776B", gogc, limit)
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(math.MaxInt64)
	if gogc, limit := collectorSettings(); gogc != "off" || limit != "off" {
		t.Errorf("GOGC=%s GOMEMLIMIT=%s, want off and off", gogc, limit)
	}
}

func TestModuleVersions(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "github.com/libp2p/go-libp2p", Version: "v0.52.0"},
		{Path: "github.com/libp2p/go-libp2p-kad-dht", Version: "v9.9.9"},
		{Path: "modernc.org/sqlite", Version: "v1.2.3", Replace: &debug.Module{Path: "example.org/sqlite", Version: "v7.0.0"}},
		{Path: "github.com/zeebo/blake3", Version: "v0.2.4", Replace: &debug.Module{Path: "./blake3"}},
	}}
	want := map[string]string{
		"github.com/libp2p/go-libp2p": "v0.52.0",
		"modernc.org/sqlite":          "v1.2.3 => example.org/sqlite v7.0.0",
		"github.com/zeebo/blake3":     "v0.2.4 => ./blake3",
	}
	if diff := cmp.Diff(want, moduleVersions(info)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBuildTags(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "-tags", Value: "race,crashpoints"}}}
	want := []string{"race", "crashpoints"}
	none := []string{} // not nil: JSON has a list there
	if counters.Enabled {
		want, none = append(want, countersTag), []string{countersTag}
	}
	if diff := cmp.Diff(want, buildTags(info)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(none, buildTags(new(debug.BuildInfo))); diff != "" {
		t.Errorf("without settings (-want +got):\n%s", diff)
	}
}

func TestSourceRevision(t *testing.T) {
	defer func(was string) { commit = was }(commit)
	clean := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}}}
	dirty := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	for _, test := range []struct {
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		{unknown, new(debug.BuildInfo), unknown},
		{unknown, clean, "abc"},
		{unknown, dirty, "abc-dirty"},
		{"def", dirty, "def"},
	} {
		commit = test.linked
		if got := sourceRevision(test.info); got != test.want {
			t.Errorf("linked %q, recorded %v: %q, want %q", test.linked, test.info.Settings, got, test.want)
		}
	}
}
