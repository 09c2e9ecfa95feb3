package filter

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// table is who is subscribed to what. It has no lock and no clock of its own.
type table struct {
	maxPeers, maxTopics int

	peers map[peer.ID]*subscriber
	by    map[pair]map[*subscriber]bool // no entry is empty
}

// subscriber is one peer in the table.
type subscriber struct {
	peer      peer.ID
	pairs     map[pair]bool // not empty, once it is in the table
	refreshed time.Time     // when it last subscribed or pinged

	queue chan *frame
	end   context.CancelFunc // of its goroutine
}

func newTable(maxPeers, maxTopics int) table {
	return table{
		maxPeers: maxPeers, maxTopics: maxTopics,
		peers: make(map[peer.ID]*subscriber), by: make(map[pair]map[*subscriber]bool),
	}
}

// room says why sub cannot have all pairs too, nil if it can.
func (t *table) room(sub *subscriber, pairs []pair) error {
	if t.peers[sub.peer] == nil && len(t.peers) >= t.maxPeers {
		return fmt.Errorf("%d peers are subscribed", len(t.peers))
	}
	more := make(map[pair]bool)
	for _, p := range pairs {
		if !sub.pairs[p] {
			more[p] = true
		}
	}
	if n := len(sub.pairs) + len(more); n > t.maxTopics {
		return fmt.Errorf("that were %d topics of one peer, at most %d", n, t.maxTopics)
	}
	return nil
}

// add subscribes sub, for which there is room, to pairs too.
func (t *table) add(sub *subscriber, pairs []pair) {
	t.peers[sub.peer] = sub
	for _, p := range pairs {
		sub.pairs[p] = true
		if t.by[p] == nil {
			t.by[p] = make(map[*subscriber]bool)
		}
		t.by[p][sub] = true
	}
}

// cut unsubscribes sub from pairs, and returns from how many. One that is left
// with none is to be removed.
func (t *table) cut(sub *subscriber, pairs []pair) (n int) {
	for _, p := range pairs {
		if !sub.pairs[p] {
			continue
		}
		n++
		delete(sub.pairs, p)
		if delete(t.by[p], sub); len(t.by[p]) == 0 {
			delete(t.by, p)
		}
	}
	return n
}

// remove takes sub out, and reports whether it was in.
func (t *table) remove(sub *subscriber) bool {
	if t.peers[sub.peer] != sub {
		return false
	}
	for p := range sub.pairs {
		t.cut(sub, []pair{p})
	}
	delete(t.peers, sub.peer)
	return true
}
