package storesync

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

func key(timestamp int64, n int) message.Key {
	return message.Key{Timestamp: timestamp, Hash: message.Hash{byte(n >> 16), byte(n >> 8), byte(n)}}
}

// check fails unless s holds exactly the model, and its tree is as it must be.
func check(t rapid.TB, s *Set, model map[message.Key]bool) {
	t.Helper()
	sameKeys(t, slices.Collect(s.Keys()), slices.SortedFunc(maps.Keys(model), message.Key.Compare))
	if s.Len() != len(model) {
		t.Fatalf("Len is %d, want %d", s.Len(), len(model))
	}
	checkTree(t, &s.tree)
	if len(s.tree.trees) == 1 {
		t.Fatal("the root has one child")
	}
}

func sameKeys(t rapid.TB, got, want []message.Key) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("key %d is %v, want %v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("got %d keys, want %d", len(got), len(want))
	}
}

// checkTree fails unless all that a tree says of its parts is so, and returns its
// keys and height.
func checkTree(t rapid.TB, tr *tree) (keys []message.Key, height int) {
	t.Helper()
	if tr.size() > tr.most() || len(tr.keys) > 0 && len(tr.trees) > 0 {
		t.Fatalf("a tree of %d keys and %d trees", len(tr.keys), len(tr.trees))
	}
	keys = slices.Clone(tr.keys)
	for i := range tr.trees {
		part, h := checkTree(t, &tr.trees[i])
		if len(part) == 0 || height > 0 && h+1 != height {
			t.Fatalf("tree %d has %d keys and is %d high, another %d", i, len(part), h, height-1)
		}
		if low := tr.trees[i].low; i > 0 && (!less(&keys[len(keys)-1], &low) || less(&part[0], &low)) {
			t.Fatalf("low %v of tree %d does not separate %v and %v", low, i, keys[len(keys)-1], part[0])
		}
		keys, height = append(keys, part...), h+1
	}
	var sum negentropy.Sum
	for i := range keys {
		sum.Add(&keys[i].Hash)
	}
	if tr.n != len(keys) || tr.sum != sum {
		t.Fatalf("a tree of %d keys says %d, or another sum", len(keys), tr.n)
	}
	return keys, height
}

// kept is a snapshot and what it must hold.
type kept struct {
	*Snapshot
	keys []message.Key
	want *negentropy.Vector
}

// keep takes a snapshot.
func keep(t rapid.TB, s *Set, model map[message.Key]bool, from, to int64) kept {
	t.Helper()
	k := kept{Snapshot: s.Snapshot(from, to)}
	for key := range model {
		if from <= key.Timestamp && key.Timestamp < to && key.Timestamp >= 0 {
			k.keys = append(k.keys, key)
		}
	}
	slices.SortFunc(k.keys, message.Key.Compare)
	k.want = vector(t, k.keys)
	return k
}

