package verdict

import (
	"time"

	"github.com/msgpath/msgpath/counters"
)

// Kind and SchemaVersion mark the JSON document of a benchmark result. Version 2
// added declared sites, lines and checked views; version 1 is read too.
const (
	Kind          = "msgpath-bench"
	SchemaVersion = 2
)

// Result is one benchmark session: where it ran, with what settings, and what
// each run measured. The zero value is not valid: see [Result.Validate].
type Result struct {
	Kind          string      `json:"kind" jsonschema:"marks the document"`
	SchemaVersion int         `json:"schemaVersion" jsonschema:"version of this schema"`
	MeasuredAt    time.Time   `json:"measuredAt" jsonschema:"start of the session, RFC 3339"`
	Environment   Environment `json:"environment" jsonschema:"what a time depends on besides the code"`
	Settings      Settings    `json:"settings" jsonschema:"what all runs share"`
	Runs          []Run       `json:"runs" jsonschema:"verified runs in the order in which they ran"`
	Invalid       []Invalid   `json:"invalid" jsonschema:"runs that lost, duplicated or altered a message"`
	Limitations   []string    `json:"limitations" jsonschema:"what this result does not show, one sentence each"`
	Verified      bool        `json:"verified" jsonschema:"every run was verified and none was invalid"`

	Distributions []Distribution `json:"distributions,omitempty" jsonschema:"latencies of an open loop by percentile, all runs of a path together; absent in a closed loop"`
}

// Environment is what a time depends on besides the code.
type Environment struct {
	Go          string            `json:"go" jsonschema:"Go version, as runtime.Version"`
	GOOS        string            `json:"goos" jsonschema:"operating system"`
	GOARCH      string            `json:"goarch" jsonschema:"architecture"`
	CPU         string            `json:"cpu" jsonschema:"model name of the CPU"`
	Cores       int               `json:"cores" jsonschema:"logical cores of the machine"`
	GOMAXPROCS  int               `json:"gomaxprocs" jsonschema:"cores that Go used"`
	Kernel      string            `json:"kernel" jsonschema:"kernel release"`
	MemoryBytes uint64            `json:"memoryBytes" jsonschema:"memory of the machine, bytes"`
	Load1       float64           `json:"load1" jsonschema:"load average over 1 minute, at the start"`
	Modules     map[string]string `json:"modules" jsonschema:"module path to version"`
	Tags        []string          `json:"tags" jsonschema:"build tags"`
	Counting    bool              `json:"counting" jsonschema:"built with the tag msgpathcounters"`
	Sites       []string          `json:"sites" jsonschema:"declared counter sites, null where they are not known: in a build that does not count"`
	Commit      string            `json:"commit" jsonschema:"commit, or unknown where the build did not record it"`
	Branch      string            `json:"branch" jsonschema:"branch, or unknown"`
	CommandLine []string          `json:"commandLine" jsonschema:"program and arguments"`
	LogLevel    string            `json:"logLevel" jsonschema:"level of the nodes' logs"`
	GOGC        string            `json:"gogc" jsonschema:"GOGC of the process"`
	GOMEMLIMIT  string            `json:"gomemlimit" jsonschema:"GOMEMLIMIT of the process"`
}

// Settings are what the runs of one Result share.
type Settings struct {
	Messages     int      `json:"messages" jsonschema:"measured messages per run"`
	WarmupMicro  int      `json:"warmupMicro" jsonschema:"messages before a micro run, not counted"`
	WarmupMacro  int      `json:"warmupMacro" jsonschema:"messages before a macro run, not counted"`
	Seed         uint64   `json:"seed" jsonschema:"seed of the workload"`
	Profile      string   `json:"profile" jsonschema:"sizes and mix of payloads, as 10/50/150kB@25/50/25"`
	PayloadBytes uint64   `json:"payloadBytes" jsonschema:"payload and meta of all measured messages of one run, bytes: what one hash of each is fed"`
	MetaBytes    uint64   `json:"metaBytes,omitempty" jsonschema:"of payloadBytes, those of meta, which no copy of a payload has; absent where no message has any"`
	Window       int      `json:"window" jsonschema:"most messages in flight; no limit in an open loop"`
	Runs         int      `json:"runs" jsonschema:"runs per scenario and path"`
	Hash         string   `json:"hash" jsonschema:"message hash"`
	Archive      string   `json:"archive" jsonschema:"archive of the receiving node"`
	Paths        []string `json:"paths" jsonschema:"paths that were asked for"`
	Scenarios    []string `json:"scenarios" jsonschema:"scenarios that were asked for: micro, macro"`
	Cold         bool     `json:"cold" jsonschema:"memory was not warmed before each run"`
	FilterPeers  int      `json:"filterPeers,omitempty" jsonschema:"light peers to which the receiver pushed each message, which is in the name of the scenario too; absent for none"`
	Rate         float64  `json:"rate,omitempty" jsonschema:"messages per second that were to be sent, whatever was in flight: an open loop; absent in a closed one"`
	Corpus       *Corpus  `json:"corpus,omitempty" jsonschema:"recorded messages that the workload is made of, whose profile and seed say nothing else; absent where it was generated"`
}

