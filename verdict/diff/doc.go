// Package diff compares what was measured before a change with what was measured
// after it, and says what is worse, where, and how sure that is.
//
// [Compare] makes a [Comparison] of two [verdict.Record]s: plain data, of which
// [WriteText], [WriteMarkdown], [WriteCSV] and [WriteJSON] print all that they say,
// and which [ExitCode] turns into the exit code of a process. What is compared is
// one figure at one place: a metric of a scenario, path, node or role, and site.
// Runs are samples of it.
//
// # Counts are exact
//
// Decodes, hashes, encodes, copies and their bytes, and what a file marks as
// exact, are compared with one sample as with many. Where the samples of a side
// differ, they are compared in order of size, or of sides with other numbers of
// samples both ends and the mean, and a rise of any is worse. What is n/a in some
// runs is compared in the others, and is invalid if its share rose. What is in a
// smaller share of the runs than it was is missing. Two figures are equal if they
// are no further apart than their sources were rounded. Bytes are
// not compared between workloads that differ: see [verdict.DependsOn].
//
// # Times and memory are judged with care
//
// The difference of medians is always given. Whether it means anything is said
// apart, and only of few figures, since each further one makes a false alarm more
// likely: msg/s, cpu-ns/msg, B/msg and allocs/msg of each scenario and path, and
// all of a benchmark of another project. A figure is better or worse if a
// Mann-Whitney U test says so at 1 %, corrected by Holm for the number of figures
// that are judged, and if the difference is above the noise floor and at least 1 %.
// The floor of a metric in a scenario on a path is the difference between the
// medians of the odd and of the even runs of one side, which alternate and ran the
// same code: the larger one of both sides. With fewer samples than could ever decide, the answer is [Insufficient] and says
// how many could. Where something differs that a figure depends on, it is
// [NotComparable]: see [verdict.DependsOn].
//
// A machine that changes between two sessions changes every figure of one side,
// and no test on these figures can know. Measure the two sides by turns; a
// Comparison says where it was not done, and then no time or memory figure fails it.
// Where no count was compared and no figure could be judged, the verdict is
// [VerdictUndecided].
//
// # What it will not do
//
// It reads no file and knows no relay. It does not decide what counts should be: a
// budget does. It never prints a figure that is not finite, and n/a is never 0.
// Everything is a function of its arguments; there is nothing to Run or to Close.
package diff
