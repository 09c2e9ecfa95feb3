package scale

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/msgpath/msgpath/verdict"
)

// What the first members of the JSON say.
const (
	Kind          = "msgpath-scale"
	SchemaVersion = 1
)

// Result is what one call of the benchmark measured. Its JSON has the members
// below under their tags; a slice is never null, and null stands for a figure
// that was not measured.
type Result struct {
	Kind          string              `json:"kind"`          // "msgpath-scale"
	SchemaVersion int                 `json:"schemaVersion"` // 1
	MeasuredAt    time.Time           `json:"measuredAt"`    // UTC
	Environment   verdict.Environment `json:"environment"`   // as in a bench.json
	Settings      Settings            `json:"settings"`
	Limitations   []string            `json:"limitations"` // what the figures do not show
	Rows          []Row               `json:"rows"`        // in the order of measuring
	Skipped       []Skipped           `json:"skipped"`     // values that were left out
	Invalid       []Invalid           `json:"invalid"`     // runs that lost, duplicated or altered a message
}

// Settings are what all rows share.
type Settings struct {
	Quick   bool   `json:"quick"`   // a tenth of the messages, and fewer values
	Runs    int    `json:"runs"`    // of each value on each path
	Seed    uint64 `json:"seed"`    // of the workload
	Hash    string `json:"hash"`    // message hash
	Archive string `json:"archive"` // of the receiving node
}

// Row is one thing that is varied while all others stay.
type Row struct {
	Name   string   `json:"name"`   // "window"; no two rows share one
	Unit   string   `json:"unit"`   // of X: "messages in flight"
	Held   string   `json:"held"`   // what stays: "1000 messages of 10/50/150kB@25/50/25, window 32"
	Note   string   `json:"note"`   // what its figures contain; may be empty
	Event  string   `json:"event"`  // whose cost it is: "message", "insert"
	Counts bool     `json:"counts"` // its runs are counted in a build that counts
	Series []Series `json:"series"` // one for each path
}

// Series is one path over all values of a row.
type Series struct {
	Path   string  `json:"path"`
	Points []Point `json:"points"` // X ascending
	Fits   []Fit   `json:"fits"`   // one for each of [Costs]
}

// Point is one value and its runs, of which there is at least one.
type Point struct {
	X    int   `json:"x"`
	Runs []Run `json:"runs"`
}

// Run is what one run measured, for each event of its row: a message or an
// insert. Memory and CPU are those of the process with all its nodes.
type Run struct {
	Events     int      `json:"events"`     // measured
	PerSecond  float64  `json:"perSecond"`  // events
	CPUNanos   float64  `json:"cpuNanos"`   // user and system time, ns an event
	AllocBytes float64  `json:"allocBytes"` // bytes allocated an event
	LiveBytes  float64  `json:"liveBytes"`  // live heap after minus before, bytes of the whole run
	Encodes    *float64 `json:"encodes"`    // our encodes an event, at all nodes; null: not counted
	Copies     *float64 `json:"copies"`     // copies that gossipsub encoded and wrote to peers, an event
	Written    *float64 `json:"written"`    // message bytes of one such copy
	Mesh       *int     `json:"mesh"`       // peers in the receiver's mesh, the publisher among them; the least of its topics
}

// Skipped is a value that was not measured.
type Skipped struct {
	Row    string `json:"row"`
	X      int    `json:"x"`
	Reason string `json:"reason"`
}

// Invalid is a run that has no figures.
type Invalid struct {
	Row    string `json:"row"`
	X      int    `json:"x"`
	Path   string `json:"path"`
	Number int    `json:"run"` // from 1
	Reason string `json:"reason"`
}

// Validate reports everything wrong with r: what cannot have been measured.
func (r Result) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("scale: result: "+format, args...)) }
	seen := make(map[string]bool)
	for _, row := range r.Rows {
		if row.Name == "" || seen[row.Name] {
			bad("row %q has no name of its own", row.Name)
		}
		seen[row.Name] = true
		for _, s := range row.Series {
			s.check(func(format string, args ...any) {
				bad("row %s, path %s: %w", row.Name, s.Path, fmt.Errorf(format, args...))
			})
		}
	}
	return errors.Join(errs...)
}

func (s Series) check(bad func(string, ...any)) {
	last := 0
	for _, p := range s.Points {
		if p.X <= last {
			bad("x %d after %d: want ascending from 1", p.X, last)
		}
		last = p.X
		if len(p.Runs) == 0 {
			bad("x %d has no run", p.X)
		}
		for _, run := range p.Runs {
			if err := run.check(); err != nil {
				bad("x %d: %w", p.X, err)
			}
		}
	}
}

func (r Run) check() error {
	if r.Events < 1 || r.PerSecond <= 0 {
		return fmt.Errorf("%d events at %g a second", r.Events, r.PerSecond)
	}
	for _, f := range figures {
		v := f.of(r)
		if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0) || *v < 0 && f.Name != Live.Name) {
			return fmt.Errorf("%s is %g", f.Name, *v)
		}
	}
	return nil
}
