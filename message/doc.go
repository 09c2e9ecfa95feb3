// Package message is the wire message of RFC 14/WAKU2-MESSAGE, its hash, and
// the [Envelope] that carries one message through a node.
//
// An Envelope decodes its bytes at most once and hashes them at most once, and
// every consumer that holds it shares the answers. Both decoders have one
// meaning: [Copying] is google's proto.Unmarshal, [Aliasing] returns a message
// whose fields are slices of the received bytes. What an Envelope hands out is
// shared and read-only.
//
// # What counts as the same message
//
// The hash covers the pubsub topic, payload, content topic, meta and timestamp.
// It does not cover version, rate limit proof, ephemeral or unknown fields, nor
// how the bytes were encoded. Decided once, for every path:
//
//   - an absent timestamp and timestamp 0 both mean "no timestamp": the hash and
//     the [Key] are the same, presence is kept;
//   - an absent and an empty payload are the same message; so are an absent and
//     an empty meta, whose presence is kept;
//   - unknown fields are accepted, forwarded as they came, kept by both decoders
//     and outside the hash.
//
// # One pass over the payload
//
// The hash is built on a [PayloadDigest], and so may be the name that a network
// gives to a message's bytes: who has computed the digest of what [Cut] finds in
// them hands it over with [Envelope.Adopt].
//
// # Limits
//
// [Limits] bound what a node accepts; each violation is a named error. The
// package does no I/O and starts no goroutine.
package message
