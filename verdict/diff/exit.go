package diff

import (
	"slices"

	"github.com/msgpath/msgpath/verdict"
)

// Exit codes of a comparison.
const (
	exitWorse   = verdict.ExitFailed
	exitInvalid = verdict.ExitInvalid
	exitNothing = verdict.ExitUnexamined
)

// ExitCode returns the exit code of a process that compared:
//
//   - 3 if a side has a run that is invalid or was not verified, or a count is n/a
//     on one side and not on the other, or no count is known on either though
//     there are some;
//   - 4 if the two sides have no figure in common: nothing was compared, and
//     nothing that is on one side alone has vanished;
//   - 1 if a count rose or appeared, a scenario, path, node, declared site or unit
//     of a count vanished, be it from some runs only, the test for payloads that
//     change under a consumer no longer ran, or with [Options.StrictTimes] a time
//     or memory figure is worse or vanished;
//   - 4 if no count was compared, and of no time or memory figure were there
//     samples enough on like machines;
//   - 0 otherwise. What is better or new is 0.
//
// The first that holds is returned.
func ExitCode(c Comparison) int {
	fails := func(code int) bool {
		return slices.ContainsFunc(c.Rows, func(r Row) bool { return r.Fails == code })
	}
	switch {
	case len(c.Before.Invalid)+len(c.After.Invalid) > 0, c.Before.unverified()+c.After.unverified() > 0:
		return exitInvalid
	case fails(exitInvalid), c.uncounted():
		return exitInvalid
	case !slices.ContainsFunc(c.Rows, Row.common):
		return exitNothing
	case fails(exitWorse), len(c.viewsCauses()) > 0:
		return exitWorse
	case !slices.ContainsFunc(c.Rows, Row.decided):
		return exitNothing
	}
	return 0
}

// decided reports whether a row is a count that was compared, or of a time or
// memory figure that there was enough of to judge it.
func (r Row) decided() bool {
	return r.counted() || r.Judged && slices.Contains([]Answer{Same, Better, Worse, Inconclusive}, r.Answer)
}

func (s Side) unverified() int { return s.Runs - s.Verified }

// common reports whether both sides have the row, be it n/a.
func (r Row) common() bool { return r.Before.N+r.Before.NA > 0 && r.After.N+r.After.NA > 0 }

// counted reports whether the row is a count that was compared.
func (r Row) counted() bool {
	return r.Class == "count" && slices.Contains([]Answer{Same, Better, Worse, Appeared, Gone}, r.Answer)
}

// uncounted reports whether there are counts and not one is known on either side.
func (c *Comparison) uncounted() bool {
	known, na := false, false
	for _, r := range c.Rows {
		if r.Class == "count" {
			known = known || r.Before.N+r.After.N > 0
			na = na || r.Answer == NotAvailable
		}
	}
	return na && !known
}

// tally counts the counts.
func (c *Comparison) tally() {
	for _, r := range c.Rows {
		if r.counted() {
			c.Counts++
			if r.Answer == Same {
				c.Equal++
			}
		}
	}
}

// verdict returns one word for all of it.
func (c *Comparison) verdict() string {
	switch c.ExitCode {
	case exitInvalid:
		return VerdictInvalid
	case exitNothing:
		if slices.ContainsFunc(c.Rows, Row.common) {
			return VerdictUndecided
		}
		return VerdictNothing
	case exitWorse:
		return VerdictWorse
	}
	better := func(r Row) bool { return r.counted() && r.Answer != Same }
	if slices.ContainsFunc(c.Rows, better) {
		return VerdictBetter
	}
	return VerdictSame
}
