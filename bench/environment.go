package bench

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

// unknown stands for what could not be found out.
const unknown = "unknown"

// commit and branch are those of the source, set by the linker:
//
//	-ldflags "-X github.com/msgpath/msgpath/bench.commit=… -X github.com/msgpath/msgpath/bench.branch=…"
var (
	commit = unknown
	branch = unknown
)

// ModulePath is that of this project, the main module.
const ModulePath = "github.com/msgpath/msgpath"

// countersTag is the build tag of the counting build.
const countersTag = "msgpathcounters"

// modules are those whose version a result names.
var modules = []string{
	"github.com/libp2p/go-libp2p",
	"github.com/libp2p/go-libp2p-pubsub",
	"github.com/zeebo/blake3",
	"google.golang.org/protobuf",
	"modernc.org/sqlite",
}

// ReadEnvironment describes the machine, the build and the settings of the
// runtime as they are now. What cannot be read is "unknown" or 0 in the result,
// and the error names each such thing: a caller may go on with the rest.
func ReadEnvironment(commandLine []string, logLevel string) (verdict.Environment, error) {
	e := verdict.Environment{
		Go:          runtime.Version(),
		GOOS:        runtime.GOOS,
		GOARCH:      runtime.GOARCH,
		Cores:       runtime.NumCPU(),
		GOMAXPROCS:  runtime.GOMAXPROCS(0),
		Counting:    counters.Enabled,
		CommandLine: slices.Clone(commandLine),
		LogLevel:    logLevel,
	}
	e.Sites = counters.Sites()
	e.GOGC, e.GOMEMLIMIT = collectorSettings()
	err := errors.Join(describeMachine(&e), describeBuild(&e))
	if err != nil {
		err = fmt.Errorf("bench: read environment: %w", err)
	}
	return e, err
}

func describeMachine(e *verdict.Environment) error {
	var errs []error
	e.CPU, e.Kernel = unknown, unknown
	if infos, err := cpu.Info(); err != nil {
		errs = append(errs, fmt.Errorf("CPU: %w", err))
	} else if len(infos) > 0 && infos[0].ModelName != "" {
		e.CPU = infos[0].ModelName
	}
	if kernel, err := host.KernelVersion(); err != nil {
		errs = append(errs, fmt.Errorf("kernel: %w", err))
	} else {
		e.Kernel = kernel
	}
	if memory, err := mem.VirtualMemory(); err != nil {
		errs = append(errs, fmt.Errorf("memory: %w", err))
	} else {
		e.MemoryBytes = memory.Total
	}
	if averages, err := load.Avg(); err != nil {
		errs = append(errs, fmt.Errorf("load: %w", err))
	} else {
		e.Load1 = averages.Load1
	}
	return errors.Join(errs...)
}

func describeBuild(e *verdict.Environment) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	e.Modules = moduleVersions(info)
	e.Tags = buildTags(info)
	e.Commit, e.Branch = sourceRevision(info), branch
	if !ok {
		return errors.New("build: the binary holds no build information")
	}
	return nil
}

// moduleVersions returns the versions of the modules that a result names, by
// path, as far as they are in the binary: a test binary lists none.
func moduleVersions(info *debug.BuildInfo) map[string]string {
	versions := make(map[string]string, len(modules))
	for _, m := range info.Deps {
		if !slices.Contains(modules, m.Path) {
			continue
		}
		versions[m.Path] = m.Version
		if m.Replace != nil {
			versions[m.Path] = strings.TrimSpace(m.Version + " => " + m.Replace.Path + " " + m.Replace.Version)
		}
	}
	return versions
}

func buildTags(info *debug.BuildInfo) []string {
	tags := []string{}
	if listed := setting(info, "-tags"); listed != "" {
		tags = strings.Split(listed, ",")
	}
	// A build without recorded settings still knows whether it counts.
	if counters.Enabled && !slices.Contains(tags, countersTag) {
		tags = append(tags, countersTag)
	}
	return tags
}

// sourceRevision prefers what the linker was told over what the go command
// recorded, which is there only for a build in a checkout.
func sourceRevision(info *debug.BuildInfo) string {
	recorded := setting(info, "vcs.revision")
	switch {
	case commit != unknown || recorded == "":
		return commit
	case setting(info, "vcs.modified") == "true":
		return recorded + "-dirty"
	}
	return recorded
}

// sourceLines returns the lines that caused what a node counted, those of this
// module without its path.
func sourceLines(s counters.Set) []counters.SiteLines {
	lines := counters.Lines(s)
	for _, l := range lines {
		for i := range l.At {
			l.At[i] = strings.TrimPrefix(l.At[i], ModulePath+"/")
		}
	}
	return lines
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// collectorSettings returns GOGC, in percent, and GOMEMLIMIT, in bytes with the
// unit B, as they are in force, in the form that the environment variables take.
// Reading them as metrics disturbs nothing, unlike setting and restoring them.
func collectorSettings() (gogc, limit string) {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(s)
	gogc, limit = "off", "off"
	// The runtime holds "off" as -1 and as the largest int64.
	if percent := int64(s[0].Value.Uint64()); percent >= 0 {
		gogc = strconv.FormatInt(percent, 10)
	}
	if bytes := s[1].Value.Uint64(); bytes < math.MaxInt64 {
		limit = strconv.FormatUint(bytes, 10) + "B"
	}
	return gogc, limit
}
