// Package verdict holds the results of benchmark runs and writes, reads and
// judges them. It knows no relay, and of this project it imports counters only.
//
// A [Result] is one benchmark session. [Rows] flattens it; [WriteCSV],
// [WriteSeedCSV], [WriteSites], [WriteBench], [WriteJSON] and [WriteText] print
// it for a spreadsheet, for a call-site breakdown, for benchstat, for a program
// and for a person. [Acceptance] judges it against [ExpectedCounts], and
// [ExitCode] turns the judgement into a process's exit code. [WriteBaseline]
// writes the document that a project commits.
//
// [ReadRecord] reads any of these files, and Go benchmark lines of other projects,
// as figures at places, and [Merge] puts several files of one state of the code
// together: what package diff and package gate work on.
//
// # What is not known is said so
//
// A count that was not made, in a build without the tag msgpathcounters or by a
// target that does not count, is "n/a" in CSV and text, null in JSON and absent
// from Go benchmark lines. It is never 0, and no criterion passes on it. A run
// that lost, duplicated or altered a message is an [Invalid]: it has a reason
// and no row. Memory, GC and CPU of a process with several nodes are given for
// [RoleAll] only.
//
// # Units
//
// 1 MB is 10^6 bytes. Times are nanoseconds unless a name says otherwise. A
// figure per message is divided by the messages of the run, which are counted
// once however many nodes deliver them.
//
// # Limits and life cycle
//
// Everything is a function of its arguments: no goroutine, no file, no clock,
// no locale. Whole documents are held in memory; [ReadJSON] and [ReadCSV] read
// at most 64 MiB. There is nothing to Run and nothing to Close.
package verdict
