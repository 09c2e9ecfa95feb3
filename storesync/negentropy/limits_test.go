package negentropy

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestLimitsValidate(t *testing.T) {
	for _, n := range []int{0, MinFrameBytes, MinFrameBytes + 1} {
		if err := (Limits{FrameBytes: n}).Validate(); err != nil {
			t.Errorf("FrameBytes %d: %v", n, err)
		}
	}
	for _, n := range []int{100, MinFrameBytes - 1} {
		if _, err := NewResponder(&Vector{}, Limits{FrameBytes: n}); err == nil {
			t.Errorf("FrameBytes %d: no error", n)
		}
	}
	_, err := NewInitiator(&Vector{}, Limits{FrameBytes: -1, PeerFrameBytes: -1, PeerRanges: -1, PeerIDs: -1, Need: -1, Rounds: -1})
	for _, name := range []string{" FrameBytes", "PeerFrameBytes", "PeerRanges", "PeerIDs", "Need", "Rounds"} {
		if err == nil || !strings.Contains(err.Error(), name+" -1 is negative") {
			t.Errorf("%s is not in: %v", name, err)
		}
	}
}

// Each limit on a peer lets one less than it and itself pass, and one more not.
func TestLimits(t *testing.T) {
	const limit = 10
	ids := func(lists ...int) []byte { // lists of foreign ids
		w := newWriter()
		for i, n := range lists {
			w.idList(bound{Item: Item{Timestamp: uint64(100 + i)}}, vector(t, numbered(1000*(i+1), n)), 0, n)
		}
		return w.frame
	}
	ranges := func(n int) []byte {
		w := newWriter()
		for range n {
			w.skip(infinity)
		}
		return w.frame
	}
	for _, c := range []struct {
		name          string
		limits        Limits
		frame         func(n int) []byte
		initiatorOnly bool
	}{
		{"bytes", Limits{PeerFrameBytes: limit}, func(n int) []byte { return append(ranges(1), make([]byte, n-4)...) }, false},
		{"ranges", Limits{PeerRanges: limit}, ranges, false},
		{"ids", Limits{PeerIDs: limit}, func(n int) []byte { return ids(n) }, false},
		{"ids", Limits{PeerIDs: limit}, func(n int) []byte { return ids(3, n-3) }, false},
		{"ids in need", Limits{Need: limit}, func(n int) []byte { return ids(n-4, 4) }, true},
	} {
		for _, n := range []int{limit - 1, limit, limit + 1} {
			responder, initiator := bothSides(t, c.frame(n), c.limits)
			if want := n > limit; errors.Is(initiator, ErrLimit) != want || errors.Is(responder, ErrLimit) != (want && !c.initiatorOnly) {
				t.Errorf("%d %s, limit %d: responder %v, initiator %v", n, c.name, limit, responder, initiator)
			}
			if n > limit && !strings.Contains(initiator.Error(), " 11 "+c.name+", limit 10") {
				t.Errorf("error says %q", initiator)
			}
		}
	}
}

// A responder answers as many frames as it may; an initiator, as many as it may
// without an end.
func TestRounds(t *testing.T) {
	const limit = 10
	v := vector(t, numbered(0, 40))
	i, r := sides(t, v, v, Limits{Rounds: limit}, Limits{Rounds: limit})
	if _, err := i.Start(); err != nil {
		t.Fatal(err)
	}
	w := newWriter()
	w.fingerprint(infinity, Fingerprint{1}) // differs each time
	for round := 1; round <= limit+1; round++ {
		out, errR := r.Step(w.frame)
		_, diff, errI := i.Step(w.frame)
		if round <= limit && (out == nil || errR != nil || errI != nil) {
			t.Fatalf("round %d: %v, %v", round, errR, errI)
		}
		if round > limit && (!errors.Is(errR, ErrLimit) || !errors.Is(errI, ErrLimit)) {
			t.Fatalf("round %d: %v, %v", round, errR, errI)
		}
		if diff.Have != nil || diff.Need != nil {
			t.Fatalf("round %d: found %v", round, diff)
		}
	}
}

