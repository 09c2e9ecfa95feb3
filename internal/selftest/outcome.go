package selftest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// document returns a result as the commands read it.
func document(r verdict.Result) ([]byte, error) {
	var text bytes.Buffer
	if err := verdict.WriteJSON(&text, r); err != nil {
		return nil, fmt.Errorf("selftest: %w", err)
	}
	return text.Bytes(), nil
}

// harm changes a copy of an unharmed result.
func harm(clean verdict.Result, change func(*verdict.Result)) ([]byte, error) {
	text, err := document(clean)
	if err != nil {
		return nil, err
	}
	harmed, err := verdict.ReadJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("selftest: %w", err)
	}
	change(&harmed)
	return document(harmed)
}

// missing leaves out runs, as if they had never been asked for.
func missing(clean verdict.Result, out func(verdict.Run) bool) ([]byte, error) {
	return harm(clean, func(r *verdict.Result) { r.Runs = slices.DeleteFunc(r.Runs, out) })
}

// renamed gives a site another name, everywhere.
func renamed(clean verdict.Result, site string) ([]byte, error) {
	return harm(clean, func(r *verdict.Result) {
		rename := func(name *string) {
			if *name == site {
				*name += "_renamed"
			}
		}
		for i := range r.Environment.Sites {
			rename(&r.Environment.Sites[i])
		}
		eachNode(r, func(n *verdict.Node) {
			for i := range n.Sites {
				rename(&n.Sites[i].Site)
			}
			for i := range n.Lines {
				rename(&n.Lines[i].Site)
			}
		})
	})
}

// deleted removes what a site counted on all nodes of one name, as if its calls
// were gone.
func deleted(clean verdict.Result, node, site string) ([]byte, error) {
	return harm(clean, func(r *verdict.Result) {
		eachNode(r, func(n *verdict.Node) {
			if n.Name == node {
				n.Sites = slices.DeleteFunc(n.Sites, func(s counters.SiteCounts) bool { return s.Site == site })
			}
		})
	})
}

// counting returns the node and site of all counts there are.
func counting(clean verdict.Result) (places [][2]string) {
	eachNode(&clean, func(n *verdict.Node) {
		for _, s := range n.Sites {
			if place := [2]string{n.Name, s.Site}; !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	})
	return places
}

// zeroed says of every node that it was counted and that nothing happened.
func zeroed(clean verdict.Result) ([]byte, error) {
	return harm(clean, func(r *verdict.Result) {
		eachNode(r, func(n *verdict.Node) { n.Sites, n.Lines = []counters.SiteCounts{}, nil })
	})
}

// untagged is what a build without the tag writes.
func untagged(clean verdict.Result) ([]byte, error) {
	return harm(clean, func(r *verdict.Result) {
		r.Environment.Counting, r.Environment.Tags, r.Environment.Sites = false, nil, nil
		eachNode(r, func(n *verdict.Node) { n.Sites, n.Lines = nil, nil })
	})
}

// untaggedZero is the document of a build without the tag that says 0 where n/a
// belongs. The project's own writer refuses it.
func untaggedZero(clean verdict.Result) ([]byte, error) {
	text, err := untagged(clean)
	if err != nil {
		return nil, err
	}
	zero := strings.ReplaceAll(string(text), `"sites": null,`+"\n          ", `"sites": [],`+"\n          ")
	if zero == string(text) || !json.Valid([]byte(zero)) {
		return nil, fmt.Errorf("selftest: no sites to say 0 of")
	}
	return []byte(zero), nil
}

func eachNode(r *verdict.Result, do func(*verdict.Node)) {
	for i := range r.Runs {
		for j := range r.Runs[i].Nodes {
			do(&r.Runs[i].Nodes[j])
		}
	}
}

// pathLossy is the path of a target that loses one message.
const pathLossy = "lossy"

// lossy is a pair of nodes one of whose messages gets lost on the way.
type lossy struct {
	bench.Target
	lost atomic.Bool
}

func newLossy() bench.Target {
	return &lossy{Target: bench.NewMacro(bench.NodeOptions{
		Reach: relay.ReachNode, Hash: message.Blake3, Archive: bench.DefaultArchive,
	})}
}

func (l *lossy) Publish(ctx context.Context, i int) error {
	if i == 0 {
		l.lost.Store(true)
		return nil
	}
	return l.Target.Publish(ctx, i)
}

func (l *lossy) Nodes(ctx context.Context) ([]verdict.Node, error) {
	return l.Target.(bench.Accountant).Nodes(ctx)
}

// Losses lets the driver give up at once instead of waiting for what never comes.
func (l *lossy) Losses() []string {
	if l.lost.Load() {
		return []string{"1 message was swallowed"}
	}
	return nil
}
