package peers

import (
	"path/filepath"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
)

// Names of the arms.
const (
	ByHandMemory   = "by hand, sqlite in memory"
	ZeroCopyMemory = "zerocopy, sqlite in memory"
	ByHandFile     = "by hand, sqlite on disk"
	ZeroCopyFile   = "zerocopy, sqlite on disk"
	Raw            = "raw"
)

// Bases gives each arm the one that it is compared with.
var Bases = map[string]string{
	ByHandMemory: ZeroCopyMemory, ByHandFile: ZeroCopyFile, Raw: ZeroCopyMemory,
}

// Arms returns the hand-written relay beside the project's own node, each with
// SQLite in memory and in a file in dir, and beside bare gossipsub.
func Arms(dir string) []bench.Arm {
	file := func(name string) string { return "sqlite:" + filepath.Join(dir, name+".db") }
	return []bench.Arm{
		byHand(ByHandMemory, bench.DefaultArchive),
		zeroCopy(ZeroCopyMemory, bench.DefaultArchive),
		byHand(ByHandFile, file("byhand")),
		zeroCopy(ZeroCopyFile, file("zerocopy")),
		{Name: Raw, Scenario: bench.Macro, Target: func(bench.NodeOptions) bench.Target {
			return bench.NewRaw(bench.RawOptions{})
		}},
	}
}

func byHand(name, archive string) bench.Arm {
	return bench.Arm{Name: name, Scenario: bench.Macro, Archive: archive, Target: func(o bench.NodeOptions) bench.Target {
		file, err := node.ArchiveFile(o.Archive)
		if err != nil { // RunArms has looked at it
			panic(err)
		}
		return NewByHand(Options{File: file, Logger: o.Logger})
	}}
}

func zeroCopy(name, archive string) bench.Arm {
	arm := bench.PathArm(bench.Macro, relay.ReachNode)
	arm.Name, arm.Archive = name, archive
	return arm
}
