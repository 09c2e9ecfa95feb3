// Package values uses functions as values.
package values

import (
	"crypto/sha256"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
)

var site = counters.NewSite("values.site")

// A Relay hands its methods out.
type Relay struct{ counts counters.Set }

// Join hands out one method that counts and one that does not.
func (r *Relay) Join(register func(func([]byte) error)) {
	register(r.counted)
	register(r.bare)
	register(r.both) // want `decode not counted: \(\*Relay\).both in \(\*Relay\).Join`
}

func (r *Relay) counted(data []byte) error {
	if counters.Enabled {
		counters.Decode(r.counts, site, len(data))
	}
	return proto.Unmarshal(data, new(pb.WakuMessage))
}

func (r *Relay) bare(data []byte) error {
	return proto.Unmarshal(data, new(pb.WakuMessage)) // want `decode not counted: proto.Unmarshal in \(\*Relay\).bare \(called from \(\*Relay\).Join as a value\)`
}

func (r *Relay) both(data []byte) error { return proto.Unmarshal(data, new(pb.WakuMessage)) }

// Handle counts what it calls.
func (r *Relay) Handle(data []byte) error {
	if counters.Enabled {
		counters.Decode(r.counts, site, len(data))
	}
	return r.both(data)
}

// Expression calls a method by its expression.
func Expression(r *Relay, data []byte) error {
	return (*Relay).both(r, data) // want `decode not counted: \(\*Relay\).both in Expression`
}

var sum = sha256.Sum256 // want `hash not counted: sha256.Sum256 in variable sum`

// Sum calls it.
func Sum(data []byte) [32]byte { return sum(data) }
