//go:build race

package sqlite

import "flag"

// raceEnabled leaves what one goroutine does, over and over, to runs without the
// race detector.
const raceEnabled = true

// The race detector makes SQLite several times as slow, and a hundred random cases,
// most of them of one goroutine, show it no more than a few do: the hundred are for
// runs without it. -rapid.checks overrides this.
func init() {
	if err := flag.Set("rapid.checks", "8"); err != nil {
		panic(err)
	}
}
