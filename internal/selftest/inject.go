package selftest

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/relay"
)

// An injection is one more event of each message, at a site of a node.
type injection struct {
	scenario, path, node, site string
	event                      string
}

func (i injection) String() string {
	return fmt.Sprintf("one more %s at %s, %s %s node %s", i.event, i.site, i.scenario, i.path, i.node)
}

// nodes are the names of the nodes of each scenario.
var nodes = map[string][]string{bench.Micro: {"node"}, bench.Macro: {"A", "B"}}

// injections returns every event at every site on every node. The paths of the
// scenario take turns, so that each meets every kind of event.
func injections(sites []string) (all []injection) {
	for _, scenario := range []string{bench.Micro, bench.Macro} {
		paths := pathsOf(scenario)
		for _, node := range nodes[scenario] {
			for s, site := range sites {
				for e, event := range extraWork {
					path := paths[(s+e)%len(paths)]
					all = append(all, injection{scenario, path, node, site, event.name})
				}
			}
		}
	}
	return all
}

func pathsOf(scenario string) []string {
	if scenario == bench.Micro {
		return bench.Paths()[:len(bench.Paths())-1] // raw is a network without a node
	}
	return bench.Paths()
}

// work does an event for real and counts it.
type work struct {
	name string
	do   func(counts counters.Set, site counters.Site, wire []byte)
}

// done keeps what was made from being optimised away.
var done atomic.Int64

var extraWork = []work{
	{"decode", func(counts counters.Set, site counters.Site, wire []byte) {
		m, err := message.Copying.Decode(wire)
		if counters.Enabled {
			counters.Decode(counts, site, len(wire))
		}
		note(len(m.GetPayload()), err)
	}},
	{"hash", func(counts counters.Set, site counters.Site, wire []byte) {
		m, err := message.Aliasing.Decode(wire) //msgpath:uncounted the decode only makes what is hashed; the mutant is one hash
		sum := message.Blake3.Sum(bench.PubsubTopic, m)
		if counters.Enabled {
			counters.Hash(counts, site, len(m.GetPayload()))
		}
		note(int(sum[0]), err)
	}},
	{"id_hash", func(counts counters.Set, site counters.Site, wire []byte) {
		id := relay.GossipID(bench.PubsubTopic, wire)
		if counters.Enabled {
			counters.IDHash(counts, site, len(wire))
		}
		note(len(id), nil)
	}},
	{"encode", func(counts counters.Set, site counters.Site, wire []byte) {
		var m pb.WakuMessage
		err := proto.Unmarshal(wire, &m) //msgpath:uncounted the decode only makes what is encoded; the mutant is one encode
		again, encodeErr := proto.Marshal(&m)
		if counters.Enabled {
			counters.Encode(counts, site, len(again))
		}
		note(len(again), err)
		note(0, encodeErr)
	}},
	{"copy", func(counts counters.Set, site counters.Site, wire []byte) {
		again := bytes.Clone(wire)
		if counters.Enabled {
			counters.Copy(counts, site, len(again))
		}
		note(len(again), nil)
	}},
}

func note(n int, err error) {
	if err != nil {
		panic(fmt.Sprintf("selftest: work on a message of the workload: %v", err))
	}
	done.Add(int64(n))
}

// extra returns the injected work, for [bench.Options].
func (i injection) extra() (bench.Work, error) {
	site, ok := counters.Find(i.site)
	if !ok {
		return nil, fmt.Errorf("selftest: inject: no site %s", i.site)
	}
	for _, w := range extraWork {
		if w.name == i.event {
			return func(node string, counts counters.Set, wire []byte) {
				if node == i.node {
					w.do(counts, site, wire)
				}
			}, nil
		}
	}
	return nil, fmt.Errorf("selftest: inject: no event %s", i.event)
}
