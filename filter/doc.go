// Package filter pushes messages to light peers that subscribed to them, over
// libp2p streams, by RFC 12/WAKU2-FILTER: [Server] is the part of a relay node,
// [Client] that of a light peer, which needs no relay.
//
// # Two stages
//
// A Server has two stages of the message path. [Server.Match] asks whether a
// message is due: somebody is subscribed to it, and it was not pushed lately.
// [Server.Push] puts one that is due into the queues of the peers. They are two
// because they are two consumers, each of which needs the message's name: Match to
// know what was pushed, Push to find what Match let through, and to name each copy
// in the log. Where the message path shares one Envelope between consumers the
// second asks for what is known; where each consumer is handed one of its own, as
// it was in the system that this project started from, there are two hashes, at
// the sites filter.filter and filter.filter_push. Neither stage hashes a message
// that nobody is subscribed to.
//
// # One frame for all
//
// A push is the message's bytes as they came, with a few bytes before and behind
// them. They are made once for each message, whatever the number of peers, and all
// queues share them: nothing is encoded again and no payload is copied here. What
// libp2p copies into its buffers and encrypts, it does for each peer.
//
// # What is dropped
//
// Each peer has a queue, a goroutine and one long-lived stream of its own. A queue
// that is full drops what would come next for this peer, so that one that reads
// slowly, or not at all, holds up neither the path nor anybody else. A write that
// takes longer than Options.Timeout fails, and the next push opens another stream.
// Pushing is best effort, as the RFC has it: nothing is sent twice, and who was
// away asks a store. What waits when its topic is unsubscribed from is not pushed;
// the one copy that is being written may come after the answer. [Stats] counts
// each copy that does not reach its peer, by cause. A peer is removed when all
// pushes to it have failed for Options.Unreachable, and when it neither subscribed
// nor pinged for Options.TTL. One that reads a little each time is not unreachable:
// it lasts as long as it pings. A message is pushed once in Options.Window, from its
// first push on.
//
// # Topics
//
// A subscription is to pairs of a pubsub topic and a content topic, both as the
// client gave them. Neither is derived from the other; a request without a pubsub
// topic is refused. A Client compares each push with what it is subscribed to at
// the peer that sent it, and with the limits of package message, and hands on only
// what passes. As there, a message with an empty payload is a message, which some
// other clients refuse.
//
// # Run and Close
//
// New and NewClient start nothing. Run takes streams until its context ends or
// Close is called; then it resets the streams, waits for all goroutines and
// returns nil. Close waits for Run. Both run once. With a Server all subscriptions
// end: nothing is kept.
//
// # Limits
//
// See [Options]: at most MaxPeers queues of Queue messages; a peer that does not
// read pins so many, of up to 150 KiB each in the Waku network. A request has at
// most 64 KiB and 100 content topics. A topic has at most 256 bytes, so that the
// names in a table that is full take at most 512 bytes for each of MaxTopics, for
// each peer: by default 0.5 MB for one peer and 51 MB for all, beside the maps they
// are in. Requests and streams at once are bounded by the host's resource manager.
// Nobody allocates what a length announces before it has come. A Server dials
// nobody: a peer that is not connected is a failed push.
//
// What it will not do: find peers, ask a store for what was missed, limit the rate
// of requests, subscribe again what a server forgot, or ping by itself.
package filter
