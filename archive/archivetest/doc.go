// Package archivetest proves an [archive.Backend] by running it.
//
// [Exercise] is called from the test of each backend with a function that opens
// an empty one. It covers what the interface promises and nothing that is one
// backend's own, such as what a file holds after it is opened again. It does not
// measure speed. It closes what it opens and leaves no goroutine.
//
//msgpath:uncounted linked by tests alone
package archivetest
