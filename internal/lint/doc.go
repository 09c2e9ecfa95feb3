// Package lint holds the rules of the house as tests: which package imports
// which, one package comment each, the list of counter sites, guards around
// counting calls, build tags, links between texts, and what must not be in a
// tracked file.
//
// Tracked is what git would commit. Without git, as in an unpacked archive, it is
// every file but those below out and bin.
//
// The rules read source and run for both builds; they start nothing and change
// nothing, except that
//
//	go test ./internal/lint -run TestSites -update
//
// writes the list of sites, sites.txt, anew.
//
// A new package is a new line in the map of imports, and a page in
// docs/decisions.
package lint
