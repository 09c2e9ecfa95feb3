// Package node builds one running relay node out of the packages below it: a
// libp2p host, the relay, an archive, the sync set, the server of light peers, and
// the metrics that tell about them.
//
// [New] checks the options and starts nothing. [Node.Run] opens the host and
// the archive, joins the topics, closes the channel of [Node.Ready], dials the
// configured peers and keeps dialing those it loses, and blocks until its
// context ends or [Node.Close] is called. Then it stops in the order of a
// message's path: store-sync ends its sessions, the topics are left and what they
// accepted is handled, the archive commits what it accepted, the sync set and the
// application see it, light peers are left, the recording ends, the host closes. A
// Node runs once. Close returns when everything is free; it
// returns nil, Run has the error.
//
// Run returns nil after an orderly stop, and an error when a part failed: a
// node never goes on without its archive. A failed insert is no end: the message
// is counted as dropped, the archive logs it, and the node is not ready until an
// insert works again ([Node.Handler]).
//
// A message that was accepted is stored first, if the node has an archive; once
// it is committed it enters the sync set, the queues of the light peers that
// subscribed to it, and the stages, in this order. What a message's ephemeral field
// keeps out of the archive stays out of the sync set, and reaches the rest. The sync
// set starts with what the archive holds.
//
// Nodes may share an archive in PostgreSQL. Each message is stored once, by whichever
// node is first, and every node that receives it delivers it, once: a node remembers
// the last 65,536 that it handled. A copy that comes after more than those, or after
// a restart, is delivered again, while an archive of the node's own would know it.
// While the server is away, messages wait in the node's queues, those of a topic for
// its handler too, and the node is not ready; what these cannot hold is dropped and
// counted, and what the archive gives up on after a minute as well.
//
// A node that records ([Options.Record]) hands each message that was accepted to
// package corpus before the archive and the stages see it, those that it published
// itself among them. The arrival time is when the topic's handler took it.
//
// With Options.Sync the node answers peers that compare their archives with its
// own, and takes what only they have, through validators, archive and stages; with
// an interval it asks by itself: see package storesync/p2p.
//
// What it will not do: read a configuration file, print, or handle signals; that
// is the command's. It does not find peers beyond those it is told.
//
// Limits: messages, queues and their defaults are those of packages relay and
// archive. A lost or unreached peer is dialed again after 1 s, then 2 s, 4 s and
// so on, a minute at most, give or take a fifth. The sync set of a large archive
// takes its time to fill before the node is ready, and 40 to 80 bytes of memory a
// message.
package node
