package main

import (
	"fmt"
	"runtime"

	"github.com/msgpath/msgpath/counters"
)

// Set when linking: -ldflags "-X main.version=v1.2.3 -X main.commit=0123abc".
var (
	version = "unknown"
	commit  = "unknown"
)

// versionText says which source this is, what built it and whether it counts.
func versionText() string {
	counting := "does not count (built without the tag msgpathcounters)"
	if counters.Enabled {
		counting = "counts (built with the tag msgpathcounters)"
	}
	return fmt.Sprintf("relaynode %s, commit %s\n%s %s/%s\n%s",
		version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, counting)
}
