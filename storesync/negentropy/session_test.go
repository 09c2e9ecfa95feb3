package negentropy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/message"
)

// named returns the id that is the digest of prefix and i.
func named(prefix string, i int) message.Hash {
	return sha256.Sum256(fmt.Appendf(nil, "%s%d", prefix, i))
}

// numbered returns items of consecutive timestamps from start on, of which the
// ids are named by the timestamps.
func numbered(start, n int) []Item {
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{Timestamp: uint64(start + i), ID: named("item", start+i)}
	}
	return items
}

func vector(t rapid.TB, items []Item) *Vector {
	t.Helper()
	v, err := NewVector(slices.Clone(items))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func sides(t rapid.TB, a, b Set, limitsA, limitsB Limits) (*Initiator, *Responder) {
	t.Helper()
	i, err := NewInitiator(a, limitsA)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewResponder(b, limitsB)
	if err != nil {
		t.Fatal(err)
	}
	return i, r
}

// transcript is a whole session: its frames, those of the initiator first, and
// all that was found.
type transcript struct {
	frames [][]byte
	Diff
}

func (s transcript) rounds() int { return len(s.frames) / 2 }

func (s transcript) bytes() (total, longest int) {
	for _, f := range s.frames {
		total += len(f)
		longest = max(longest, len(f))
	}
	return total, longest
}

// reconcile runs a session to its end, which the limits on rounds bound; and the
// same with snapshots of a storesync.Set, which must be equal to the byte.
func reconcile(t rapid.TB, a, b *Vector, limitsA, limitsB Limits) transcript {
	t.Helper()
	s := run(t, a, b, limitsA, limitsB)
	for _, v := range []*Vector{a, b} { // what a message.Key cannot be
		if n := v.Len(); n > 0 && v.At(n-1).Timestamp >= math.MaxInt64 {
			return s
		}
	}
	other := run(t, snapshot(a.items), snapshot(b.items), limitsA, limitsB)
	if !slices.EqualFunc(s.frames, other.frames, bytes.Equal) || !slices.Equal(s.Have, other.Have) || !slices.Equal(s.Need, other.Need) {
		t.Fatal("a session of snapshots differs from that of vectors")
	}
	return s
}

// snapshot makes a set of another kind; see SetSnapshot.
var snapshot func([]Item) Set

// SetSnapshot gives the tests a set that they cannot import.
func SetSnapshot(f func([]Item) Set) { snapshot = f }

func run(t rapid.TB, a, b Set, limitsA, limitsB Limits) transcript {
	t.Helper()
	i, r := sides(t, a, b, limitsA, limitsB)
	var s transcript
	frame, err := i.Start()
	for frame != nil && err == nil {
		s.frames = append(s.frames, frame)
		var answer []byte
		if answer, err = r.Step(frame); err != nil {
			break
		}
		s.frames = append(s.frames, answer)
		var diff Diff
		frame, diff, err = i.Step(answer)
		s.Have = append(s.Have, diff.Have...)
		s.Need = append(s.Need, diff.Need...)
	}
	if err != nil {
		t.Fatalf("after %d frames: %v", len(s.frames), err)
	}
	return s
}

func sortedIDs(ids []message.Hash) []message.Hash {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b message.Hash) int { return bytes.Compare(a[:], b[:]) })
	return ids
}

// minus returns the ids of the items of a that are not in b, in ascending order.
func minus(a, b []Item) []message.Hash {
	in := make(map[Item]bool, len(b))
	for _, item := range b {
		in[item] = true
	}
	var ids []message.Hash
	for _, item := range a {
		if !in[item] {
			ids = append(ids, item.ID)
		}
	}
	return sortedIDs(ids)
}

// sameIDs fails unless got holds each id of want, which is sorted, once.
func sameIDs(t rapid.TB, what string, got, want []message.Hash) {
	t.Helper()
	if !slices.Equal(sortedIDs(got), want) {
		t.Fatalf("%s: got %d ids, want %d, or others", what, len(got), len(want))
	}
}

