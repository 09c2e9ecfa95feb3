// Package gate judges a benchmark run by a budget: limits that people agreed on
// and wrote down in a file. It knows no relay.
//
// [Parse] reads a budget, [Judge] compares a run with it, and [Report] says what
// came of each limit and which exit code a process should end with. [Ratchet]
// tightens a budget to what a run measured.
//
// # The file
//
// A budget is YAML 1.2 with these keys and no others:
//
//	version: 1
//	settings: {messages: 1000}   # what memory and times are limited for
//	limits:                      # one or more bounds on figures
//	  - name: what a reader should call it         # default: made of the patterns
//	    scenario: macro          # default "*"
//	    path: baseline           # default "*"
//	    node: all                # default "all"
//	    site: relay.validator    # default: the sum over sites
//	    metric: decodes/msg
//	    hard: {equal: 1}         # FAIL where it does not hold
//	    soft: {min: 4, max: 6}   # WARN where it does not hold
//	    change: {max: 2%}        # against the base; FAIL
//	    soft-change: {max: 0}    # against the base; WARN
//	    reason: why the limit is what it is
//	    owner: who decides about it
//	tables:                      # what each site counts, exactly; FAIL
//	  - scenario: micro          # name, path, node, reason, owner as above
//	    metrics: [decodes/msg, hashes/msg]
//	    sites:
//	      relay.validator: [1, 0]
//	      "*":             [0, 0]     # every other site that was measured
//
// scenario, path, node, site and metric are patterns of [path.Match], except
// that a star matches slashes too. A node is called by its name or its role; a
// role's figure at a site is the sum over its nodes. In the sites of a table only
// "*" is a pattern.
//
// A bound is equal, or min, or max, or min and max; each holds at the limit
// itself. A number may carry a unit that suits the metric: B, kB, MB, GB (powers
// of 1000) or ns, µs, ms, s. Under change and soft-change a bound is of the
// difference to the base, with % of the base's amount; -5% is 5 % below it. From
// a base of 0 any change is infinitely many percent.
//
// Counts hold for any settings. Memory and times do not: a figure of these is
// INCONCLUSIVE where the run was not measured with the settings of the file, if
// that has any. They are what [verdict.DependsOn] names for times, as profile,
// messages, seed, archive, gogc.
//
// Everything that is wrong with a file is reported at once, each with file, line
// and column: an unknown or repeated key, a value of the wrong type, an alias, a
// pattern that cannot be one, min above max, a limit without a bound, a file
// without a limit. So is a character that ends a line for some readers of YAML and
// not for others, wherever it stands: U+0085, U+2028, U+2029, and a carriage return
// alone.
//
// # How a limit is judged
//
// Counts and memory are judged by every sample of every place that the patterns
// match: one sample outside is a FAIL, and one sample is enough to PASS. Counts
// are exact, and what a run allocates depends on the code and hardly on the
// machine. A limit of memory is therefore one for the worst run, not for the
// middle. A change of memory is that of each sample from the base's median. A
// change of a count is judged at both ends: the greatest sample from the base's
// greatest, the least from its least. So a run holds against itself, also where
// its counts vary.
//
// A site that a file does not list is 0 in each run of a node of which it lists
// others, unless the file declares its sites and not this one.
//
// Times are judged by the median's 95 % interval, without an assumption about
// how times are distributed: PASS if the whole interval is inside, FAIL if all
// of it is outside, else INCONCLUSIVE. Fewer than six samples have no such
// interval and are INCONCLUSIVE. A change is judged by both intervals, and holds
// only where it holds for each pair of values from them.
//
// A change of times is INCONCLUSIVE where the machine, the build or the settings
// differ, or only one side says them; of memory where the build or the settings
// do; of bytes counted where the workload does: see [verdict.DependsOn]. Other
// counts compare with those of any machine.
//
// # What is never a pass
//
// A count that is n/a, in a build without the counters or of a run that counted
// nothing at all; a run that was invalid or not verified; a pattern that matches
// nothing; a place that the base has and the run lacks; a change from a base whose
// figure is n/a, or in which a limit's patterns match nothing; a report of which
// every line is INCONCLUSIVE. A place that the base lacks while it has others of
// the limit is INCONCLUSIVE. See [Report.ExitCode].
//
// # What the ratchet may change
//
// [Ratchet] parses what it wrote: it has to be the old budget but for the numbers
// that were meant to change. Else it is an error and there is no new text.
//
// # Limits and life cycle
//
// Everything is a function of its arguments: no goroutine, no file, no clock.
// Samples of several files are taken together. There is nothing to Run and
// nothing to Close.
package gate
