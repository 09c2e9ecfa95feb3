// Package relay joins gossipsub topics and runs each message through the
// validator, the observers and the consumers of one node.
//
// A received message passes, in this order: the observers of [Received], the
// gossip id, the topic's validator, the observers of [Validated], the handler,
// and the dispatch to the store and the stages. A published message is sealed
// (checked, encoded) and hashed, passes the validator in the publisher's
// goroutine, and reaches the publisher's own handler and the observers of [Sent].
// At [ReachNode] the gossip id and the message hash share one pass over the
// payload, and a published message is hashed by the validator.
//
// A message that came another way than by gossip passes the validators, the
// handler's store and the stages too, by [Relay.Receive].
//
// How far one message.Envelope is carried along that path is one value,
// [Reach], and this package alone reads it. No consumer knows which it is.
//
// # Lifecycle
//
// [New] starts nothing. [Relay.Run] starts gossipsub on the host, joins the
// configured topics, closes the channel of [Relay.Ready], and blocks until its
// context ends or [Relay.Close] is called. Then it leaves every topic, hands
// every message accepted to the handler, and returns. A Relay runs once. Close
// waits for Run; it does not close the host. gossipsub's own goroutines end by
// themselves soon after Run has returned: it offers no way to wait for them.
//
// # Nothing is lost in silence
//
// gossipsub drops messages in several places without an error. [Stats] counts
// each of them by cause, so that for one node and topic
//
//	Received - Duplicates + Published + Recovered = Delivered + Known + Rejected + Dropped
//
// holds whenever no message is under way: once the store has answered for all it
// was handed, and without exception for a topic that was left and a Relay that
// was closed. Publish answers [ErrDuplicate] and [ErrNoPeers] where gossipsub
// answers nil.
//
// For what was sent, Sent copies entered the peers' outbound queues, SendDropped
// found them full, and Written were written to the peers' streams. What is
// neither written nor queued was lost with a peer's connection.
//
// # What it will not do
//
// It opens no connection, keeps no message and knows no database. It does not
// score peers. A panic in a stage or validator is a fault of the program and is
// not recovered.
//
// A node that leaves a topic and joins it again, also by a restart, may wait for
// its mesh: gossipsub lets a peer that was told of the leave refuse its return
// for 10 seconds, and each refusal adds a minute. With other peers in the topic
// this is not felt. Publish answers ErrNoPeers meanwhile.
//
// # Limits
//
// Every queue is bounded: see [Options]. A peer may announce 256 topics; further
// ones are ignored. Messages are bounded by message.Limits. An RPC that is
// malformed, over MaxRPCSize, or holds more than gossipsub's 512 KiB of control
// ends its peer's stream before anything here sees it. A full store blocks the handler of its topic; a subscription
// that is full while the handler is blocked drops, and counts what it drops.
// gossipsub keeps the bytes of each message for about five seconds to answer those
// who missed it. At ReachNode it keeps the Envelope too of one that waits for its
// handler, or that a full subscription dropped.
// It forgets which messages it has seen in sweeps a minute apart, so that a
// message is known for SeenTTL and up to a minute more.
package relay
