package storesync

import (
	"bytes"
	"slices"
	"sort"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

// Both make slices of just under 4,864 bytes, a size in which Go allocates.
const (
	maxKeys  = 121
	maxTrees = 35
)

// tree is a B+tree of keys: a leaf, which holds them in ascending order, or a
// branch of other trees, all of one height. It is a value, and a copy shares its
// slice. A slice is changed only in the epoch that made it, and each snapshot
// begins an epoch: so what a snapshot holds stays as it is, and a slice is copied
// once after a snapshot, when it is next changed.
type tree struct {
	low   message.Key    // at most the first key, and above those of the tree to the left
	n     int            // number of keys
	sum   negentropy.Sum // of their hashes
	epoch uint64         // that made the slice; 0: there is none
	keys  []message.Key  // of a leaf
	trees []tree         // of a branch: not empty, nor is one of them
}

// own makes the slice one of the epoch.
func (t *tree) own(epoch uint64) {
	if t.epoch == epoch {
		return
	}
	t.epoch = epoch
	if t.trees == nil {
		t.keys = append(make([]message.Key, 0, maxKeys), t.keys...)
	} else {
		t.trees = append(make([]tree, 0, maxTrees), t.trees...)
	}
}

// less reports whether a sorts before b.
func less(a, b *message.Key) bool {
	if a.Timestamp != b.Timestamp {
		return a.Timestamp < b.Timestamp
	}
	return bytes.Compare(a.Hash[:], b.Hash[:]) < 0
}

// search returns the number of a leaf's keys below k.
func (t *tree) search(k *message.Key) int {
	return sort.Search(len(t.keys), func(i int) bool { return !less(&t.keys[i], k) })
}

// child returns the index of the tree of a branch where k belongs.
func (t *tree) child(k *message.Key) int {
	return sort.Search(len(t.trees)-1, func(i int) bool { return less(k, &t.trees[i+1].low) })
}

// has reports whether k is in t.
func (t *tree) has(k *message.Key) bool {
	for t.trees != nil {
		t = &t.trees[t.child(k)]
	}
	i := t.search(k)
	return i < len(t.keys) && t.keys[i] == *k
}

// rank returns the number of keys below k.
func (t *tree) rank(k *message.Key) int {
	below := 0
	for t.trees != nil {
		c := t.child(k)
		for i := range c {
			below += t.trees[i].n
		}
		t = &t.trees[c]
	}
	return below + t.search(k)
}

// at returns the i-th key.
func (t *tree) at(i int) *message.Key {
	for t.trees != nil {
		c := 0
		for ; i >= t.trees[c].n; c++ {
			i -= t.trees[c].n
		}
		t = &t.trees[c]
	}
	return &t.keys[i]
}

// addTo adds to sum the hashes of the keys from <= i < to.
func (t *tree) addTo(sum *negentropy.Sum, from, to int) {
	from, to = max(from, 0), min(to, t.n)
	switch {
	case from >= to:
	case to-from == t.n:
		sum.Merge(t.sum)
	case t.trees == nil:
		for i := from; i < to; i++ {
			sum.Add(&t.keys[i].Hash)
		}
	default:
		for i := 0; to > 0; i++ {
			c := &t.trees[i]
			c.addTo(sum, from, to)
			from, to = from-c.n, to-c.n
		}
	}
}

// each yields the keys from <= i < to, and returns false if yield did.
func (t *tree) each(from, to int, yield func(message.Key) bool) bool {
	from, to = max(from, 0), min(to, t.n)
	if from >= to {
		return true
	}
	if t.trees == nil {
		for _, k := range t.keys[from:to] {
			if !yield(k) {
				return false
			}
		}
		return true
	}
	for i := 0; to > 0; i++ {
		c := &t.trees[i]
		if !c.each(from, to, yield) {
			return false
		}
		from, to = from-c.n, to-c.n
	}
	return true
}

// insert adds k, which is not in t. If t is full, it is split, and what is to the
// right of it from then on is returned. last says that t is the last of its height.
func (t *tree) insert(k *message.Key, epoch uint64, last bool) (right tree) {
	t.own(epoch)
	t.n++
	t.sum.Add(&k.Hash)
	if t.trees == nil {
		t.keys, right.keys = insertAt(t.keys, t.search(k), *k, maxKeys, last)
		if right.keys == nil {
			return tree{}
		}
		right.low = right.keys[0]
	} else {
		i := t.child(k)
		split := t.trees[i].insert(k, epoch, last && i == len(t.trees)-1)
		if split.n == 0 {
			return tree{}
		}
		t.trees, right.trees = insertAt(t.trees, i+1, split, maxTrees, last)
		if right.trees == nil {
			return tree{}
		}
		right.low = right.trees[0].low
	}
	right.epoch = epoch
	t.count()
	right.count()
	return right
}

// insertAt inserts v at i into s, and moves a half of s into another slice if s
// holds most. Keys mostly arrive in ascending order: of the last slice, one at
// its end begins the other and leaves s full.
func insertAt[T any](s []T, i int, v T, most int, last bool) (left, right []T) {
	if len(s) < most {
		return slices.Insert(s, i, v), nil
	}
	at := most / 2
	if last && i == most {
		at = most
	}
	right = append(make([]T, 0, most), s[at:]...)
	clear(s[at:])
	if left = s[:at]; i < at {
		return slices.Insert(left, i, v), right
	}
	return left, slices.Insert(right, i-at, v)
}

// remove deletes k, which is in t.
func (t *tree) remove(k *message.Key, epoch uint64) {
	t.own(epoch)
	t.n--
	t.sum.Remove(&k.Hash)
	if t.trees == nil {
		i := t.search(k)
		t.keys = slices.Delete(t.keys, i, i+1)
		return
	}
	i := t.child(k)
	t.trees[i].remove(k, epoch)
	if t.trees[i].n == 0 {
		t.trees = slices.Delete(t.trees, i, i+1)
		return
	}
	t.join(max(i-1, 0), epoch)
	t.join(i, epoch)
}

// join moves what is in a branch's tree i+1 into tree i if that leaves room for
// others.
func (t *tree) join(i int, epoch uint64) {
	if i+1 >= len(t.trees) {
		return
	}
	left, right := &t.trees[i], &t.trees[i+1]
	if left.size()+right.size() > left.most()*3/4 {
		return
	}
	left.own(epoch)
	if left.trees == nil {
		left.keys = append(left.keys, right.keys...)
	} else {
		first := len(left.trees)
		left.trees = append(left.trees, right.trees...)
		left.trees[first].low = right.low // its own can be above its first key: nothing was to the left
	}
	left.n += right.n
	left.sum.Merge(right.sum)
	t.trees = slices.Delete(t.trees, i+1, i+2)
}

// size returns the length of the slice.
func (t *tree) size() int { return len(t.keys) + len(t.trees) }

// most returns the most that the slice holds.
func (t *tree) most() int {
	if t.trees == nil {
		return maxKeys
	}
	return maxTrees
}

// count computes n and sum.
func (t *tree) count() {
	t.n, t.sum = len(t.keys), negentropy.Sum{}
	for i := range t.keys {
		t.sum.Add(&t.keys[i].Hash)
	}
	for i := range t.trees {
		t.n += t.trees[i].n
		t.sum.Merge(t.trees[i].sum)
	}
}
