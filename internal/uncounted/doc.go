// Package uncounted finds what counters placed by hand miss: decodes, encodes,
// hashes and payload copies on a path that no counter covers. It reads source,
// with the tag msgpathcounters, and runs nothing. It serves any module, whether
// it uses package counters or not.
//
// # The rule
//
//   - An event is a call that does one of the four things below, or one of a
//     function of the module that does it and does not count it.
//   - It is counted if the function around it, its literals included, calls the
//     function of package counters for that event. A function that only counts
//     stands for what it calls. A literal that is passed on, returned or stored
//     counts for itself and for what is around it, not for its siblings.
//   - It is covered if it is counted, or if all callers of the function around
//     it, there being some, cover the call. Callers are found in the whole module,
//     also through interfaces that the module declares.
//   - A function that nobody calls, or that is used as a value where nobody
//     counts, covers nothing: what it does is found in itself.
//   - Where some callers cover and others do not, the calls of the others are
//     found; where none does, the event.
//
// # Events
//
//   - decode: the functions Unmarshal… of the protobuf libraries of google,
//     golang and gogo, protodelim, protojson and prototext, ReadMsg of delimited
//     streams; methods Unmarshal…, as protoc plugins write them, and encoding/json
//     of types with ProtoReflect or ProtoMessage; UnmarshalSSZ and UnmarshalCBOR
//     of any type; a function with protowire.ConsumeTag or ConsumeField.
//   - encode: the same with Marshal…, WriteMsg and protowire.AppendTag, unless
//     the function consumes tags too: then it keeps unknown fields.
//   - hash: what ends a hash of crypto/sha256, sha512 and sha3, x/crypto's sha3,
//     blake2b and blake2s, zeebo's and lukechampine's blake3, sha256-simd,
//     go-multihash, a hash.Hash (Sum…, Digest, XOF), and HashTreeRoot. Writes are
//     part of it. Checksums such as xxhash are none.
//   - copy: bytes.Clone, slices.Clone, strings.Clone, append and copy of a
//     payload, its conversion between string and bytes, and Clone or Merge of a
//     protobuf message. A payload is a field or getter called Payload, GetPayload,
//     Data, GetData or, of the module's own types, Bytes, or a variable that was
//     assigned one in the same function; not a part of it with a constant end, nor
//     what is copied to an array, nor a conversion that the compiler does without
//     a copy. Types of the standard library have no payload.
//
// # Exceptions
//
// A comment declares that an event is not to be counted, and why:
//
//	//msgpath:uncounted reason
//
// It stands at the end of the line or on the line above, in the doc comment of a
// function or variable, or in that of a package, whose calls are then left out
// as those of tests are. One without a reason, or that nothing needs, is itself
// found.
//
// # Limits
//
// Files of tests and generated files are left out, and so are other modules: what
// they do inside is not seen. A function that counts an event once covers all of
// that kind in it, on every branch. Calls through interfaces of other modules,
// reflection and unsafe are not followed. A copying decode is asked for a decode
// alone, not for its copy.
package uncounted
