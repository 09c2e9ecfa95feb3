//go:build msgpathcounters

package counters

import (
	"context"
	"runtime/pprof"
	"sync/atomic"
)

// labelling is whether labels are put on goroutines: while a profile is taken.
var labelling atomic.Bool

// labels are those of a node, made at their first use.
type labels struct {
	name  atomic.Pointer[string]
	sites [maxSites]atomic.Pointer[context.Context]
}

// of returns a context with the labels of a site. They are made of the name that
// the node has at their first use.
func (l *labels) of(site Site) context.Context {
	at := &l.sites[site.index]
	if made := at.Load(); made != nil {
		return *made
	}
	name := "?"
	if given := l.name.Load(); given != nil {
		name = *given
	}
	made := pprof.WithLabels(context.Background(), pprof.Labels("site", siteNames()[site.index], "node", name))
	at.Store(&made)
	return made
}

// rename gives the node another name, which labels made from now on have.
func (l *labels) rename(name string) {
	l.name.Store(&name)
	for i := range l.sites {
		l.sites[i].Store(nil)
	}
}
