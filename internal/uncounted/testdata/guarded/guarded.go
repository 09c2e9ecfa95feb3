// Package guarded counts in every way that package counters allows.
package guarded

import (
	"crypto/sha256"

	"google.golang.org/protobuf/proto"

	c "github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
)

var site = c.NewSite("guarded.site")

// ID counts as a gossip id.
func ID(set c.Set, data []byte) [32]byte {
	if len(data) > 0 && c.Enabled {
		c.IDHash(set, site, len(data))
	}
	return sha256.Sum256(data)
}

// Encode counts before and after.
func Encode(set c.Set, m *pb.WakuMessage) ([]byte, error) {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	if c.Enabled {
		c.Encode(set, site, len(data))
		c.Copy(set, site, len(m.GetPayload()))
	}
	return append([]byte(nil), m.GetPayload()...), nil
}

// Wrong counts a decode where it hashes, and reads counts where it decodes.
func Wrong(set c.Set, data []byte) [32]byte {
	if c.Enabled {
		c.Decode(set, site, len(data))
	}
	return sha256.Sum256(data) // want `hash not counted: sha256.Sum256 in Wrong: count it with counters.Hash or counters.IDHash`
}

// Reads only reads counts.
func Reads(set c.Set, data []byte) error {
	_ = c.Load(set)
	return proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted`
}

// counter counts and does nothing, so that its callers count.
func counter(set c.Set, n int) {
	if c.Enabled {
		c.Decode(set, site, n)
	}
}

func outerCounter(set c.Set, n int) { counter(set, n) }

// Wrapped counts by a function of its own.
func Wrapped(set c.Set, data []byte) error {
	outerCounter(set, len(data))
	return decode(data)
}

func decode(data []byte) error { return proto.Unmarshal(data, new(pb.WakuMessage)) }

// Twice decodes once more than what it calls counts.
func Twice(set c.Set, data []byte) error {
	if err := Wrapped(set, data); err != nil {
		return err
	}
	return proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in Twice`
}

// Recursive has no caller but itself.
func Recursive(n int, data []byte) {
	if n > 0 {
		_ = proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in Recursive`
		Recursive(n-1, data)
	}
}

func even(n int, data []byte) {
	if n > 0 {
		odd(n-1, data)
	}
}

func odd(n int, data []byte) {
	_ = proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in odd \(called from even\)`
	even(n-1, data)
}

// decodes counts a copy too, which google's decoder makes, and is no counter.
func decodes(set c.Set, data []byte) (*pb.WakuMessage, error) {
	if c.Enabled {
		c.Decode(set, site, len(data))
		c.Copy(set, site, len(data))
	}
	m := new(pb.WakuMessage)
	return m, proto.Unmarshal(data, m)
}

// Copies makes another copy.
func Copies(set c.Set, data []byte) []byte {
	m, _ := decodes(set, data)
	return append([]byte(nil), m.Payload...) // want `copy not counted: append of m.Payload in Copies`
}
