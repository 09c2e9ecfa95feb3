package storesync

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

var siteStoresync = counters.NewSite("storesync.storesync")

// Set is an ordered set of message keys. It is safe for concurrent use; the zero
// Set is empty. All methods but Keys take time in O(log n), for n keys.
type Set struct {
	mu    sync.RWMutex
	tree  tree
	taken uint64 // snapshots
}

// Add inserts the key of env's message, which it computes unless it is known,
// and leaves out an ephemeral message. Its error is env's.
func (s *Set) Add(_ context.Context, env *message.Envelope) error {
	if counters.Enabled {
		defer counters.Label(env.Counts(), siteStoresync).End()
	}
	m, err := env.Message(siteStoresync)
	if err != nil {
		return fmt.Errorf("storesync: add: %w", err)
	}
	if m.GetEphemeral() {
		return nil
	}
	k, err := env.Key(siteStoresync)
	if err != nil {
		return fmt.Errorf("storesync: add: %w", err)
	}
	s.Insert(k)
	return nil
}

// Insert adds k and returns true, or false if it was there.
func (s *Set) Insert(k message.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree.has(&k) {
		return false
	}
	if right := s.tree.insert(&k, s.epoch(), true); right.n > 0 {
		root := tree{epoch: s.epoch(), trees: append(make([]tree, 0, maxTrees), s.tree, right)}
		root.count()
		s.tree = root
	}
	return true
}

// Delete removes k and returns true, or false if it was not there.
func (s *Set) Delete(k message.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tree.has(&k) {
		return false
	}
	s.tree.remove(&k, s.epoch())
	for len(s.tree.trees) == 1 {
		s.tree = s.tree.trees[0]
	}
	return true
}

// epoch returns that in which the tree is changed now.
func (s *Set) epoch() uint64 { return s.taken + 1 }

// Has reports whether k is in the set.
func (s *Set) Has(k message.Key) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tree.has(&k)
}

// Len returns the number of keys.
func (s *Set) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tree.n
}

// Keys yields the keys that are in the set when the loop begins, in ascending
// order. The loop's body may change the set, as may others.
func (s *Set) Keys() iter.Seq[message.Key] {
	return func(yield func(message.Key) bool) {
		t := s.share()
		t.each(0, t.n, yield)
	}
}

// Snapshot returns the keys that are in the set now and of which the timestamp,
// in Unix nanoseconds, is from or later and before to; none before 1970, for
// which a [negentropy.Item] has no time. It copies nothing. After it, the parts of
// the set that change are copied once, each when it first does, in pieces of 5 KB.
func (s *Set) Snapshot(from, to int64) *Snapshot { return newSnapshot(s.share(), from, to) }

// share returns the tree, which stays as it is.
func (s *Set) share() tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken++
	return s.tree
}
