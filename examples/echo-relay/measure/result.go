package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/msgpath/msgpath/counters"
)

// Result is the JSON document that msgpath reads: "msgpath schema" prints its
// schema, in which every member is explained. All members must be there. What
// this program does not know is 0, "unknown", null or empty.
type Result struct {
	Kind          string      `json:"kind"`          // "msgpath-bench"
	SchemaVersion int         `json:"schemaVersion"` // 2
	MeasuredAt    time.Time   `json:"measuredAt"`
	Environment   Environment `json:"environment"`
	Settings      Settings    `json:"settings"`
	Runs          []Run       `json:"runs"`
	Invalid       []Invalid   `json:"invalid"`
	Limitations   []string    `json:"limitations"`
	Verified      bool        `json:"verified"`
}

// Environment is what a time depends on besides the code.
type Environment struct {
	Go          string            `json:"go"`
	GOOS        string            `json:"goos"`
	GOARCH      string            `json:"goarch"`
	CPU         string            `json:"cpu"`
	Cores       int               `json:"cores"`
	GOMAXPROCS  int               `json:"gomaxprocs"`
	Kernel      string            `json:"kernel"`
	MemoryBytes uint64            `json:"memoryBytes"`
	Load1       float64           `json:"load1"`
	Modules     map[string]string `json:"modules"`
	Tags        []string          `json:"tags"`
	Counting    bool              `json:"counting"`
	Sites       []string          `json:"sites"` // all that are declared: a site at which nothing happened counts 0
	Commit      string            `json:"commit"`
	Branch      string            `json:"branch"`
	CommandLine []string          `json:"commandLine"`
	LogLevel    string            `json:"logLevel"`
	GOGC        string            `json:"gogc"`
	GOMEMLIMIT  string            `json:"gomemlimit"`
}

// Settings are what all runs share.
type Settings struct {
	Messages     int      `json:"messages"`
	WarmupMicro  int      `json:"warmupMicro"`
	WarmupMacro  int      `json:"warmupMacro"`
	Seed         uint64   `json:"seed"`
	Profile      string   `json:"profile"`
	PayloadBytes uint64   `json:"payloadBytes"`
	Window       int      `json:"window"`
	Runs         int      `json:"runs"`
	Hash         string   `json:"hash"`
	Archive      string   `json:"archive"`
	Paths        []string `json:"paths"`
	Scenarios    []string `json:"scenarios"`
	Cold         bool     `json:"cold"`
}

// Run is one scenario on one path. Scenario is a name of your own; its second
// run is called NAME_run2. Path tells variants of the code apart.
type Run struct {
	Scenario     string `json:"scenario"`
	Path         string `json:"path"`
	Number       int    `json:"run"`
	Messages     int    `json:"messages"`
	WallNanos    int64  `json:"wallNanos"`
	NanosPerP50  int64  `json:"nanosPerP50"`
	NanosPerP99  int64  `json:"nanosPerP99"`
	LatencyP50   *int64 `json:"latencyP50"`
	LatencyP99   *int64 `json:"latencyP99"`
	CPUNanos     int64  `json:"cpuNanos"`
	LiveDelta    int64  `json:"liveDelta"`
	GCCollect    uint32 `json:"gcCollections"`
	AllocBytes   uint64 `json:"allocBytes"`
	Allocs       uint64 `json:"allocs"`
	PeakHeap     uint64 `json:"peakHeap"`
	Heap         []Heap `json:"heap"`
	Published    uint64 `json:"published"`
	Nodes        []Node `json:"nodes"`
	Verified     bool   `json:"verified"`
	ViewsChecked int    `json:"viewsChecked"`
}

// Heap is a sample of the Go heap.
type Heap struct {
	Messages int    `json:"messages"`
	Bytes    uint64 `json:"bytes"`
}

// Node is what one node did. Sites is null, not empty, in a build that does not
// count.
type Node struct {
	Name       string                `json:"name"`
	Role       string                `json:"role"` // publisher, receiver, or all for an only node
	Sites      []counters.SiteCounts `json:"sites"`
	Lines      []counters.SiteLines  `json:"lines"`
	Delivered  uint64                `json:"delivered"`
	Rejected   uint64                `json:"rejected"`
	Duplicates uint64                `json:"duplicates"`
	Dropped    uint64                `json:"dropped"`
}

// Invalid is a run that lost, doubled or altered a note.
type Invalid struct {
	Scenario string `json:"scenario"`
	Path     string `json:"path"`
	Number   int    `json:"run"`
	Reason   string `json:"reason"`
}

// Write writes r as JSON.
func (r Result) Write(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	if err := out.Encode(r); err != nil {
		return fmt.Errorf("measure: write result: %w", err)
	}
	return nil
}
