// Package exceptions declares some.
package exceptions

import (
	"crypto/sha256"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
)

var site = counters.NewSite("exceptions.site")

// SameLine has one at its end.
func SameLine(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage)) //msgpath:uncounted runs once
}

// LineAbove has one above the statement, which has more lines than one.
func LineAbove(data []byte) [32]byte {
	//msgpath:uncounted runs once
	return sum(
		sha256.Sum256(
			data,
		),
	)
}

func sum(h [32]byte) [32]byte { return h }

// Above and beside: the comment of one line is not that of the next.
func Above(data []byte) {
	_ = proto.Unmarshal(data, new(pb.WakuMessage)) //msgpath:uncounted runs once
	_ = proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in Above`
}

// Whole is excepted as a function, and so are those who call it.
//
//msgpath:uncounted runs once
func Whole(data []byte) error {
	_ = sha256.Sum256(data)
	return proto.Unmarshal(data, new(pb.WakuMessage))
}

// Caller of Whole needs nothing.
func Caller(data []byte) error { return Whole(data) }

// Variable is excepted as a whole.
//
//msgpath:uncounted runs once
var Variable = func(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage))
}

// Reasonless has one that says nothing.
func Reasonless(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage)) /* want `exception without a reason` */ //msgpath:uncounted
}

// Stale has one that nothing needs any more.
func Stale(set counters.Set, data []byte) error {
	if counters.Enabled {
		counters.Decode(set, site, len(data))
	}
	return proto.Unmarshal(data, new(pb.WakuMessage)) /* want `exception that covers nothing` */ //msgpath:uncounted was not counted once
}

// Helper is covered by its caller, so that the exception is not needed.
func helper(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage)) /* want `exception that covers nothing` */ //msgpath:uncounted was not counted once
}

// Handle counts.
func Handle(set counters.Set, data []byte) error {
	if counters.Enabled {
		counters.Decode(set, site, len(data))
	}
	return helper(data)
}

func inner(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage)) //msgpath:uncounted runs once
}

// Outer needs none, since inner has one.
func Outer(data []byte) error {
	return inner(data) /* want `exception that covers nothing` */ //msgpath:uncounted runs once
}

func shared(data []byte) error { return proto.Unmarshal(data, new(pb.WakuMessage)) }

// AtCaller excepts one call of two.
func AtCaller(data []byte) error {
	return shared(data) //msgpath:uncounted runs once
}

// OtherCaller has none.
func OtherCaller(data []byte) error {
	return shared(data) // want `decode not counted: shared in OtherCaller`
}

//msgpath:uncountedly is another word
func other(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in other`
}
