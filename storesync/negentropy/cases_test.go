package negentropy

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/msgpath/msgpath/message"
)

// Ranges are split by number of items, so that differences that all sit in one
// millisecond, beside few others, take as few rounds as any.
func TestCrowdedTimestamps(t *testing.T) {
	const n = 10_000
	for name, timestamp := range map[string]func(i int) uint64{
		"one nanosecond":  func(int) uint64 { return 1e18 },
		"one millisecond": func(i int) uint64 { return 1e18 + uint64(i*100) },
		"a year":          func(i int) uint64 { return uint64(i) * 3e12 },
	} {
		items := make([]Item, n, n+2)
		for i := range items {
			items[i] = Item{Timestamp: timestamp(i), ID: named("crowd", i)}
		}
		items = append(items, Item{Timestamp: 0, ID: named("first", 0)}, Item{Timestamp: 1 << 62, ID: named("last", 0)})
		var a, b []Item
		for i, item := range items {
			if i%200 != 0 {
				a = append(a, item)
			}
			if i%200 != 100 {
				b = append(b, item)
			}
		}
		s := reconcile(t, vector(t, a), vector(t, b), Limits{}, Limits{})
		sameIDs(t, name, s.Have, minus(a, b))
		sameIDs(t, name, s.Need, minus(b, a))
		if s.rounds() > 3 { // each splits twice, and 16^3 buckets hold fewer than 32 items each
			t.Errorf("%s: %d rounds", name, s.rounds())
		}
	}
}

// Items that one side refuses are found again by each session, no others, and at
// no higher cost: a session ends, and remembering refusals is the caller's.
func TestRefusedItems(t *testing.T) {
	shared := numbered(0, 500)
	a, b := append(numbered(600, 20), shared...), append(numbered(700, 20), shared...)
	refusedByA, refusedByB := b[3], a[3]
	var before transcript
	for session := range 4 {
		s := reconcile(t, vector(t, a), vector(t, b), Limits{}, Limits{})
		if session == 0 {
			sameIDs(t, "need", s.Need, minus(b, a))
			sameIDs(t, "have", s.Have, minus(a, b))
			a, b = transfer(a, b, s.Need, refusedByA), transfer(b, a, s.Have, refusedByB)
			continue
		}
		sameIDs(t, "need", s.Need, []message.Hash{refusedByA.ID})
		sameIDs(t, "have", s.Have, []message.Hash{refusedByB.ID})
		if session > 1 && !slices.EqualFunc(s.frames, before.frames, bytes.Equal) {
			t.Error("the session differs from the one before")
		}
		before = s
	}
}

// transfer returns to with the items of from that have an id of ids, but one.
func transfer(to, from []Item, ids []message.Hash, but Item) []Item {
	to = slices.Clone(to)
	for _, item := range from {
		if slices.Contains(ids, item.ID) && item != but {
			to = append(to, item)
		}
	}
	return to
}

// An empty range, and ranges from a bound to itself, hold nothing.
func TestEmptyRanges(t *testing.T) {
	items := numbered(0, 100)
	for _, at := range []bound{{}, {Item: Item{Timestamp: 50}}, {Item: items[50], n: idSize}, infinity} {
		w := newWriter()
		w.skip(at)
		w.fingerprint(at, Sum{}.Fingerprint(0)) // equal
		w.idList(at, nil, 0, 0)                 // answered by none
		w.fingerprint(at, Fingerprint{1})       // differs, answered by none
		_, r := sides(t, vector(t, nil), vector(t, items), Limits{}, Limits{})
		got, err := r.Step(w.frame)
		want := newWriter()
		want.skip(at)
		want.idList(at, nil, 0, 0)
		want.idList(at, nil, 0, 0)
		if err != nil || !bytes.Equal(got, want.frame) {
			t.Errorf("at %v: got %x, %v, want %x", at, got, err, want.frame)
		}
	}
}

