package negentropy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/msgpath/msgpath/message"
)

// Infinity is the timestamp above all others. No item has it.
const Infinity uint64 = math.MaxUint64

// Item is one element of a set.
type Item struct {
	Timestamp uint64 // Unix time in nanoseconds
	ID        message.Hash
}

// ItemOf returns the item of a message. The wire has no times before 1970: a
// negative timestamp is an error.
func ItemOf(k message.Key) (Item, error) {
	if k.Timestamp < 0 {
		return Item{}, fmt.Errorf("negentropy: make item: timestamp %d is negative", k.Timestamp)
	}
	return Item{Timestamp: uint64(k.Timestamp), ID: k.Hash}, nil
}

// Compare returns -1, 0 or +1 as a sorts before, with or after b.
func (a Item) Compare(b Item) int {
	return cmp.Or(cmp.Compare(a.Timestamp, b.Timestamp), bytes.Compare(a.ID[:], b.ID[:]))
}

// Set is a set of items in ascending order. It does not change while a session
// uses it.
type Set interface {
	// Len returns the number of items.
	Len() int
	// At returns the i-th item, from 0.
	At(i int) Item
	// Find returns the number of items below b, which need not be an item.
	Find(b Item) int
	// Fingerprint returns the fingerprint of the items from <= i < to.
	Fingerprint(from, to int) Fingerprint
}

// Fingerprint is a digest of the ids of some items.
type Fingerprint [16]byte

// Sum is the sum of ids, as little-endian numbers, modulo 2^256. The zero Sum is
// that of no ids. Sums of parts can be kept and added up, in any order.
type Sum [4]uint64 // least significant first

// Add adds an id.
func (s *Sum) Add(id *message.Hash) {
	var c uint64
	s[0], c = bits.Add64(s[0], binary.LittleEndian.Uint64(id[0:]), 0)
	s[1], c = bits.Add64(s[1], binary.LittleEndian.Uint64(id[8:]), c)
	s[2], c = bits.Add64(s[2], binary.LittleEndian.Uint64(id[16:]), c)
	s[3], _ = bits.Add64(s[3], binary.LittleEndian.Uint64(id[24:]), c)
}

// Remove takes an id off.
func (s *Sum) Remove(id *message.Hash) {
	var b uint64
	s[0], b = bits.Sub64(s[0], binary.LittleEndian.Uint64(id[0:]), 0)
	s[1], b = bits.Sub64(s[1], binary.LittleEndian.Uint64(id[8:]), b)
	s[2], b = bits.Sub64(s[2], binary.LittleEndian.Uint64(id[16:]), b)
	s[3], _ = bits.Sub64(s[3], binary.LittleEndian.Uint64(id[24:]), b)
}

// Merge adds another sum.
func (s *Sum) Merge(o Sum) {
	var c uint64
	for i := range s {
		s[i], c = bits.Add64(s[i], o[i], c)
	}
}

// Fingerprint returns the fingerprint of n ids of which s is the sum.
func (s Sum) Fingerprint(n int) Fingerprint {
	var buf [4*8 + maxVarint]byte
	b := buf[:0]
	for _, word := range s {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	b = appendVarint(b, uint64(n))
	digest := sha256.Sum256(b) //msgpath:uncounted hashes a sum of ids, no message
	return Fingerprint(digest[:])
}

// Vector is a [Set] in memory, of 40 bytes for each item. It is safe for
// concurrent use.
type Vector struct {
	items []Item
}

// NewVector returns the set of the items, which it sorts in place and keeps. Two
// equal items, and one at [Infinity], are errors.
func NewVector(items []Item) (*Vector, error) {
	if !slices.IsSortedFunc(items, Item.Compare) {
		slices.SortFunc(items, Item.Compare)
	}
	for i := 1; i < len(items); i++ {
		if items[i] == items[i-1] {
			return nil, fmt.Errorf("negentropy: make set: two items of timestamp %d and id %x", items[i].Timestamp, items[i].ID)
		}
	}
	if n := len(items); n > 0 && items[n-1].Timestamp == Infinity {
		return nil, fmt.Errorf("negentropy: make set: id %x is at infinity", items[n-1].ID)
	}
	return &Vector{items: items}, nil
}

// Len returns the number of items.
func (v *Vector) Len() int { return len(v.items) }

// At returns the i-th item, from 0.
func (v *Vector) At(i int) Item { return v.items[i] }

// Find returns the number of items below b, in time O(log n).
func (v *Vector) Find(b Item) int {
	i, _ := slices.BinarySearchFunc(v.items, b, Item.Compare)
	return i
}

// Fingerprint returns the fingerprint of the items from <= i < to, in time
// O(to-from).
func (v *Vector) Fingerprint(from, to int) Fingerprint {
	var s Sum
	for i := from; i < to; i++ {
		s.Add(&v.items[i].ID)
	}
	return s.Fingerprint(to - from)
}
