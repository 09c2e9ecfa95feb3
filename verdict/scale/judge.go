package scale

import (
	"fmt"

	"github.com/msgpath/msgpath/verdict"
)

// Findings is what can be judged of a result: counts, which are exact.
type Findings struct {
	Wrong     []string // points whose messages were not encoded exactly once, in words
	Counted   int      // points that were looked at
	Uncounted int      // points of rows that count, in a build that does not
	Points    int      // all points
}

// Judge looks at every point: this project encodes a message once, however many
// peers, topics and messages there are.
func (r Result) Judge() Findings {
	var f Findings
	for _, row := range r.Rows {
		for _, s := range row.Series {
			for _, p := range s.Points {
				f.Points++
				if !row.Counts {
					continue
				}
				e, ok := p.Spread(Encodes)
				if !ok {
					f.Uncounted++
					continue
				}
				f.Counted++
				if e.Min != 1 || e.Max != 1 {
					f.Wrong = append(f.Wrong, fmt.Sprintf("%s %d, path %s: %g to %g encodes a message, want exactly 1", row.Name, p.X, s.Path, e.Min, e.Max))
				}
			}
		}
	}
	return f
}

// ExitCode returns how a command ends: [verdict.ExitInvalid] with an invalid run,
// [verdict.ExitUnexamined] where nothing was measured, [verdict.ExitFailed] where
// a message was encoded more or less than once, [verdict.ExitInvalid] where that
// was not counted, else [verdict.ExitOK].
func (r Result) ExitCode() int {
	f := r.Judge()
	switch {
	case len(r.Invalid) > 0:
		return verdict.ExitInvalid
	case f.Points == 0:
		return verdict.ExitUnexamined
	case len(f.Wrong) > 0:
		return verdict.ExitFailed
	case f.Uncounted > 0:
		return verdict.ExitInvalid
	}
	return verdict.ExitOK
}
