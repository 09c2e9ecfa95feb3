package verdict

import (
	"time"

	"github.com/msgpath/msgpath/counters"
)

// Kind and SchemaVersion mark the JSON document of a benchmark result.
const (
	Kind          = "msgpath-bench"
	SchemaVersion = 1
)

// Result is one benchmark session: where it ran, with what settings, and what
// each run measured.
type Result struct {
	Kind          string      `json:"kind"`          // always [Kind]
	SchemaVersion int         `json:"schemaVersion"` // always [SchemaVersion]
	MeasuredAt    time.Time   `json:"measuredAt"`
	Environment   Environment `json:"environment"`
	Settings      Settings    `json:"settings"`
	Runs          []Run       `json:"runs"` // in the order in which they ran
	Invalid       []Invalid   `json:"invalid"`
	Limitations   []string    `json:"limitations"`
	Verified      bool        `json:"verified"` // every run was verified and none was invalid
}

// Environment is what a time depends on besides the code.
type Environment struct {
	Go          string            `json:"go"` // as runtime.Version
	GOOS        string            `json:"goos"`
	GOARCH      string            `json:"goarch"`
	CPU         string            `json:"cpu"` // model name
	Cores       int               `json:"cores"`
	GOMAXPROCS  int               `json:"gomaxprocs"`
	Kernel      string            `json:"kernel"`
	MemoryBytes uint64            `json:"memoryBytes"`
	Load1       float64           `json:"load1"` // load average over 1 minute, at the start
	Modules     map[string]string `json:"modules"`
	Tags        []string          `json:"tags"`
	Counting    bool              `json:"counting"` // built with the tag msgpathcounters
	Commit      string            `json:"commit"`   // "unknown" where the build did not record it
	Branch      string            `json:"branch"`
	CommandLine []string          `json:"commandLine"`
	LogLevel    string            `json:"logLevel"`
	GOGC        string            `json:"gogc"`
	GOMEMLIMIT  string            `json:"gomemlimit"`
}

// Settings are what the runs of one Result share.
type Settings struct {
	Messages    int      `json:"messages"` // measured messages per run
	WarmupMicro int      `json:"warmupMicro"`
	WarmupMacro int      `json:"warmupMacro"`
	Seed        uint64   `json:"seed"`
	Profile     string   `json:"profile"` // sizes and mix: "10/50/150kB@25/50/25"
	Window      int      `json:"window"`  // most messages in flight
	Runs        int      `json:"runs"`    // per scenario and path
	Hash        string   `json:"hash"`
	Archive     string   `json:"archive"`
	Paths       []string `json:"paths"`
	Scenarios   []string `json:"scenarios"` // "micro", "macro"
	Cold        bool     `json:"cold"`      // memory was not warmed before each run
}

// Roles of a [Node] and of the rows of the CSV.
const (
	RoleAll       = "all"
	RolePublisher = "publisher"
	RoleReceiver  = "receiver"
)

// Run is one scenario on one path, measured once and verified.
//
// Fields of type *float64 or *uint64 are nil where the thing was not measured
// or cannot be told apart: "n/a" in CSV and text, null in JSON.
type Run struct {
	Scenario string `json:"scenario"` // "micro_run1", "micro_run2", …; "macro", "macro_run2", …
	Path     string `json:"path"`
	Number   int    `json:"run"` // from 1
	Messages int    `json:"messages"`

	WallNanos   int64  `json:"wallNanos"`   // first publish to last delivery
	NanosPerP50 int64  `json:"nanosPerP50"` // micro: per message; macro: between arrivals
	NanosPerP99 int64  `json:"nanosPerP99"`
	LatencyP50  *int64 `json:"latencyP50"` // publish to committed, ns
	LatencyP99  *int64 `json:"latencyP99"`
	CPUNanos    int64  `json:"cpuNanos"`  // user and system time of the process
	LiveDelta   int64  `json:"liveDelta"` // live heap after minus before, a GC before each, bytes
	GCCollect   uint32 `json:"gcCollections"`
	AllocBytes  uint64 `json:"allocBytes"`
	Allocs      uint64 `json:"allocs"`
	PeakHeap    uint64 `json:"peakHeap"` // largest heap sample, bytes
	Heap        []Heap `json:"heap"`     // every 50 messages
	Published   uint64 `json:"published"`
	Nodes       []Node `json:"nodes"`
	Verified    bool   `json:"verified"`
}

// Heap is a sample of the Go heap.
type Heap struct {
	Messages int    `json:"messages"` // delivered so far
	Bytes    uint64 `json:"bytes"`    // live and not yet swept objects
}

// Node is what one node did in a run.
type Node struct {
	Name string `json:"name"` // "A", "B"
	Role string `json:"role"` // RolePublisher, RoleReceiver; RoleAll for a node that is both

	Sites []counters.SiteCounts `json:"sites"` // nil in a build that does not count

	Delivered  uint64 `json:"delivered"`  // messages that reached the end of the path
	Rejected   uint64 `json:"rejected"`   // by a validator
	Duplicates uint64 `json:"duplicates"` // copies received again
	Dropped    uint64 `json:"dropped"`    // by any queue or limit
}

// Invalid is a run that lost, duplicated or altered a message: it has no row.
type Invalid struct {
	Scenario string `json:"scenario"`
	Path     string `json:"path"`
	Number   int    `json:"run"`
	Reason   string `json:"reason"`
}
