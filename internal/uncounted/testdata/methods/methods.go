// Package methods has messages with codecs of their own.
package methods

import (
	"encoding/json"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/msgpath/msgpath/counters"
)

var site = counters.NewSite("methods.site")

// M looks like a message of vtprotobuf or gogo.
type M struct {
	Payload []byte
	kept    []byte
}

func (*M) ProtoMessage() {}

// Unmarshal is written by hand and does not count: those who call it may.
func (m *M) Unmarshal(data []byte) error {
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		m.kept = protowire.AppendTag(m.kept, num, typ)
		_, _, _ = protowire.ConsumeField(data)
		data = data[n:]
	}
	return nil
}

// MarshalVT is written by hand and nobody counts it.
func (m *M) MarshalVT() ([]byte, error) {
	b := protowire.AppendTag(nil, 1, protowire.BytesType) // want `encode not counted: protowire.AppendTag in \(\*M\).MarshalVT \(called from Send\)`
	return protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), nil), nil
}

// Handle counts.
func Handle(set counters.Set, data []byte) {
	_ = new(M).Unmarshal(data)
	if counters.Enabled {
		counters.Decode(set, site, len(data))
	}
}

// Send does not.
func Send(m *M) { _, _ = m.MarshalVT() }

// JSON of a message is an encoding, of another type it is not.
func JSON(w io.Writer, data []byte) {
	_ = json.Unmarshal(data, new(M))                // want `decode not counted: json.Unmarshal in JSON`
	_ = json.NewEncoder(w).Encode(M{})              // want `encode not counted: \(\*json.Encoder\).Encode`
	_ = json.NewEncoder(w).Encode(map[string]int{}) // of no message
	_ = new(Setting).Unmarshal(data)
	_ = new(Block).UnmarshalSSZ(data)      // want `decode not counted: \(\*Block\).UnmarshalSSZ`
	_, _ = new(Block).HashTreeRoot()       // want `hash not counted: \(\*Block\).HashTreeRoot`
	_, _, _ = protowire.ConsumeField(data) // want `decode not counted: protowire.ConsumeField`
}

// Length reads a length prefix, which is no message.
func Length(data []byte) uint64 {
	n, _ := protowire.ConsumeVarint(data)
	return n
}

// Setting is no protobuf message.
type Setting struct{}

// Unmarshal reads a setting.
func (*Setting) Unmarshal([]byte) error { return nil }

// Block is encoded as SSZ.
type Block struct{}

// UnmarshalSSZ decodes.
func (*Block) UnmarshalSSZ([]byte) error { return nil }

// HashTreeRoot hashes.
func (*Block) HashTreeRoot() ([32]byte, error) { return [32]byte{}, nil }
