// Package negentropy finds which ids two sets do not share, by version 1 of the
// Negentropy protocol (range-based set reconciliation; source:
// docs/negentropy-protocol-v1.md of hoytech/negentropy), as a pure state machine.
//
// One side is an [Initiator], which learns what only it has and what only its
// peer has; the other is a [Responder], which learns nothing. The caller carries
// the frames: what Start and the Step of one side return is the argument of the
// other side's Step, until the Initiator's Step returns no frame. One exchange in
// both directions is a round.
//
//	initiator                     responder
//	Start ──── frame ───────────▶ Step
//	Step  ◀─── frame ──────────── (its answer)
//	      ──── frame ───────────▶ Step …
//
// Each frame cuts the space of (timestamp, id) into ranges. A range of fewer than
// 32 items goes as a list of ids, a larger one as 16 fingerprints over parts of
// equally many items; so the number of rounds grows with the logarithm of the
// number of items, whatever their timestamps are. Frames are those of the
// reference implementation, byte for byte, with one exception: see below.
//
// It will not move or keep a message, does no I/O, starts no goroutine and
// needs no closing. A session is used by one goroutine at a time, and
// its set must not change until it is over: a Snapshot of storesync does not.
//
// # Limits
//
// [Limits] bounds what a peer can cost: the bytes, ranges and ids of a frame, the
// ids in need altogether, and the rounds. FrameBytes bounds the frames that this
// side makes; what does not fit is left to a fingerprint of the rest and to later
// rounds. Without it, a peer can ask for the ids of the whole set in one frame.
// Time is the caller's to bound, between two steps.
//
// # Errors
//
// A frame that breaks the format is [ErrMalformed], with the offset and what is
// wrong there; one that breaks a limit is [ErrLimit]; an answer in another version
// of the protocol is [ErrVersion]. A Responder answers a frame of another version
// with the one that it speaks. A session is over after its first error, and a step
// that fails reports no ids; those of earlier steps stand. Stricter than the
// reference, numbers must be of minimal length and at most 64 bits, and bounds
// must not descend.
//
// # Costs
//
// A step asks the set for one fingerprint for each fingerprint that it reads or
// writes, and for one Find for each range, so that over a Snapshot of storesync it
// takes time in O(k log n), for n items and k ranges and ids. A [Vector] sums the
// ids of the range at each call, in O(n) for a frame; one million ids are summed in
// a few milliseconds. A step holds the frame that it makes; an Initiator also holds
// each id that it reported, so as to report it once.
//
// # Difference from the reference
//
// When a frame is full, the reference ends it with a fingerprint for all that
// follows its last bound, but leaves the items of the range that did not fit out
// of that fingerprint. A peer that has none of them, and the same items as this
// side after them, takes the rest for equal, and they are never found. Here they
// are left in whenever the peer said that it has none in that range; in all other
// cases the bytes are the reference's.
package negentropy
