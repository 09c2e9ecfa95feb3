package bench

import (
	"fmt"
	"runtime"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"github.com/msgpath/msgpath/relay"
)

// pathScaled is the project's own path in a scale.
var pathScaled = relay.ReachNode.String()

// A dimension is one thing that is varied over the messages of macro.
type dimension struct {
	name, unit  string
	full, quick []int // values, ascending
	raw         bool  // bare gossipsub is measured beside it
	set         func(*shape, int)
	holds       func(shape) string
	note        string // what its figures contain that nobody would guess
}

// Messages of a run where they are not what is varied.
const (
	scaleMessages      = 1000
	scaleMessagesQuick = 100
)

// cacheNote tells what makes the live heap of a longer run grow less.
var cacheNote = fmt.Sprintf("the live heap holds the messages of gossipsub's last %d heartbeats and a key of each", pubsub.GossipSubHistoryLength)

// dimensions returns all rows but that of the archive. The tops are those that
// the fits speak of; between them values grow in steps of about the same factor,
// as a fit over logarithms wants them.
func dimensions() []dimension { return append(workloadDimensions(), nodeDimensions()...) }

// oneSize returns the profile of one payload size.
func oneSize(bytes int) Profile { return Profile{Sizes: []int{bytes}, Mix: []int{100}} }

// workloadDimensions returns what is varied about the messages.
func workloadDimensions() []dimension {
	const small = 1000 // bytes
	return []dimension{
		{
			name: "messages", unit: "messages",
			full: []int{1000, 3000, 10_000, 20_000}, quick: []int{100, 300, 600},
			set: func(s *shape, x int) { s.messages = x },
			holds: func(s shape) string {
				return fmt.Sprintf("messages of %s, window %d", s.profile, s.window)
			},
			note: cacheNote,
		},
		{
			name: "messages-1kB", unit: "messages of 1 kB", raw: true,
			full: []int{1000, 3000, 10_000, 30_000, 100_000}, quick: []int{100, 1000, 3000},
			set: func(s *shape, x int) { s.messages, s.profile = x, oneSize(small) },
			holds: func(s shape) string {
				return fmt.Sprintf("messages of %s, window %d", oneSize(small), s.window)
			},
			note: cacheNote,
		},
		{
			name: "payload", unit: "bytes of payload", raw: true,
			full: []int{1000, 5000, 15_000, 50_000, 150_000}, quick: []int{1000, 10_000, 50_000},
			set: func(s *shape, x int) { s.profile = oneSize(x) },
			holds: func(s shape) string {
				return fmt.Sprintf("%d messages, window %d", s.messages, s.window)
			},
		},
	}
}

// nodeDimensions returns what is varied about the nodes and what is between them.
func nodeDimensions() []dimension {
	return []dimension{
		{
			name: "window", unit: "messages in flight", raw: true,
			full: []int{1, 2, 8, 32, 128}, quick: []int{1, 8, 32},
			set: func(s *shape, x int) { s.window = x },
			holds: func(s shape) string {
				return fmt.Sprintf("%d messages of %s", s.messages, s.profile)
			},
		},
		{
			name: "topics", unit: "topics",
			full: []int{1, 4, 16, 64}, quick: []int{1, 3, 8},
			set: func(s *shape, x int) { s.mesh.Topics = x }, holds: shape.String,
			note: "messages are published on all topics by turns",
		},
		{
			name: "peers", unit: "peers of the receiver",
			full: []int{1, 2, 4, 8, 16}, quick: []int{1, 2, 4},
			set: func(s *shape, x int) { s.mesh.Peers = x }, holds: shape.String,
			note: fmt.Sprintf("peers are beside the publisher, and all in the receiver's mesh, which gossipsub prunes at %d where it is not told otherwise; the process does the work of all of them", pubsub.GossipSubDhi),
		},
		{
			name: "gomaxprocs", unit: "processors", raw: true,
			full: processors(), quick: processors(),
			set: func(s *shape, x int) { s.processors = x }, holds: shape.String,
		},
	}
}

// processors returns 1 and 2, or 1 on a machine with no more.
func processors() []int {
	if runtime.NumCPU() < 2 {
		return []int{1}
	}
	return []int{1, 2}
}

func (d dimension) values(quick bool) []int {
	if quick {
		return d.quick
	}
	return d.full
}

// paths returns what is measured, in order.
func (d dimension) paths() []string {
	if d.raw {
		return []string{pathScaled, PathRaw}
	}
	return []string{pathScaled}
}

// held says what stays while the dimension is varied.
func (d dimension) held(quick bool) string { return d.holds(newShape(quick)) }

// A shape is one value of one dimension, and the defaults of all others.
type shape struct {
	messages, window int
	profile          Profile
	mesh             MeshOptions
	processors       int // 0: as they are
}

func newShape(quick bool) shape {
	s := shape{messages: scaleMessages, window: DefaultWindow, profile: DefaultProfile()}
	if quick {
		s.messages = scaleMessagesQuick
	}
	return s
}

// shape returns what a value of a dimension is measured with.
func (s *scaling) shape(d dimension, x int) shape {
	set := newShape(s.options.Quick)
	d.set(&set, x)
	return set
}

// String says what is held where nothing of it is varied.
func (s shape) String() string {
	return fmt.Sprintf("%d messages of %s, window %d", s.messages, s.profile, s.window)
}

// options returns those of the one run.
func (s shape) options(from ScaleOptions) Options {
	o := DefaultOptions()
	o.Messages, o.Window, o.Profile, o.Runs, o.Seed = s.messages, s.window, s.profile, 1, from.Seed
	o.CommandLine, o.LogLevel, o.LogTo = from.CommandLine, from.LogLevel, from.LogTo
	return o
}

// arm returns what is driven on a path and how to ask afterwards for the traffic
// of the run, nil where it is not told.
func (s shape) arm(path string) (arm Arm, traffic func() *Traffic) {
	arm = Arm{Name: path, Scenario: Macro}
	traffic = func() *Traffic { return nil }
	if path == PathRaw {
		arm.Target = func(n NodeOptions) Target {
			return s.onProcessors(&rawTarget{options: RawOptions{Base: n.Base}})
		}
		return arm, traffic
	}
	var mesh *meshTarget
	arm.Target = func(n NodeOptions) Target {
		n.Reach = relay.ReachNode
		mesh = newMesh(n, s.mesh)
		return s.onProcessors(mesh)
	}
	return arm, func() *Traffic {
		t := mesh.Traffic()
		return &t
	}
}

// onProcessors returns a target that is driven with the shape's GOMAXPROCS.
func (s shape) onProcessors(t checked) Target {
	if s.processors == 0 {
		return t
	}
	return &tuned{checked: t, set: processorsSet(s.processors)}
}

// memory returns about how many bytes a run takes at its peak.
func (s shape) memory() uint64 {
	heap := uint64(fixedHeap) + heapPerPayload*uint64(payloadBytes(s.profile.payloads(s.messages)))
	return heap + uint64(s.archivePages())*archivePage
}

// archivePages returns as many pages of an archive in memory as a run asks for.
func (s shape) archivePages() int {
	return archivePages(s.profile.payloads(s.messages + DefaultWarmupMacro))
}
