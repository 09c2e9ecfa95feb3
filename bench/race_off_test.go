//go:build !race

package bench

// raceEnabled reports that times are not those of the program.
const raceEnabled = false
