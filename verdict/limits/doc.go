// Package limits holds how near measured figures come to what is possible, and
// judges that.
//
// A [Limit] is a figure with a target: a ratio of two arms that were measured by
// turns in one session, say. It is judged by the interval of its median, not by
// the median: [verdict.Pass] where the whole interval is on the target's good side, [verdict.Fail]
// where the whole of it is not, [verdict.Inconclusive] between, and where there are too few
// values for an interval. Counts need none, see [Exactly].
//
// [Ratios] takes the values out of a [verdict.Result]. [WriteText], [WriteMarkdown]
// and [WriteJSON] print a [Document], and [Read] reads it.
//
// It knows no relay, starts no goroutine and touches no file; there is nothing to
// Run and nothing to Close.
package limits
