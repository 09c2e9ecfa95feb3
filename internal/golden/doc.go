// Package golden compares what a test made with a file that is committed. It is
// for tests: importing it adds the flag -update, with which the files are
// written anew, to be read before they are committed.
package golden
