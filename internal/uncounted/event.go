package uncounted

import (
	"go/types"
	"slices"
	"strings"
)

// An Event is something that a counter should tell of.
type Event uint8

const (
	Decode Event = iota + 1 // wire bytes to a message
	Encode                  // a message to wire bytes
	Hash                    // a message hash or a gossip id
	Copy                    // a copy of a payload
)

var (
	events     = [...]Event{Decode, Encode, Hash, Copy}
	eventNames = [...]string{Decode: "decode", Encode: "encode", Hash: "hash", Copy: "copy"}
)

// String returns "decode", "encode", "hash" or "copy".
func (e Event) String() string { return eventNames[e] }

// counter is the function that counts an event.
func (e Event) counter() string {
	switch e {
	case Decode:
		return "counters.Decode"
	case Encode:
		return "counters.Encode"
	case Hash:
		return "counters.Hash or counters.IDHash"
	}
	return "counters.Copy"
}

// CountersPath is the import path of the package that counts.
const CountersPath = "github.com/msgpath/msgpath/counters"

// countedBy is what each function of package counters counts.
var countedBy = map[string]Event{"Decode": Decode, "Encode": Encode, "Hash": Hash, "IDHash": Hash, "Copy": Copy}

// Packages whose functions and methods are told by the beginnings of their
// names.
var (
	protoPackages = []string{
		"google.golang.org/protobuf/proto",
		"google.golang.org/protobuf/encoding/protodelim",
		"google.golang.org/protobuf/encoding/protojson",
		"google.golang.org/protobuf/encoding/prototext",
		"github.com/golang/protobuf/proto",
		"github.com/golang/protobuf/jsonpb",
		"github.com/gogo/protobuf/proto",
		"github.com/gogo/protobuf/jsonpb",
	}
	streamPackages = []string{ // delimited protobuf over a stream
		"github.com/libp2p/go-msgio/pbio",
		"github.com/libp2p/go-msgio/protoio",
		"github.com/gogo/protobuf/io",
	}
	hashPackages = []string{
		"crypto/sha256", "crypto/sha512", "crypto/sha3",
		"golang.org/x/crypto/sha3", "golang.org/x/crypto/blake2b", "golang.org/x/crypto/blake2s",
		"github.com/zeebo/blake3", "lukechampine.com/blake3",
		"github.com/minio/sha256-simd", "github.com/multiformats/go-multihash",
	}
)

const wirePackage = "google.golang.org/protobuf/encoding/protowire"

// eventOf returns the event that a call of fn is, or 0. recv is the type that a
// method is called on, nil for a function.
func eventOf(fn *types.Func, recv types.Type) Event {
	if fn.Pkg() == nil {
		return 0
	}
	path, name := fn.Pkg().Path(), fn.Name()
	switch {
	case slices.Contains(protoPackages, path):
		return protoEvent(name)
	case slices.Contains(streamPackages, path):
		return map[string]Event{"ReadMsg": Decode, "WriteMsg": Encode}[name]
	case slices.Contains(hashPackages, path) && finishesHash(name), fn.FullName() == "(hash.Hash).Sum":
		return Hash
	case path == wirePackage:
		return map[string]Event{"ConsumeTag": Decode, "ConsumeField": Decode, "AppendTag": Encode}[name]
	case recv != nil:
		return methodEvent(fn, recv)
	}
	return 0
}

func protoEvent(name string) Event {
	switch {
	case strings.HasPrefix(name, "Unmarshal"), name == "DecodeMessage":
		return Decode
	case strings.HasPrefix(name, "Marshal"), name == "EncodeMessage":
		return Encode
	case name == "Clone", name == "Merge":
		return Copy
	}
	return 0
}

// finishesHash: what ends a hash is the event; writes before it are part of it.
func finishesHash(name string) bool {
	return strings.HasPrefix(name, "Sum") || strings.HasPrefix(name, "ShakeSum") || name == "Digest" || name == "XOF"
}

// methodEvent knows the methods that generators of codecs write. Those that name
// their format are taken on any type, the others on protobuf messages alone.
func methodEvent(fn *types.Func, recv types.Type) Event {
	switch fn.Name() {
	case "UnmarshalSSZ", "UnmarshalCBOR":
		return Decode
	case "MarshalSSZ", "MarshalSSZTo", "MarshalCBOR":
		return Encode
	case "HashTreeRoot":
		return Hash
	}
	if !isProtobuf(recv) {
		return 0
	}
	switch name := strings.TrimLeft(fn.Name(), "X_"); { // older generators mark their internals
	case strings.HasPrefix(name, "UnmarshalJSON"), strings.HasPrefix(name, "MarshalJSON"), name == "CloneVT":
		return map[byte]Event{'U': Decode, 'M': Encode, 'C': Copy}[name[0]]
	case strings.HasPrefix(name, "Unmarshal") && takesBytes(fn):
		return Decode
	case strings.HasPrefix(name, "Marshal"):
		return Encode
	}
	return 0
}

func takesBytes(fn *types.Func) bool {
	params := fn.Signature().Params()
	return params.Len() > 0 && isBytes(params.At(0).Type())
}

// isProtobuf reports whether t, or a pointer to it, has the mark of a protobuf
// message.
func isProtobuf(t types.Type) bool {
	for _, mark := range []string{"ProtoReflect", "ProtoMessage"} {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, mark)
		if _, ok := obj.(*types.Func); ok {
			return true
		}
	}
	return false
}

// isBytes reports whether t is a slice of bytes.
func isBytes(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}
