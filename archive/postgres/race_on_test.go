//go:build race

package postgres

import "flag"

// Random cases, most of them of one goroutine, are for runs without the race
// detector: to it a few show no less than a hundred do. -rapid.checks overrides this.
func init() {
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
}
