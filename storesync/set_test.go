package storesync

import (
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
)

func key(timestamp int64, n int) message.Key {
	return message.Key{Timestamp: timestamp, Hash: message.Hash{byte(n >> 16), byte(n >> 8), byte(n)}}
}

func sorted(model map[message.Key]bool) []message.Key {
	return slices.SortedFunc(maps.Keys(model), message.Key.Compare)
}

// check fails unless s holds exactly the model, and its buckets are what find
// relies on.
func check(t rapid.TB, s *Set, model map[message.Key]bool) {
	t.Helper()
	if got, want := slices.Collect(s.Keys()), sorted(model); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if s.Len() != len(model) {
		t.Fatalf("Len is %d, want %d", s.Len(), len(model))
	}
	for i, b := range s.buckets {
		if len(b) == 0 || len(b) > maxBucket {
			t.Fatalf("bucket %d of %d holds %d keys", i, len(s.buckets), len(b))
		}
	}
}

func TestZeroSet(t *testing.T) {
	var s Set
	if s.Has(key(0, 0)) || s.Delete(key(0, 0)) {
		t.Fatal("the zero Set holds a key")
	}
	check(t, &s, nil)
}

// Random inserts and deletes, of few enough keys that many are there already,
// against a map.
func TestSetIsAMap(t *testing.T) {
	timestamps := rapid.SampledFrom([]int64{0, 1, -1, math.MinInt64, math.MaxInt64})
	rapid.Check(t, func(t *rapid.T) {
		var s Set
		model := make(map[message.Key]bool)
		run := rapid.IntRange(1, 150)
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				stamp, from, n := timestamps.Draw(t, "timestamp"), rapid.IntRange(0, 999).Draw(t, "from"), run.Draw(t, "n")
				for i := from; i < from+n; i++ {
					k := key(stamp, i*7919%1000) // in no order
					if s.Insert(k) == model[k] {
						t.Fatalf("insert %v returned %v", k, model[k])
					}
					model[k] = true
				}
			},
			"delete": func(t *rapid.T) {
				stamp, from, n := timestamps.Draw(t, "timestamp"), rapid.IntRange(0, 999).Draw(t, "from"), run.Draw(t, "n")
				for i := from; i < from+n; i++ {
					k := key(stamp, i%1000)
					if s.Has(k) != model[k] || s.Delete(k) != model[k] {
						t.Fatalf("has or delete of %v is not %v", k, model[k])
					}
					delete(model, k)
				}
			},
			"": func(t *rapid.T) { check(t, &s, model) },
		})
	})
}

// Inserting a known key and deleting an unknown one change nothing
// (waku-org/nwaku#3007).
func TestRepeatsChangeNothing(t *testing.T) {
	var s Set
	a, b := key(1, 1), key(1, 2)
	model := map[message.Key]bool{a: true}
	if !s.Insert(a) || s.Insert(a) || s.Delete(b) {
		t.Fatal("wrong answer")
	}
	check(t, &s, model)
	if !s.Delete(a) || s.Delete(a) {
		t.Fatal("wrong answer")
	}
	check(t, &s, nil)
}

// Keys in ascending order fill their buckets; deleting most of them joins what
// is left.
func TestBucketsAreUsed(t *testing.T) {
	var s Set
	model := make(map[message.Key]bool)
	for i := range 20 * maxBucket {
		s.Insert(key(int64(i), 0))
		model[key(int64(i), 0)] = true
	}
	check(t, &s, model)
	if len(s.buckets) != 20 {
		t.Errorf("%d buckets for 20 full ones", len(s.buckets))
	}
	for i := range 20 * maxBucket {
		if i%40 != 0 {
			s.Delete(key(int64(i), 0))
			delete(model, key(int64(i), 0))
		}
	}
	check(t, &s, model)
	if len(s.buckets) > 3 {
		t.Errorf("%d buckets for %d keys", len(s.buckets), s.Len())
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