// drawItems returns two sets of items with some in common.
func drawItems(t *rapid.T) (a, b []Item) {
	shared := rapid.SampledFrom([]int{0, 1, 31, 32, 33, 300, 1500}).Draw(t, "shared")
	own := rapid.SampledFrom([]int{0, 0, 1, 2, 31, 32, 33, 200, 600})
	onlyA, onlyB := own.Draw(t, "only a"), own.Draw(t, "only b")
	timestamps := rapid.SampledFrom([][]uint64{
		{0}, {1 << 63}, {Infinity - 1}, {0, 1 << 63, Infinity - 1}, {0, 1, 2, 3, 4, 5, 6, 7}, nil,
	}).Draw(t, "timestamps")
	prefix := rapid.SampledFrom([]int{0, 1, 16, 28}).Draw(t, "prefix")
	seed := rapid.Uint64().Draw(t, "seed")
	n := uint64(0)
	item := func() Item {
		n++
		id := sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, seed), n))
		it := Item{Timestamp: binary.BigEndian.Uint64(id[:]) >> (n % 60)} // of all sizes
		if it.Timestamp == Infinity {
			it.Timestamp--
		}
		if len(timestamps) > 0 {
			it.Timestamp = timestamps[int(id[8])%len(timestamps)]
		}
		clear(id[:prefix])
		binary.BigEndian.PutUint32(id[28:], uint32(n)) // unique
		it.ID = id
		return it
	}
	for range shared {
		a = append(a, item())
	}
	b = slices.Clone(a)
	for range onlyA {
		a = append(a, item())
	}
	for range onlyB {
		b = append(b, item())
	}
	return a, b
}

// Two sides find exactly what the other lacks, each once, whatever limits each
// has on its frames, and no frame exceeds its limit.
func TestDifference(t *testing.T) {
	frameBytes := rapid.SampledFrom([]int{0, MinFrameBytes, MinFrameBytes + 1, 3 * MinFrameBytes})
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawItems(t)
		limitsA := Limits{FrameBytes: frameBytes.Draw(t, "frame bytes of a"), Rounds: 100}
		limitsB := Limits{FrameBytes: frameBytes.Draw(t, "frame bytes of b"), Rounds: 100}
		s := reconcile(t, vector(t, a), vector(t, b), limitsA, limitsB)
		sameIDs(t, "have", s.Have, minus(a, b))
		sameIDs(t, "need", s.Need, minus(b, a))
		for i, f := range s.frames {
			limit := []int{limitsA.FrameBytes, limitsB.FrameBytes}[i%2]
			if limit > 0 && len(f) > limit {
				t.Fatalf("frame %d has %d bytes, limit %d", i, len(f), limit)
			}
		}
	})
}

func TestOrderOfCalls(t *testing.T) {
	v := vector(t, numbered(0, 3))
	i, r := sides(t, v, v, Limits{}, Limits{})
	if _, _, err := i.Step([]byte{version}); err == nil {
		t.Error("an initiator took a step before it started")
	}
	frame, err := i.Start()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Start(); err == nil {
		t.Error("an initiator started twice")
	}
	answer, err := r.Step(frame)
	if err != nil {
		t.Fatal(err)
	}
	if out, _, err := i.Step(answer); out != nil || err != nil {
		t.Errorf("got %x, %v, want the end", out, err)
	}
	if _, _, err := i.Step(answer); err == nil {
		t.Error("an initiator took a step after the end")
	}
}

// A session is over after an error, and keeps it.
func TestErrorStays(t *testing.T) {
	v := vector(t, nil)
	i, r := sides(t, v, v, Limits{}, Limits{})
	good, err := i.Start()
	if err != nil {
		t.Fatal(err)
	}
	_, first := r.Step(nil)
	if _, err := r.Step(good); !errors.Is(err, ErrMalformed) || err.Error() != first.Error() {
		t.Errorf("responder: got %v, want %v", err, first)
	}
	_, _, first = i.Step(nil)
	if _, _, err := i.Step(good); !errors.Is(err, ErrMalformed) || err.Error() != first.Error() {
		t.Errorf("initiator: got %v, want %v", err, first)
	}
}

func TestVersions(t *testing.T) {
	v := vector(t, numbered(0, 3))
	for b := range 256 {
		i, r := sides(t, v, v, Limits{}, Limits{})
		if _, err := i.Start(); err != nil {
			t.Fatal(err)
		}
		frame := []byte{byte(b), 0xff} // of another version, what follows means nothing
		if b == version {
			frame = frame[:1]
		}
		answer, errR := r.Step(frame)
		out, _, errI := i.Step(frame)
		switch {
		case b < 0x60 || b > 0x6f:
			if !errors.Is(errR, ErrMalformed) || !errors.Is(errI, ErrMalformed) {
				t.Errorf("%#x: responder %v, initiator %v", b, errR, errI)
			}
		case !bytes.Equal(answer, []byte{0x61}) || errR != nil:
			t.Errorf("%#x: responder answers %x, %v", b, answer, errR)
		case b == version && (out != nil || errI != nil):
			t.Errorf("%#x: initiator: %x, %v, want the end", b, out, errI)
		case b != version && !errors.Is(errI, ErrVersion):
			t.Errorf("%#x: initiator: %v", b, errI)
		}
	}
}
