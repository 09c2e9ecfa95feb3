// Package interfaces calls methods through interfaces.
package interfaces

import (
	"io"

	"github.com/zeebo/blake3"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
)

var site = counters.NewSite("interfaces.site")

// A Codec decodes; who calls it counts.
type Codec interface{ Parse([]byte) error }

type google struct{}

func (google) Parse(data []byte) error { return proto.Unmarshal(data, new(pb.WakuMessage)) }

// Handle counts.
func Handle(set counters.Set, c Codec, data []byte) {
	if counters.Enabled {
		counters.Decode(set, site, len(data))
	}
	_ = c.Parse(data)
}

// Peek does not.
func Peek(c Codec, data []byte) {
	_ = c.Parse(data) // want `decode not counted: Codec.Parse in Peek`
}

// A Namer hashes; nobody counts.
type Namer interface{ Name([]byte) [32]byte }

type zeebo struct{}

func (*zeebo) Name(data []byte) [32]byte {
	return blake3.Sum256(data) // want `hash not counted: blake3.Sum256 in \(\*zeebo\).Name \(called from ID\)`
}

// ID does not count.
func ID(n Namer, data []byte) [32]byte { return n.Name(data) }

// A Sink is called through an interface of the standard library alone.
type Sink struct{ h *blake3.Hasher }

// Write is not called by the write in Copy as far as this tool goes.
func (s *Sink) Write(data []byte) (int, error) {
	s.h.Sum(nil) // want `hash not counted: \(\*blake3.Hasher\).Sum in \(\*Sink\).Write: count`
	return len(data), nil
}

// Copy writes to anything.
func Copy(w io.Writer, data []byte) { _, _ = w.Write(data) }

// A Wire is implemented by a generated method.
type Wire interface{ UnmarshalVT([]byte) error }

// Read calls it.
func Read(w Wire, data []byte) error {
	return w.UnmarshalVT(data) // want `decode not counted: Wire.UnmarshalVT in Read`
}
