package diff

import "github.com/msgpath/msgpath/verdict"

// Kind and Version mark the JSON document of [WriteJSON].
const (
	Kind    = "msgpath-diff"
	Version = 1
)

// Names of the two sides.
const (
	Before = "BEFORE"
	After  = "AFTER"
)

// Answer is what comparing one figure came to.
type Answer string

// Answers.
const (
	Same          Answer = "same"
	Better        Answer = "better"
	Worse         Answer = "worse"
	Appeared      Answer = "appeared"       // a count that was 0 and is not
	Gone          Answer = "gone"           // a count that was not 0 and is
	Missing       Answer = "missing"        // its scenario, path, node, site or unit is not in AFTER
	New           Answer = "new"            // is not in BEFORE
	NotAvailable  Answer = "n/a"            // not measured on a side
	Skipped       Answer = "skipped"        // all runs were invalid on a side
	NotComparable Answer = "not comparable" // what it depends on differs
	Insufficient  Answer = "insufficient"   // too few samples to ever decide
	Inconclusive  Answer = "inconclusive"   // enough samples, and nothing shown
	NotJudged     Answer = "not judged"     // a difference is given, and no verdict on it
)

// Verdicts of a comparison as a whole.
const (
	VerdictInvalid   = "INVALID"
	VerdictNothing   = "NOTHING COMPARED"
	VerdictUndecided = "UNDECIDED" // no count was compared, and no time or memory figure could be judged
	VerdictWorse     = "WORSE"
	VerdictBetter    = "BETTER" // a count is, and nothing is worse
	VerdictSame      = "SAME"
)

// Comparison is what [Compare] found.
type Comparison struct {
	Verdict  string   `json:"verdict"` // as [VerdictWorse]
	ExitCode int      `json:"exitCode"`
	Counts   int      `json:"counts"` // figures that are counts and were compared
	Equal    int      `json:"equal"`  // of these
	Causes   []Cause  `json:"causes"` // worst first
	Notes    []string `json:"notes"`

	Before Side `json:"before"`
	After  Side `json:"after"`

	Summary    []Group     `json:"summary"` // where most changed
	Rows       []Row       `json:"rows"`    // by place and metric
	Conditions []Condition `json:"conditions"`
	Geomeans   []Geomean   `json:"geomeans"`

	ByTurns *bool    `json:"measuredByTurns"` // null where the files do not say
	MadeBy  []string `json:"madeBy"`          // command lines that made both sides at once; null: each was made by itself

	StrictTimes bool    `json:"strictTimes"` // a time or memory figure that is worse fails
	Confidence  float64 `json:"confidence"`  // of intervals
}

// Row is one figure at one place, on both sides.
type Row struct {
	Scenario string   `json:"scenario"`
	Path     string   `json:"path"`
	Node     string   `json:"node"` // or role
	Site     string   `json:"site"`
	Unit     string   `json:"unit"`
	Class    string   `json:"class"` // count, memory, time
	Higher   bool     `json:"higherIsBetter"`
	Before   Sample   `json:"before"`
	After    Sample   `json:"after"`
	Delta    *float64 `json:"delta"`   // AFTER less BEFORE: of a count its largest sample, where these are equal the least, then those between; else medians
	Percent  *float64 `json:"percent"` // of BEFORE; null where that is not positive
	Answer   Answer   `json:"answer"`
	Reason   string   `json:"reason"`
	Fails    int      `json:"fails"` // exit code that this row alone asks for, 0 for none

	Judged bool       `json:"judged"`       // is of the times and memory that are given a verdict
	P      *float64   `json:"p"`            // of the U test, corrected by Holm
	Floor  *float64   `json:"floorPercent"` // noise floor
	ByRun  []RunDelta `json:"byRun"`        // where a side has 2 or 3 runs and none more
}

// Place returns where the row was measured.
func (r Row) Place() verdict.Place {
	return verdict.Place{Scenario: r.Scenario, Path: r.Path, Node: r.Node, Site: r.Site}
}

// Sample is the samples of one side. Without one, all figures are nil.
type Sample struct {
	N      int      `json:"n"`  // runs that measured it
	NA     int      `json:"na"` // runs that did not
	Min    *float64 `json:"min"`
	Median *float64 `json:"median"`
	Max    *float64 `json:"max"`
	Low    *float64 `json:"low"`  // interval of the median, null where n is too small for one
	High   *float64 `json:"high"` // at [Comparison.Confidence]
}

// RunDelta is the difference between the two runs of one number.
type RunDelta struct {
	Run     int     `json:"run"`
	Percent float64 `json:"percent"`
}

// Cause is one reason for the verdict: all that changed in one direction at the
// most specific place that explains it.
type Cause struct {
	Kind     string   `json:"kind"` // as [CauseWorse]
	Scenario string   `json:"scenario"`
	Path     string   `json:"path"`
	Node     string   `json:"node"`
	Site     string   `json:"site"`
	Text     string   `json:"text"`     // "+1.000 hash/msg, +65.00 MB/1000 msg"
	Lines    []string `json:"lines"`    // "archive/commit.go:88"
	Advisory bool     `json:"advisory"` // does not change the exit code
}

// Side is one side's files, and how far they can be trusted.
type Side struct {
	Name      string              `json:"name"`
	Files     []string            `json:"files"`
	Commits   []string            `json:"commits"`
	Seeds     []string            `json:"seeds"`
	Commands  [][]string          `json:"commands"`  // command lines
	Reproduce []string            `json:"reproduce"` // lines of [verdict.Reproduce]; nil where not known
	Runs      int                 `json:"runs"`      // runs whose outcome the files tell
	Verified  int                 `json:"verified"`  // of these: every message arrived once and its hash is equal
	Published *float64            `json:"published"`
	Delivered *float64            `json:"delivered"`
	Views     []Views             `json:"views"` // nil where not known
	Invalid   []verdict.Invalid   `json:"invalid"`
	Machine   []map[string]string `json:"machine"` // conditions, one for each file or part of one
}

// Views is how many messages of a scenario and path were hashed again after they had been
// shared between consumers: the test for a payload that changed under one.
type Views struct {
	Scenario string `json:"scenario"`
	Path     string `json:"path"`
	Checked  int    `json:"checked"`
}

// Group is the summary of one scenario and path.
type Group struct {
	Scenario string `json:"scenario"`
	Path     string `json:"path"`
	Rows     []Row  `json:"rows"` // at most 8
}

// Condition is something that figures depend on besides the code.
type Condition struct {
	Name    string `json:"name"`
	Before  string `json:"before"` // "" where the files do not say
	After   string `json:"after"`
	Differs bool   `json:"differs"` // makes figures that depend on it incomparable: see [verdict.DependsOn]
}

// Geomean is the geometric mean of AFTER over BEFORE over the places that both
// have.
type Geomean struct {
	Unit    string  `json:"unit"`
	Percent float64 `json:"percent"`
	Places  int     `json:"places"`
	LeftOut int     `json:"leftOut"` // places that have the unit on both sides, with a figure that is not positive
}

// Options say how to compare. The zero value is the default.
type Options struct {
	StrictTimes bool // a judged time or memory figure that is worse is exit code 1

	// MadeBy are the command lines that made both sides at once. Nil: each side was
	// made by what its results say.
	MadeBy []string
}
