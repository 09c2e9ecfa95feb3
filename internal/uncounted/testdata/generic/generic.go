// Package generic has type parameters.
package generic

import (
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
)

var site = counters.NewSite("generic.site")

// Half is covered in one of two callers.
func Half[M proto.Message](data []byte, m M) error { return proto.Unmarshal(data, m) }

// Bare is covered in none.
func Bare[M proto.Message](data []byte, m M) error {
	return proto.Unmarshal(data, m) // want `decode not counted: proto.Unmarshal in Bare \(called from Peek\)`
}

// A Box has methods.
type Box[M proto.Message] struct{ m M }

// Fill is covered by Handle.
func (b *Box[M]) Fill(data []byte) error { return proto.Unmarshal(data, b.m) }

// VT is a message with a method of its own.
type VT interface {
	proto.Message
	UnmarshalVT([]byte) error
}

// FillVT calls a method of a type parameter.
func FillVT[M VT](data []byte, m M) error {
	return m.UnmarshalVT(data) // want `decode not counted: VT.UnmarshalVT in FillVT`
}

// Handle counts.
func Handle(set counters.Set, data []byte) {
	_ = Half(data, new(pb.WakuMessage))
	_ = (&Box[*pb.WakuMessage]{m: new(pb.WakuMessage)}).Fill(data)
	if counters.Enabled {
		counters.Decode(set, site, len(data))
	}
}

// Peek does not.
func Peek(data []byte) {
	_ = Half[*pb.WakuMessage](data, new(pb.WakuMessage)) // want `decode not counted: Half in Peek`
	_ = Bare(data, new(pb.WakuMessage))
}