// Once each side has what the other had, under the message's own timestamp,
// nothing is left; under the time of receipt, the same ids go over the wire again
// in each session, although both fingerprints are equal.
func TestOwnTimestamps(t *testing.T) {
	a, b := numbered(0, 300), numbered(100, 300)
	s := reconcile(t, vector(t, a), vector(t, b), Limits{}, Limits{})
	a, b = transfer(a, b, s.Need, Item{}), transfer(b, a, s.Have, Item{})
	for range 2 {
		s = reconcile(t, vector(t, a), vector(t, b), Limits{}, Limits{})
		if total, _ := s.bytes(); len(s.Have)+len(s.Need) > 0 || s.rounds() != 1 || len(s.frames[1]) != 1 {
			t.Errorf("after transfer: %d rounds, %d bytes, %d and %d ids", s.rounds(), total, len(s.Have), len(s.Need))
		}
	}
	for i := range b {
		b[i].Timestamp++
	}
	va, vb := vector(t, a), vector(t, b)
	if va.Fingerprint(0, va.Len()) != vb.Fingerprint(0, vb.Len()) {
		t.Error("fingerprints depend on timestamps")
	}
	for range 2 {
		s = reconcile(t, va, vb, Limits{}, Limits{})
		if total, _ := s.bytes(); total < len(a)*idSize {
			t.Errorf("shifted: %d bytes", total)
		}
		sameIDs(t, "an id on either side", s.Have, sortedIDs(s.Need))
	}
}

// A side that reads and makes only small frames finishes a difference far larger
// than one, in either direction.
func TestLargeDifferenceInSmallFrames(t *testing.T) {
	limits := Limits{FrameBytes: MinFrameBytes, PeerFrameBytes: MinFrameBytes, Rounds: 60}
	items := numbered(0, 5000)
	for _, c := range [][2][]Item{{items, nil}, {nil, items}} {
		a, b := c[0], c[1]
		s := reconcile(t, vector(t, a), vector(t, b), limits, limits)
		sameIDs(t, "have", s.Have, minus(a, b))
		sameIDs(t, "need", s.Need, minus(b, a))
	}
}

func TestVector(t *testing.T) {
	items := numbered(0, 10)
	slices.Reverse(items)
	v, err := NewVector(items)
	if err != nil {
		t.Fatal(err)
	}
	for i, item := range numbered(0, 10) {
		if v.At(i) != item || v.Find(item) != i {
			t.Errorf("item %d is %v, found at %d", i, v.At(i), v.Find(item))
		}
	}
	for _, c := range []struct {
		at   Item
		want int
	}{
		{Item{}, 0},
		{Item{Timestamp: 5}, 5},
		{Item{Timestamp: 5, ID: message.Hash(slices.Repeat([]byte{0xff}, idSize))}, 6},
		{Item{Timestamp: 10}, 10},
		{Item{Timestamp: Infinity}, 10},
	} {
		if got := v.Find(c.at); got != c.want {
			t.Errorf("Find %v is %d, want %d", c.at, got, c.want)
		}
	}
	if _, err := NewVector(append(numbered(0, 10), items[4])); err == nil {
		t.Error("an item twice: no error")
	}
	if _, err := NewVector([]Item{{Timestamp: Infinity}}); err == nil {
		t.Error("an item at infinity: no error")
	}
	if _, err := NewVector([]Item{{Timestamp: 1}, {Timestamp: 2}}); err != nil {
		t.Errorf("an id at two timestamps: %v", err)
	}
}

func TestItemOf(t *testing.T) {
	for _, timestamp := range []int64{0, 1, math.MaxInt64} {
		k := message.Key{Timestamp: timestamp, Hash: message.Hash{1}}
		if got, err := ItemOf(k); err != nil || got != (Item{Timestamp: uint64(timestamp), ID: k.Hash}) {
			t.Errorf("%v: got %v, %v", k, got, err)
		}
	}
	for _, timestamp := range []int64{-1, math.MinInt64} {
		if got, err := ItemOf(message.Key{Timestamp: timestamp}); err == nil {
			t.Errorf("%d: got %v", timestamp, got)
		}
	}
}
