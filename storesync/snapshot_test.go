package storesync

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

// Snapshots of a window that are taken and read by some while others insert and
// delete: each is one state of the set, and stays that.
func TestSnapshotsBesideChange(t *testing.T) {
	const window = 4000
	var s Set
	for i := range window {
		s.Insert(key(int64(2*i), 0))
	}
	done := make(chan struct{})
	var writers, readers sync.WaitGroup
	for w := range int64(2) {
		writers.Go(func() {
			for i := int64(0); ; i++ {
				select {
				case <-done:
					return
				default:
				}
				at := (i*7919%window)*4 + 2*w + 1
				s.Insert(key(at, 1))
				s.Insert(key(at, 2))
				s.Delete(key(at, 1))
				s.Delete(key(at, 2))
			}
		})
	}
	for r := range uint64(3) {
		readers.Go(func() {
			random := rand.New(rand.NewPCG(r, 0))
			for range 50 {
				from := random.Int64N(window)
				snapshot := s.Snapshot(from, from+window)
				checkState(t, snapshot, from, from+window)
			}
		})
	}
	readers.Wait()
	close(done)
	writers.Wait()
	checkTree(t, &s.tree)
}

// checkState fails unless all that a snapshot says is of one state, twice: each of
// the even timestamps from <= t < to below 8000, and at most two keys of either
// writer.
func checkState(t *testing.T, s *Snapshot, from, to int64) {
	t.Helper()
	first := slices.Collect(s.Keys())
	for range 2 {
		even, sum, at := 0, negentropy.Sum{}, 0
		for k := range s.Keys() {
			item := s.At(at)
			if k != first[at] || int64(item.Timestamp) != k.Timestamp || item.ID != k.Hash || s.Find(item) != at {
				t.Errorf("key %d is %v and was %v; item %v found at %d", at, k, first[at], item, s.Find(item))
				return
			}
			if k.Timestamp%2 == 0 {
				even++
			}
			at++
			sum.Add(&k.Hash)
		}
		want := int((min(to, 8000)+1)/2 - (from+1)/2)
		if at != s.Len() || even != want || at-even > 4 || s.Fingerprint(0, at) != sum.Fingerprint(at) {
			t.Errorf("%d keys of %d, %d of them even, want %d, and at most 4 others; or another fingerprint", at, s.Len(), even, want)
		}
	}
}

// A snapshot is a set of its own: an index outside it is not one of a neighbour.
func TestIndexOutsideASnapshot(t *testing.T) {
	s := setOf(randomKeys(1000))
	snapshot := s.Snapshot(100_000, 200_000)
	if snapshot.Len() != 100 {
		t.Fatalf("%d items, want 100", snapshot.Len())
	}
	for name, f := range map[string]func(){
		"At(-1)":              func() { snapshot.At(-1) },
		"At(100)":             func() { snapshot.At(100) },
		"Fingerprint(-1, 5)":  func() { snapshot.Fingerprint(-1, 5) },
		"Fingerprint(5, 4)":   func() { snapshot.Fingerprint(5, 4) },
		"Fingerprint(0, 101)": func() { snapshot.Fingerprint(0, 101) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}

// A loop over keys can end early, in any leaf.
func TestKeysEndEarly(t *testing.T) {
	keys := randomKeys(1000)
	s := setOf(keys)
	for _, n := range []int{1, maxKeys, maxKeys + 1, 700} {
		var got []message.Key
		for k := range s.Snapshot(0, math.MaxInt64).Keys() {
			if got = append(got, k); len(got) == n {
				break
			}
		}
		sameKeys(t, got, keys[:n])
	}
}

// allocated returns what f allocates, in bytes.
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// What a key costs to insert, and so at most what it takes: little more than its
// 40 bytes in ascending order. A snapshot costs a few leaves and branches.
func TestMemory(t *testing.T) {
	const n = 200_000
	keys := randomKeys(n)
	var s *Set
	if got := allocated(func() { s = setOf(keys) }) / n; got > 42 {
		t.Errorf("in ascending order: %.1f bytes a key", got)
	}
	if got := testing.AllocsPerRun(1000, func() {
		k := message.Key{Timestamp: n / 2 * 1000}
		s.Insert(k)
		s.Delete(k)
	}); got > 0 {
		t.Errorf("to insert and delete a key: %v allocations", got)
	}
	if got := testing.AllocsPerRun(1000, func() {
		snapshot := s.Snapshot(0, math.MaxInt64)
		snapshot.Fingerprint(n/3, n/2)
		snapshot.Find(snapshot.At(n / 5))
	}); got > 1 {
		t.Errorf("to take a snapshot and ask it: %v allocations", got)
	}
	next := int64(0)
	if got := testing.AllocsPerRun(1000, func() {
		s.Snapshot(0, math.MaxInt64)
		next += 7919
		s.Insert(message.Key{Timestamp: next*1000%n*1000 + 1})
	}); got > 6 {
		t.Errorf("to take a snapshot and insert a key: %v allocations", got)
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	if got := allocated(func() { s = setOf(keys) }) / n; got > 65 {
		t.Errorf("in random order: %.1f bytes a key", got)
	}
}