// Corpus is a file of recorded messages.
type Corpus struct {
	File       string `json:"file" jsonschema:"name without its folder"`
	SHA256     string `json:"sha256" jsonschema:"of the file, in hexadecimal"`
	Records    int    `json:"records" jsonschema:"recorded messages in the file"`
	Messages   int    `json:"messages" jsonschema:"different messages to measure with, repeated where a run has more"`
	Ephemeral  int    `json:"ephemeral" jsonschema:"left out: no archive keeps them"`
	Duplicates int    `json:"duplicates" jsonschema:"left out: the same as an earlier one"`
}

// Roles of a [Node] and of the rows of the CSV.
const (
	RoleAll       = "all"
	RolePublisher = "publisher"
	RoleReceiver  = "receiver"
)

// Run is one scenario on one path, measured once and verified.
//
// Pointers are nil where the thing was not measured: "n/a" in CSV and text,
// null in JSON. Memory, GC and CPU are those of the process, with all its nodes.
type Run struct {
	Scenario string `json:"scenario" jsonschema:"micro_run1, micro_run2, ...; macro, macro_run2, ..."`
	Path     string `json:"path" jsonschema:"path, as baseline"`
	Number   int    `json:"run" jsonschema:"number of the run, from 1"`
	Messages int    `json:"messages" jsonschema:"measured messages"`

	WallNanos   int64  `json:"wallNanos" jsonschema:"from the first publish to the last delivery, ns"`
	NanosPerP50 int64  `json:"nanosPerP50" jsonschema:"median ns: in micro from a message's injection until the application was called, in macro between one arrival and the next"`
	NanosPerP99 int64  `json:"nanosPerP99" jsonschema:"the same at the 99th percentile"`
	LatencyP50  *int64 `json:"latencyP50" jsonschema:"median ns from publish to the archive's commit, null where not measured"`
	LatencyP99  *int64 `json:"latencyP99" jsonschema:"the same at the 99th percentile"`
	CPUNanos    int64  `json:"cpuNanos" jsonschema:"user and system time of the process, ns"`
	LiveDelta   int64  `json:"liveDelta" jsonschema:"live heap after minus before, a GC before each, bytes"`
	GCCollect   uint32 `json:"gcCollections" jsonschema:"garbage collections"`
	AllocBytes  uint64 `json:"allocBytes" jsonschema:"bytes allocated"`
	Allocs      uint64 `json:"allocs" jsonschema:"allocations"`
	PeakHeap    uint64 `json:"peakHeap" jsonschema:"largest heap sample, bytes"`
	Heap        []Heap `json:"heap" jsonschema:"samples of the heap, one each 50 messages"`
	Published   uint64 `json:"published" jsonschema:"messages that publishing accepted"`
	Nodes       []Node `json:"nodes" jsonschema:"what each node did"`
	Verified    bool   `json:"verified" jsonschema:"every message arrived once, unaltered"`

	OpenLoop *OpenLoop `json:"openLoop,omitempty" jsonschema:"latencies from intended send times; absent in a closed loop"`

	ViewsChecked int `json:"viewsChecked" jsonschema:"messages that the receiver shared between its consumers and that were hashed again after the run, unaltered; 0 where none was"`
}

// Heap is a sample of the Go heap.
type Heap struct {
	Messages int    `json:"messages" jsonschema:"messages delivered so far"`
	Bytes    uint64 `json:"bytes" jsonschema:"live and not yet swept objects, bytes"`
}

// Node is what one node did in a run.
type Node struct {
	Name string `json:"name" jsonschema:"name, as A"`
	Role string `json:"role" jsonschema:"publisher, receiver, or all for a node that is both"`

	// Sites is nil where the node was not counted: in a build without the tag,
	// or by a target that does not count. A counted node at which nothing
	// happened has an empty slice that is not nil.
	Sites []counters.SiteCounts `json:"sites" jsonschema:"counts by site, null where the node was not counted"`

	// Lines say where in the source the counted events came from.
	Lines []counters.SiteLines `json:"lines" jsonschema:"source lines that caused the first events of each kind at each site, null where not known"`

	Delivered  uint64 `json:"delivered" jsonschema:"messages that reached the end of this node's path; a publisher subscribed to its own topic delivers to itself"`
	Rejected   uint64 `json:"rejected" jsonschema:"messages that a validator rejected"`
	Duplicates uint64 `json:"duplicates" jsonschema:"copies received again"`
	Dropped    uint64 `json:"dropped" jsonschema:"messages that a queue or limit dropped"`
}

// Invalid is a run that lost, duplicated or altered a message: it has no row.
type Invalid struct {
	Scenario string `json:"scenario" jsonschema:"scenario, as in a run"`
	Path     string `json:"path" jsonschema:"path"`
	Number   int    `json:"run" jsonschema:"number of the run, from 1"`
	Reason   string `json:"reason" jsonschema:"what was lost, duplicated or altered"`
}
