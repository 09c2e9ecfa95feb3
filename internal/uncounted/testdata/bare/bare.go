// Package bare does not import the counters.
package bare

import (
	"crypto/sha256"
	"hash"
	"io"

	sumsha3 "crypto/sha3"
	"golang.org/x/crypto/blake2b"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	lukechampine "lukechampine.com/blake3"

	"github.com/msgpath/msgpath/message/pb"
)

// Decode decodes in all ways.
func Decode(data []byte, m *pb.WakuMessage, r protodelim.Reader) {
	_ = proto.UnmarshalOptions{Merge: true}.Unmarshal(data, m) // want `decode not counted: proto.UnmarshalOptions.Unmarshal`
	_ = protodelim.UnmarshalFrom(r, m)                         // want `decode not counted: protodelim.UnmarshalFrom`
	_ = protojson.Unmarshal(data, m)                           // want `decode not counted: protojson.Unmarshal`
}

// Encode encodes in all ways.
func Encode(m *pb.WakuMessage, w io.Writer) {
	_, _ = proto.Marshal(m)                             // want `encode not counted: proto.Marshal in Encode: count it with counters.Encode`
	_, _ = proto.MarshalOptions{}.MarshalAppend(nil, m) // want `encode not counted: proto.MarshalOptions.MarshalAppend`
	_, _ = protodelim.MarshalTo(w, m)                   // want `encode not counted: protodelim.MarshalTo`
	_, _ = protojson.Marshal(m)                         // want `encode not counted: protojson.Marshal`
	_ = proto.Size(m)
	_ = proto.Equal(m, m)
}

type state struct {
	hash.Hash
	buf [32]byte
}

// Hash: one finding for a function.
func Hash(data []byte) {
	s := &state{Hash: sha256.New()}
	s.write(data)
	s.Sum(s.buf[:0]) // want `hash not counted: hash.Hash.Sum in Hash`
	_ = blake2b.Sum256(data)
	_ = lukechampine.Sum256(data)
}

func (s *state) write(data []byte) { _, _ = s.Write(data) }

// Others has further hashes.
func Others(data []byte) {
	h := sumsha3.New256()
	_, _ = h.Write(data)
	_ = h.Sum(nil) // want `hash not counted: \(\*sha3.SHA3\).Sum in Others`
}