func vector(t rapid.TB, keys []message.Key) *negentropy.Vector {
	t.Helper()
	var items []negentropy.Item
	for _, key := range keys {
		item, err := negentropy.ItemOf(key)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	v, err := negentropy.NewVector(items)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// check fails unless the snapshot holds what it must, and says the same of it as
// a vector, from one index to another and of one item.
func (k kept) check(t rapid.TB, from, to int, item negentropy.Item) {
	t.Helper()
	sameKeys(t, slices.Collect(k.Keys()), k.keys)
	if k.Len() != len(k.keys) {
		t.Fatalf("Len is %d, want %d", k.Len(), len(k.keys))
	}
	for i := from; i < to; i++ {
		if got, want := k.At(i), k.want.At(i); got != want {
			t.Fatalf("item %d is %v, want %v", i, got, want)
		}
	}
	if got, want := k.Fingerprint(from, to), k.want.Fingerprint(from, to); got != want {
		t.Fatalf("items %d to %d of %d: fingerprint %x, want %x", from, to, k.Len(), got, want)
	}
	if got, want := k.Find(item), k.want.Find(item); got != want {
		t.Fatalf("%d items are below %v, want %d", got, item, want)
	}
}

func TestZeroSet(t *testing.T) {
	var s Set
	if s.Has(key(0, 0)) || s.Delete(key(0, 0)) {
		t.Fatal("the zero Set holds a key")
	}
	keep(t, &s, nil, math.MinInt64, math.MaxInt64).check(t, 0, 0, negentropy.Item{Timestamp: 1})
	check(t, &s, nil)
}

// isAMap inserts and deletes at random, of few enough keys that many are there
// already, and takes snapshots, which stay as they are.
func isAMap(t *rapid.T) {
	var s Set
	model := make(map[message.Key]bool)
	var snapshots []kept
	timestamp := rapid.SampledFrom([]int64{0, 1, 2, -1, math.MinInt64, math.MaxInt64 - 1, math.MaxInt64})
	change := func(op func(t *rapid.T, k message.Key)) func(*rapid.T) {
		return func(t *rapid.T) {
			stamp, step := timestamp.Draw(t, "timestamp"), rapid.SampledFrom([]int{1, -1, 7919}).Draw(t, "step")
			from, n := rapid.IntRange(0, 499).Draw(t, "from"), rapid.IntRange(1, 500).Draw(t, "n")
			for i := range n {
				op(t, key(stamp, ((from+i*step)%500+500)%500))
			}
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"insert": change(func(t *rapid.T, k message.Key) {
			if s.Has(k) != model[k] || s.Insert(k) == model[k] {
				t.Fatalf("has or insert of %v is not %v", k, model[k])
			}
			model[k] = true
		}),
		"delete": change(func(t *rapid.T, k message.Key) {
			if s.Delete(k) != model[k] {
				t.Fatalf("delete of %v is not %v", k, model[k])
			}
			delete(model, k)
		}),
		"snapshot": func(t *rapid.T) {
			from, to := timestamp.Draw(t, "from"), timestamp.Draw(t, "to")
			snapshots = append(snapshots, keep(t, &s, model, from, to))
			snapshots = snapshots[max(len(snapshots)-4, 0):]
		},
		"": func(t *rapid.T) {
			check(t, &s, model)
			for _, k := range snapshots {
				from := rapid.IntRange(0, k.Len()).Draw(t, "from")
				to := rapid.IntRange(from, k.Len()).Draw(t, "to")
				stamp := rapid.SampledFrom([]uint64{0, 1, 2, 3, math.MaxInt64 - 1, math.MaxInt64, 1 << 63, negentropy.Infinity}).Draw(t, "stamp")
				k.check(t, from, to, negentropy.Item{Timestamp: stamp, ID: key(0, rapid.IntRange(0, 500).Draw(t, "id")).Hash})
			}
		},
	})
}

func TestSetIsAMap(t *testing.T) { rapid.Check(t, isAMap) }

func FuzzSetIsAMap(f *testing.F) {
	for seed := range byte(4) {
		f.Add(bytes.Repeat([]byte{seed, 3 * seed, 71 * seed, 0, 0, 0, 0, 0}, 500))
	}
	f.Fuzz(rapid.MakeFuzz(isAMap))
}

// Inserting a known key and deleting an unknown one change nothing
// (waku-org/nwaku#3007).
func TestRepeatsChangeNothing(t *testing.T) {
	var s Set
	fingerprint := func() negentropy.Fingerprint {
		all := s.Snapshot(0, math.MaxInt64)
		return all.Fingerprint(0, all.Len())
	}
	a, b := key(1, 1), key(1, 2)
	model := map[message.Key]bool{a: true}
	if !s.Insert(a) {
		t.Fatal("insert of a new key returned false")
	}
	before := fingerprint()
	if s.Insert(a) || s.Delete(b) || fingerprint() != before {
		t.Fatal("wrong answer, or another fingerprint")
	}
	check(t, &s, model)
	if !s.Insert(b) || fingerprint() == before || !s.Delete(b) || s.Delete(b) || fingerprint() != before {
		t.Fatal("wrong answer, or fingerprint")
	}
	if !s.Delete(a) || s.Delete(a) || fingerprint() != (negentropy.Sum{}).Fingerprint(0) {
		t.Fatal("wrong answer, or fingerprint")
	}
	check(t, &s, nil)
}

// leaves returns the number of leaves of a tree.
func leaves(t *tree) (n int) {
	for i := range t.trees {
		n += leaves(&t.trees[i])
	}
	return max(n, 1)
}

// Keys in ascending order fill their leaves; deleting most of them joins what is
// left, and deleting all from the first on leaves nothing.
func TestLeavesAreUsed(t *testing.T) {
	var s Set
	const n = 2 * maxTrees * maxKeys
	model := make(map[message.Key]bool)
	for i := range n {
		s.Insert(key(int64(i), 0))
		model[key(int64(i), 0)] = true
	}
	check(t, &s, model)
	if got := leaves(&s.tree); got != 2*maxTrees {
		t.Errorf("%d leaves for %d full ones", got, 2*maxTrees)
	}
	for i := range n {
		if i%40 != 0 {
			s.Delete(key(int64(i), 0))
			delete(model, key(int64(i), 0))
		}
	}
	check(t, &s, model)
	if got := leaves(&s.tree); got > len(model)/(maxKeys*3/8)+1 {
		t.Errorf("%d leaves for %d keys", got, s.Len())
	}
	for i := range n {
		s.Delete(key(int64(i), 0))
	}
	check(t, &s, nil)
	if s.tree.trees != nil {
		t.Error("an empty set is a branch")
	}
}

// Keys in descending order, all after the end of one full leaf, do not take a leaf
// each.
func TestDescendingBehindAFullLeaf(t *testing.T) {
	var s Set
	model := make(map[message.Key]bool)
	insert := func(k message.Key) {
		s.Insert(k)
		model[k] = true
	}
	for i := range 10 * maxKeys {
		insert(key(int64(i), 0))
	}
	for n := 5000; n > 0; n-- {
		insert(key(3*maxKeys-1, n))
	}
	check(t, &s, model)
	if got := leaves(&s.tree); got > 10+2*5000/maxKeys+2 {
		t.Errorf("%d leaves for %d keys", got, s.Len())
	}
}

// The first tree of a branch can come to hold keys below its low, which must not
// remain so once it has one to its left.
func TestJoinedBranches(t *testing.T) {
	var s Set
	model := make(map[message.Key]bool)
	for i := range 2 * maxTrees * maxKeys {
		s.Insert(key(int64(i), 0))
		model[key(int64(i), 0)] = true
	}
	remove := func(fromLeaf, toLeaf int) {
		for i := fromLeaf * maxKeys; i < toLeaf*maxKeys; i++ {
			s.Delete(key(int64(i), 0))
			delete(model, key(int64(i), 0))
		}
	}
	remove(maxTrees, maxTrees+1)
	again := key(maxTrees*maxKeys+5, 0)
	s.Insert(again)
	model[again] = true
	if second := s.tree.trees[1]; !less(&again, &second.trees[0].low) {
		t.Fatalf("the second branch begins with a low of %v", second.trees[0].low)
	}
	remove(5, maxTrees)
	remove(maxTrees+5, 2*maxTrees)
	check(t, &s, model)
	if s.tree.trees[0].trees != nil {
		t.Error("the branches were not joined")
	}
}

func TestKeysWhileTheBodyChangesTheSet(t *testing.T) {
	var s Set
	for i := range 1000 {
		s.Insert(key(int64(2*i), 0))
	}
	var got []message.Key
	for k := range s.Keys() {
		got = append(got, k)
		s.Delete(k)
		s.Insert(key(k.Timestamp-1, 1)) // behind the loop
	}
	if len(got) != 1000 || !slices.IsSortedFunc(got, message.Key.Compare) || s.Len() != 1000 {
		t.Fatalf("got %d keys, sorted %v; %d left", len(got), slices.IsSortedFunc(got, message.Key.Compare), s.Len())
	}
}

// Keys that stay are yielded, once and in order, beside others that come and go.
func TestKeysBesideChange(t *testing.T) {
	const stay = 2000
	var s Set
	for i := range stay {
		s.Insert(key(int64(3*i), 0))
	}
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for offset := range int64(2) {
		wait.Go(func() {
			for i := int64(0); ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				k := key(i*7919%stay*3+1+offset, 0)
				s.Insert(k)
				s.Delete(k)
			}
		})
	}
	for range 20 {
		stayed, last := 0, key(math.MinInt64, 0)
		for k := range s.Keys() {
			if k.Compare(last) <= 0 {
				t.Errorf("%v after %v", k, last)
			}
			if last = k; k.Timestamp%3 == 0 {
				stayed++
			}
		}
		if stayed != stay {
			t.Errorf("saw %d of the %d keys that stay", stayed, stay)
		}
	}
	close(stop)
	wait.Wait()
}

func TestAdd(t *testing.T) {
	counts := counters.New()
	wrap := func(m *pb.WakuMessage) *message.Envelope {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return message.Wrap(counts, message.Format{Decoder: message.Aliasing}, "topic", data)
	}
	m := &pb.WakuMessage{Payload: []byte("hello"), ContentTopic: "t", Timestamp: proto.Int64(7), Meta: []byte("m")}
	var s Set
	for range 2 {
		if err := s.Add(t.Context(), wrap(m)); err != nil {
			t.Fatal(err)
		}
	}
	check(t, &s, map[message.Key]bool{{Timestamp: 7, Hash: message.Blake3.Sum("topic", m)}: true})
	if counters.Enabled {
		got := counters.Load(counts)
		if len(got) != 1 || got[0].Site != "storesync.storesync" || got[0].Hashes != 2 || got[0].HashedBytes != 12 {
			t.Fatalf("counted %+v", got)
		}
	}
	if err := s.Add(t.Context(), wrap(&pb.WakuMessage{ContentTopic: "t", Ephemeral: proto.Bool(true)})); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), wrap(&pb.WakuMessage{})); err == nil {
		t.Fatal("a message without content topic was added")
	}
	if s.Len() != 1 {
		t.Fatalf("%d keys, want 1", s.Len())
	}
}
