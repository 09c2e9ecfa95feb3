// Package p2p carries the comparison of two message stores, and the messages that
// only one of them has, over libp2p streams.
//
// A [Syncer] runs sessions between the store of its node, a [Store] of a few
// functions, and those of peers. One session, on one stream, heals both sides:
//
//   - both state their terms, and settle on a range of timestamps;
//   - the side that began finds by Negentropy which ids only one side has
//     (package negentropy);
//   - it asks for those that only the peer has;
//   - it offers those that only it has, and the peer asks for them by the same
//     rules.
//
// So no side is ever sent a message that it did not ask for. What arrives is
// decoded and hashed at once, and must be the message of the id that was asked for
// at that place, with a timestamp in the range; it is then given to Store.Accept.
// It counts as synced when the store has committed it, which the node tells by
// [Syncer.Stored]. Until then it is pending, and nobody is asked for it again; a
// session with another peer that has it too does not count as complete. What was not
// stored is asked for in the next session; what was refused, by [ErrRefused], is not,
// for a while: see docs/decisions/0014-store-sync-transfer.md.
//
// # Frames
//
// A stream of protocol [ID] carries frames. A number is an unsigned varint of up
// to 63 bits, of the least number of bytes.
//
//	frame     = length kind body      length: of kind and body; kind: one byte
//	hello     = 1: version hash-length hash from to frame message batch rounds
//	decline   = 2: text               why there is no session
//	reconcile = 3: a frame of Negentropy
//	want      = 4: ids                32 bytes each, none after the last
//	message   = 5: topic-length topic encoded-message
//	absent    = 6: reason             one byte: 0 not here, 1 too large, 2 no more in this session
//	offer     = 7: ids
//	done      = 8: left               nothing, or one byte 1: of what was offered some is left
//
// In a hello, version is 1, hash the name of the algorithm that ids are made with,
// from and to the range (from <= timestamp < to, Unix time in nanoseconds), and the
// rest limits of its sender: bytes of a frame that is no message, and of an encoded
// message, ids in one want or offer, frames of Negentropy. The range of the answer
// lies in that of the question.
//
// Sides take turns. B began the session and A answers:
//
//	session = B:hello (A:hello rounds wants offers B:done A:done | A:decline)
//	rounds  = (B:reconcile A:reconcile)*
//	wants   = (B:want (A:message | A:absent)*)*           one answer for each id, in order
//	offers  = (B:offer (A:want (B:message | B:absent)*)* (A:want-of-none | A:done))*
//
// With a want of no ids A has what it wants of an offer; with done it wants no more
// offers. Whoever fails in between resets the stream.
//
// # Limits
//
// [Options] bounds everything that a peer can cost: frames and what is in them, ids
// claimed, offered and asked for, messages and bytes sent, the time of each step
// and of a session, sessions at once and in a period, what is pending and what is
// remembered. A limit of quantity ends a session in order, with [Report].More, and
// the next one goes on. A frame over a limit, a message that was not asked for, and
// whatever else is not the protocol, are the peer's fault: the session ends with an
// error that wraps [ErrFault], is counted, and the peer is shunned for
// Options.ShunTime. What a store does not keep (ephemeral messages), and what this
// node's message limits do not let pass, is refused and no fault.
//
// A session holds a snapshot, the ids that differ, and one batch; the ids that only
// this side has are held up to the number in the snapshot. Of 1024 peers it is
// remembered how often they came, whether they are shunned, and up to when their
// messages were the same; of 32 which of their messages were refused, up to
// Options.Refusals each: a peer that has more is asked for nothing new until
// Options.RefusalTTL is over.
//
// # Run and Close
//
// [New] starts nothing. [Syncer.Run] answers peers and, with Options.Interval, begins
// a session with one of them at each interval, or up to 16 in a row, with others in
// between, while they have more that is taken. The first with a peer goes over
// everything, up to Options.CatchUp and Store.Oldest, each further one over what came
// after the last that completed, and Options.Range before it. When a message that was
// fetched is not stored, and after [Syncer.Reconsider], the next session goes over
// everything again. [Syncer.Close] ends Run and all sessions and waits for them; a
// second Close returns nil.
//
// It will not dial, forward a message to gossip, delete one, or decide which may be
// kept. A message from before 1970 is not synchronised, as Negentropy has no such
// time, nor one whose pubsub topic is over 1024 bytes.
package p2p
