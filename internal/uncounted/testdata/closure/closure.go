// Package closure has literals.
package closure

import (
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
)

var site = counters.NewSite("closure.site")

// Handlers: a handler does not count for the one beside it.
func Handlers(set counters.Set, register func(func([]byte))) {
	register(func(data []byte) {
		_ = proto.Unmarshal(data, new(pb.WakuMessage))
		if counters.Enabled {
			counters.Decode(set, site, len(data))
		}
	})
	register(func(data []byte) {
		_ = proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in Handlers`
	})
}

// Maker counts in the literal that decodes.
func Maker(set counters.Set) func([]byte) error {
	return func(data []byte) error {
		defer func() {
			if counters.Enabled {
				counters.Decode(set, site, len(data))
			}
		}()
		return proto.Unmarshal(data, new(pb.WakuMessage))
	}
}

// Local has a literal with a name, called by another one that counts.
func Local(set counters.Set, register func(func([]byte))) {
	decode := func(data []byte) error { return proto.Unmarshal(data, new(pb.WakuMessage)) }
	register(func(data []byte) {
		_ = decode(data)
		if counters.Enabled {
			counters.Decode(set, site, len(data))
		}
	})
}

// Goroutine has a literal that runs at once, and nobody counts.
func Goroutine(data []byte) {
	go func() {
		_ = proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in Goroutine`
	}()
}

// Kept is a field: who calls it is not known.
type Kept struct{ handle func([]byte) error }

// Keep counts nothing.
func (k *Kept) Keep() {
	k.handle = func(data []byte) error {
		return proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in \(\*Kept\).Keep`
	}
}

var handle = func(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in variable handle`
}

// Handle calls a variable.
func Handle(data []byte) error { return handle(data) }
