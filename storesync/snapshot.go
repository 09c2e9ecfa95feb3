package storesync

import (
	"fmt"
	"iter"
	"math"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

var _ negentropy.Set = (*Snapshot)(nil)

// Snapshot is what a [Set] held at one moment in a range of time, as the items of
// a [negentropy.Set]. It never changes and is safe for concurrent use. Each
// method but Keys takes time in O(log n) of the whole set, and Len none. Keys
// that are deleted from the set since take memory for as long as the snapshot is
// in use.
type Snapshot struct {
	tree tree
	from int // index of the first item in the tree
	n    int
}

// newSnapshot returns what t holds from one timestamp to before another.
func newSnapshot(t tree, from, to int64) *Snapshot {
	lower := t.rank(&message.Key{Timestamp: max(from, 0)})
	upper := t.rank(&message.Key{Timestamp: max(to, 0)})
	return &Snapshot{tree: t, from: lower, n: max(upper-lower, 0)}
}

// Len returns the number of items.
func (s *Snapshot) Len() int { return s.n }

// At returns the i-th item, from 0.
func (s *Snapshot) At(i int) negentropy.Item {
	if i < 0 || i >= s.n {
		panic(fmt.Sprintf("storesync: item %d of %d", i, s.n))
	}
	k := s.tree.at(s.from + i)
	return negentropy.Item{Timestamp: uint64(k.Timestamp), ID: k.Hash}
}

// Find returns the number of items below b, which need not be an item.
func (s *Snapshot) Find(b negentropy.Item) int {
	if b.Timestamp > math.MaxInt64 {
		return s.n
	}
	i := s.tree.rank(&message.Key{Timestamp: int64(b.Timestamp), Hash: b.ID}) - s.from
	return min(max(i, 0), s.n)
}

// Fingerprint returns the fingerprint of the items from <= i < to.
func (s *Snapshot) Fingerprint(from, to int) negentropy.Fingerprint {
	if from < 0 || from > to || to > s.n {
		panic(fmt.Sprintf("storesync: items %d to %d of %d", from, to, s.n))
	}
	var sum negentropy.Sum
	s.tree.addTo(&sum, s.from+from, s.from+to)
	return sum.Fingerprint(to - from)
}

// Keys yields the keys of the items in ascending order.
func (s *Snapshot) Keys() iter.Seq[message.Key] {
	return func(yield func(message.Key) bool) { s.tree.each(s.from, s.from+s.n, yield) }
}
