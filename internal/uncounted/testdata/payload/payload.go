// Package payload copies payloads, and what is none.
package payload

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"slices"

	"github.com/multiformats/go-multiaddr"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
)

var site = counters.NewSite("payload.site")

type frame struct {
	Data string
	data []byte
}

func (f *frame) Bytes() []byte { return f.data }

// Copies has a copy a line.
func Copies(m *pb.WakuMessage, f *frame, buf []byte) {
	_ = bytes.Clone(m.Payload)                        // want `copy not counted: bytes.Clone of m.Payload in Copies: count it with counters.Copy`
	_ = slices.Clone(m.GetPayload())                  // want `copy not counted: slices.Clone of m.GetPayload\(\)`
	_ = append([]byte(nil), m.Payload...)             // want `copy not counted: append of m.Payload`
	_ = append(m.Payload[:0:0], m.Payload...)         // want `copy not counted: append of m.Payload`
	copy(buf, m.Payload[4:])                          // want `copy not counted: copy of m.Payload\[4:\]`
	_ = []byte(f.Data)                                // want `copy not counted: \(?\[\]byte\)?\(f.Data\)`
	_ = string(f.Bytes())                             // want `copy not counted: string\(f.Bytes\(\)\)`
	_ = proto.Clone(m)                                // want `copy not counted: proto.Clone`
	data, size := m.GetPayload(), len(m.GetPayload()) // not yet
	var more = data                                   // nor here
	_ = bytes.Clone(data[:size])                      // want `copy not counted: bytes.Clone of data\[:size\]`
	_ = bytes.Clone(more)                             // want `copy not counted: bytes.Clone of more`
}

// None copies no payload.
func None(m *pb.WakuMessage, known map[string]bool, n *big.Int, at multiaddr.Multiaddr, buf bytes.Buffer) bool {
	var head [4]byte
	copy(head[:], m.Payload)
	_ = append([]byte(nil), m.Payload[:8]...)
	_ = bytes.Clone(m.Meta)
	_ = bytes.Clone(n.Bytes())
	_ = bytes.Clone(at.Bytes())
	_ = bytes.Clone(buf.Bytes())
	key := sha256.Sum256(nil) //msgpath:uncounted of nothing
	_ = append([]byte(nil), key[:]...)
	return known[string(m.Payload)] || string(m.Payload) == "x"
}

// Counted counts.
func Counted(set counters.Set, m *pb.WakuMessage) {
	m.Payload = bytes.Clone(m.Payload)
	if counters.Enabled {
		counters.Copy(set, site, len(m.Payload))
	}
}
