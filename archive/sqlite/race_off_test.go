//go:build !race

package sqlite

// raceEnabled leaves what one goroutine does, over and over, to runs without the
// race detector.
const raceEnabled = false