// Each id is reported once, however often the peer names it.
func TestReportedOnce(t *testing.T) {
	own, foreign := numbered(0, 3), numbered(50, 2)
	i, _ := sides(t, vector(t, own), vector(t, nil), Limits{Need: 2}, Limits{})
	if _, err := i.Start(); err != nil {
		t.Fatal(err)
	}
	w := newWriter()
	w.idList(bound{Item: Item{Timestamp: 10}}, vector(t, slices.Concat(own[:1], foreign)), 0, 3)
	w.idList(infinity, vector(t, foreign), 0, 2)
	w.fingerprint(infinity, Fingerprint{1}) // so that there is a next step
	_, diff, err := i.Step(w.frame)
	if err != nil {
		t.Fatal(err)
	}
	sameIDs(t, "have", diff.Have, minus(own[1:], nil))
	sameIDs(t, "need", diff.Need, minus(foreign, nil))
	if out, diff, err := i.Step(w.frame); out == nil || err != nil || len(diff.Have)+len(diff.Need) > 0 {
		t.Errorf("again: got %x, %v, %v", out, diff, err)
	}
}

// A step that fails reports nothing.
func TestNoDiffWithAnError(t *testing.T) {
	i, _ := sides(t, vector(t, numbered(0, 3)), vector(t, nil), Limits{}, Limits{})
	if _, err := i.Start(); err != nil {
		t.Fatal(err)
	}
	w := newWriter()
	w.idList(infinity, vector(t, numbered(50, 2)), 0, 2)
	if _, diff, err := i.Step(append(w.frame, 0)); err == nil || diff.Have != nil || diff.Need != nil {
		t.Errorf("got %v, %v", diff, err)
	}
}

// A full frame keeps, in the fingerprint that ends it, a range of which the peer
// said that it has nothing.
func TestFullFrameKeepsWhatThePeerLacks(t *testing.T) {
	const groups, each = 13, 40
	var items []Item
	for g := range groups {
		for k := range each {
			items = append(items, Item{Timestamp: uint64(g), ID: named("group", g*each+k)})
		}
	}
	set := vector(t, items)
	for _, theirs := range []struct {
		name string
		of   Fingerprint
		from int // first item of the last fingerprint
	}{
		{"none", Sum{}.Fingerprint(0), 12 * each},
		{"others", Fingerprint{1}, groups * each},
	} {
		w := newWriter()
		for g := 1; g < groups; g++ {
			w.fingerprint(bound{Item: Item{Timestamp: uint64(g)}}, Fingerprint{1})
		}
		w.fingerprint(infinity, theirs.of)
		_, r := sides(t, set, set, Limits{}, Limits{FrameBytes: MinFrameBytes})
		out, err := r.Step(w.frame)
		if err != nil {
			t.Fatal(err)
		}
		in := reader{frame: out, off: 1, limits: Limits{}.withDefaults()}
		var before, last span
		for in.more() {
			before = last
			if last, err = in.next(); err != nil {
				t.Fatal(err)
			}
		}
		if before.end != (bound{Item: Item{Timestamp: 12}}) || last.mode != modeFingerprint || last.end != infinity {
			t.Fatalf("%s: %d bytes end with %v, %v", theirs.name, len(out), before, last)
		}
		if want := set.Fingerprint(theirs.from, set.Len()); last.fingerprint != want {
			t.Errorf("%s: the last fingerprint is %x, want %x", theirs.name, last.fingerprint, want)
		}
	}
}

// Sets of which the last bucket is on one side only, and of which the frames of
// both sides end just before it: with a fingerprint of too little, its items
// would not be found.
func TestLastRangeDoesNotFit(t *testing.T) {
	const perPart, parts = 32, 16 // of each of 16 buckets
	for wide := 116; wide < 126; wide++ {
		for middle := range 4 {
			var a, b []Item
			now := uint64(1)
			for i := range perPart * parts * buckets {
				bucket, part := i/(perPart*parts), i/perPart%parts
				gap := uint64(1)
				switch n := (bucket-3)*parts + part; { // sets how long the bounds are
				case n >= 0 && n < wide:
					gap = 1000
				case n >= wide && n < wide+middle:
					gap = 100
				}
				now += gap
				item := Item{Timestamp: now, ID: named("part", i)}
				a = append(a, item)
				last := i%(perPart*parts) == perPart*parts-1
				if bucket < 3 || bucket < 15 && !last {
					b = append(b, item)
				}
			}
			limits := Limits{FrameBytes: MinFrameBytes}
			va, vb := vector(t, a), vector(t, b)
			there, back := reconcile(t, va, vb, limits, limits), reconcile(t, vb, va, limits, limits)
			sameIDs(t, "have", there.Have, minus(a, b))
			sameIDs(t, "need", back.Need, minus(a, b))
		}
	}
}
