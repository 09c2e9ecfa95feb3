package relay

import (
	"fmt"

	"github.com/msgpath/msgpath/message"
)

// Reach is how far one message.Envelope is carried through a node, and so which
// consumers share its work. The values are ordered: a longer reach shares more.
// A Relay does the same things in the same order whatever its reach.
type Reach uint8

const (
	// ReachStage gives every consumer its own: each byte consumer decodes for
	// itself, each consumer of the dispatch hashes for itself.
	ReachStage Reach = iota
	// ReachDispatch carries one through the handler and its whole dispatch.
	// Observers are given sizes only.
	ReachDispatch
	// ReachNode carries one from the seal or the validator through everything,
	// and decodes without copying.
	ReachNode
)

var pathNames = [...]string{ReachStage: "baseline", ReachDispatch: "envelope", ReachNode: "zerocopy"}

// ParsePath returns the reach of the path called name: "baseline", "envelope"
// or "zerocopy".
func ParsePath(name string) (Reach, error) {
	for r, n := range pathNames {
		if n == name {
			return Reach(r), nil
		}
	}
	return 0, fmt.Errorf("relay: parse path %q: want baseline, envelope or zerocopy", name)
}

// String returns the name of the path, as ParsePath takes it.
func (r Reach) String() string {
	if int(r) < len(pathNames) {
		return pathNames[r]
	}
	return fmt.Sprintf("Reach(%d)", uint8(r))
}

func (r Reach) decoder() message.Decoder {
	if r >= ReachNode {
		return message.Aliasing
	}
	return message.Copying
}
