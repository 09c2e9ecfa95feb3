// Package codec is called by others and counts nothing itself.
package codec

import (
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message/pb"
)

// Counted is covered: its one caller counts.
func Counted(data []byte) (*pb.WakuMessage, error) { return parse(data) }

// Half is covered in one caller only, which is where the other one is told.
func Half(data []byte) error { return proto.Unmarshal(data, new(pb.WakuMessage)) }

// Never has callers that do not count.
func Never(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in Never \(called from \(\*relay.Relay\).never\): count it with counters.Decode, or declare: //msgpath:uncounted reason`
}

// API is called by nobody that is known.
func API(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in API: count`
}

func parse(data []byte) (*pb.WakuMessage, error) {
	m := new(pb.WakuMessage)
	return m, proto.Unmarshal(data, m)
}
