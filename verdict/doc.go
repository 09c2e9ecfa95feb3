// Package verdict holds the results of benchmark runs and reads, writes,
// compares and judges them. It knows no relay.
package verdict
