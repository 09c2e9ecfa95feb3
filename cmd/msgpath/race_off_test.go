//go:build !race

package main

// raceEnabled reports that everything takes several times as long.
const raceEnabled = false
