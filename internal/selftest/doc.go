// Package selftest shows that the verdicts can fail. It runs the benchmark with
// something wrong in it, one thing at a time, and asks each judge — the
// acceptance table, the gate with the shipped budgets, the diff against an
// unharmed run, the lock file — for its exit code.
//
// What is made wrong:
//
//   - work: one more decode, hash, gossip id, encode or copy of each message, done
//     and counted at each declared site on each node;
//   - outcome: a message lost; a scenario or path that did not run; a site renamed;
//     a site's counter calls deleted; a node that counted nothing reported as 0;
//     a build without the tag;
//   - source: mutants of this module, compiled and run: work done twice, a counting
//     call deleted, a copy that nobody counts.
//
// A mutant is killed if every judge that must see it gives the exit code that it
// must. Then the opposite: runs of the same code are compared with each other,
// interleaved, and nothing may be called worse. Counts never are; of times and memory, the
// share that is, with its interval, is the rate of false alarms.
//
// It needs the counting build, the source of this module in the working
// directory and the go command. What it does not show: that a reader of the
// verdict acts on it. [Run] returns when all is done; there is nothing to Close.
package selftest
