package bench

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// A tunable is one option of transport, of gossipsub or of the Go runtime, with
// the values that are tried beside its default.
type tunable struct {
	name     string
	standard string // what the default is called
	raw      bool   // bare gossipsub has it too
	values   []choice
}

// A choice is one value of a tunable.
type choice struct {
	name string
	node func(*node.Options) // nil: nothing to set
	run  func() (undo func())
}

// again is the tunable that changes nothing: what it shows is noise.
var again = tunable{name: "none", standard: "as it is", raw: true, values: []choice{{name: "the same again"}}}

// tunables returns all of them. What validates is none of bare gossipsub's
// business, which has no validator.
func tunables() []tunable {
	return []tunable{
		again,
		{"security", "tls,noise", true, []choice{
			onNode("noise,tls", func(o *node.Options) { o.Security = []string{node.SecurityNoise, node.SecurityTLS} }),
		}},
		{"transport", "tcp", true, []choice{
			onNode("quic", func(o *node.Options) { o.Listen = []string{"/ip4/127.0.0.1/udp/0/quic-v1"} }),
		}},
		{"muxer window", "256 KiB", true, []choice{
			onNode("1 MiB", func(o *node.Options) { o.MuxerWindow = 1 << 20 }),
			onNode("16 MiB", func(o *node.Options) { o.MuxerWindow = node.MaxMuxerWindow }),
		}},
		{"idontwant threshold", "1 KiB", true, []choice{
			onNode("64 KiB", func(o *node.Options) { o.Relay.IDontWantThreshold = 64 << 10 }),
			onNode("off", func(o *node.Options) { o.Relay.IDontWantThreshold = relay.IDontWantOff }),
		}},
		{"outbound queue", "1024", true, []choice{
			onNode("256", func(o *node.Options) { o.Relay.OutboundQueue = 256 }),
			onNode("8192", func(o *node.Options) { o.Relay.OutboundQueue = 8192 }),
		}},
		{"validate queue", "1024", false, []choice{
			onNode("64", func(o *node.Options) { o.Relay.ValidateQueue = 64 }),
		}},
		{"validate workers", "one a core", false, []choice{
			onNode("one", func(o *node.Options) { o.Relay.ValidateWorkers = 1 }),
			onNode("four a core", func(o *node.Options) { o.Relay.ValidateWorkers = 4 * runtime.NumCPU() }),
		}},
		{"validator", "inline", false, []choice{
			onNode("own goroutine", func(o *node.Options) { o.Relay.ValidateInline = relay.InlineNever }),
		}},
		{"gogc", "100", true, []choice{onProcess("50", 50, -1), onProcess("200", 200, -1), onProcess("400", 400, -1)}},
		{"memory limit", "none", true, []choice{
			onProcess("512 MiB", 100, 512<<20), onProcess("1 GiB, gogc off", -1, 1<<30),
		}},
	}
}

func onNode(name string, set func(*node.Options)) choice { return choice{name: name, node: set} }

// onProcess is a choice for the garbage collector: percent as GOGC has it, -1 for
// off, and a limit in bytes, -1 for none.
func onProcess(name string, percent int, limit int64) choice {
	if limit < 0 {
		limit = math.MaxInt64
	}
	return choice{name: name, run: collectorSet(percent, limit)}
}

// TransportOptions returns the names of the options that [TransportArms] tries.
func TransportOptions() (names []string) {
	for _, t := range tunables() {
		names = append(names, t.name)
	}
	return names
}

// TransportArms returns the arms of the options named, of all if none is: on bare
// gossipsub, where it has the option, and on the project's node at ReachNode
// without a database, the default and then each other value. [Effects] compares
// them. An error names what is no option.
func TransportArms(names ...string) ([]Arm, error) {
	for _, name := range names {
		if !slices.Contains(TransportOptions(), name) {
			return nil, fmt.Errorf("bench: option %q: want %s", name, strings.Join(TransportOptions(), ", "))
		}
	}
	var arms []Arm
	for _, t := range tunables() {
		if len(names) > 0 && !slices.Contains(names, t.name) {
			continue
		}
		for _, path := range t.paths() {
			arms = append(arms, t.arm(path, choice{name: t.standard}))
			for _, s := range t.values {
				arms = append(arms, t.arm(path, s))
			}
		}
	}
	return arms, nil
}

// paths returns the paths on which t is tried.
func (t tunable) paths() []string {
	if t.raw {
		return []string{PathRaw, relay.ReachNode.String()}
	}
	return []string{relay.ReachNode.String()}
}

// armName returns the name under which a choice is in a result.
func (t tunable) armName(path string, s choice) string {
	return path + ", " + t.name + " " + s.name
}

func (t tunable) arm(path string, s choice) Arm {
	arm := Arm{Name: t.armName(path, s), Scenario: Macro, Archive: Discard}
	arm.Target = func(o NodeOptions) Target {
		if s.node != nil {
			s.node(&o.Base)
		}
		target := transportTarget(path, o)
		if s.run != nil {
			return &tuned{checked: target, set: s.run}
		}
		return target
	}
	return arm
}

func transportTarget(path string, o NodeOptions) checked {
	if path == PathRaw {
		return &rawTarget{options: RawOptions{Base: o.Base, Extra: o.Extra}}
	}
	o.Reach = relay.ReachNode
	return &macroTarget{nodeTarget: nodeTarget{options: o}}
}

// Effects compares, in a result of [TransportArms], each value with the default of
// its option on the same path. An option of which the result has no run is left
// out.
func Effects(r verdict.Result) (effects []Effect) {
	for _, t := range tunables() {
		for _, path := range t.paths() {
			for _, s := range t.values {
				e := Effect{Option: t.name, Default: t.standard, Value: s.name, Path: path}
				e.Comparison = CompareArms(r, t.armName(path, s), t.armName(path, choice{name: t.standard}))
				if e.Runs+e.Invalid > 0 {
					effects = append(effects, e)
				}
			}
		}
	}
	return effects
}
