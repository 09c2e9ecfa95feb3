package storesync

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

var siteStoresync = counters.NewSite("storesync.storesync")

// Buckets are split when they hold maxBucket keys, 5 KiB, and joined with a
// neighbour when both fit into half of that.
const maxBucket = 128

// Set is an ordered set of message keys. It is safe for concurrent use; the zero
// Set is empty. To insert, find or delete a key takes time in O(log n), besides
// the move of the keys in one bucket and, once in maxBucket/2 times, of the list
// of buckets.
type Set struct {
	mu      sync.RWMutex
	buckets [][]message.Key // each sorted and not empty, in ascending order
	n       int
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
	if len(s.buckets) == 0 {
		s.buckets = append(s.buckets, make([]message.Key, 0, maxBucket))
	}
	b, i, ok := s.find(k)
	if ok {
		return false
	}
	if len(s.buckets[b]) == maxBucket {
		b, i = s.split(b, i)
	}
	s.buckets[b] = slices.Insert(s.buckets[b], i, k)
	s.n++
	return true
}

// Delete removes k and returns true, or false if it was not there.
func (s *Set) Delete(k message.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, i, ok := s.find(k)
	if !ok {
		return false
	}
	s.buckets[b] = slices.Delete(s.buckets[b], i, i+1)
	s.n--
	s.join(b)
	return true
}

// Has reports whether k is in the set.
func (s *Set) Has(k message.Key) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, _, ok := s.find(k)
	return ok
}

// Len returns the number of keys.
func (s *Set) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.n
}

// Keys yields the keys in ascending order, each once. The loop's body runs
// without a lock and may change the set, as may others: a key that is in the set
// from the loop's first to its last step is yielded; one that comes or goes
// meanwhile may be.
func (s *Set) Keys() iter.Seq[message.Key] {
	return func(yield func(message.Key) bool) {
		page := s.page(nil, nil)
		for len(page) > 0 {
			for _, k := range page {
				if !yield(k) {
					return
				}
			}
			last := page[len(page)-1]
			page = s.page(page[:0], &last)
		}
	}
}

// page appends to buf the keys above after, or from the first, that are in one
// bucket: at least one if there is any.
func (s *Set) page(buf []message.Key, after *message.Key) []message.Key {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.buckets) == 0 {
		return buf
	}
	if after == nil {
		return append(buf, s.buckets[0]...)
	}
	b, i, ok := s.find(*after)
	if ok {
		i++
	}
	if i == len(s.buckets[b]) {
		b, i = b+1, 0
	}
	if b == len(s.buckets) {
		return buf
	}
	return append(buf, s.buckets[b][i:]...)
}

// find returns where k is, or where it would be inserted: its bucket and its
// index there, which may be the bucket's length.
func (s *Set) find(k message.Key) (b, i int, ok bool) {
	if len(s.buckets) == 0 {
		return 0, 0, false
	}
	b, ok = slices.BinarySearchFunc(s.buckets, k, func(bucket []message.Key, k message.Key) int {
		if len(bucket) == 0 { // only the first of an empty set, in Insert
			return -1
		}
		return bucket[0].Compare(k)
	})
	if ok {
		return b, 0, true
	}
	b = max(b-1, 0) // the last bucket that begins below k
	i, ok = slices.BinarySearchFunc(s.buckets[b], k, message.Key.Compare)
	return b, i, ok
}

// split makes room at index i of the full bucket b, and returns where that now
// is. Keys mostly arrive in ascending order, so one behind the last bucket's end
// begins a bucket and leaves that one full.
func (s *Set) split(b, i int) (int, int) {
	at := maxBucket / 2
	if i == maxBucket && b == len(s.buckets)-1 {
		at = maxBucket
	}
	left := s.buckets[b]
	right := append(make([]message.Key, 0, maxBucket), left[at:]...)
	s.buckets[b] = left[:at]
	s.buckets = slices.Insert(s.buckets, b+1, right)
	if i > at || len(right) == 0 {
		return b + 1, i - at
	}
	return b, i
}

// join removes bucket b if it is empty, or moves the keys of a small neighbour
// into it.
func (s *Set) join(b int) {
	if len(s.buckets[b]) == 0 {
		s.buckets = slices.Delete(s.buckets, b, b+1)
		return
	}
	for _, left := range []int{b - 1, b} {
		if left < 0 || left+1 >= len(s.buckets) {
			continue
		}
		if len(s.buckets[left])+len(s.buckets[left+1]) <= maxBucket/2 {
			s.buckets[left] = append(s.buckets[left], s.buckets[left+1]...)
			s.buckets = slices.Delete(s.buckets, left+1, left+2)
			return
		}
	}
}
