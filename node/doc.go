// Package node builds one running relay node out of the packages below it: a
// libp2p host, the relay, an archive, the sync set, and the metrics that tell
// about them.
//
// [New] checks the options and starts nothing. [Node.Run] opens the host and
// the archive, joins the topics, closes the channel of [Node.Ready], dials the
// configured peers and keeps dialing those it loses, and blocks until its
// context ends or [Node.Close] is called. Then it stops in the order of a
// message's path: store-sync ends its sessions, the topics are left and what they accepted is handled, the
// archive commits what it accepted, the sync set and the application see it,
// the host closes. A Node runs once. Close returns when everything is free; it
// returns nil, Run has the error.
//
// Run returns nil after an orderly stop, and an error when a part failed: a
// node never goes on without its archive. A failed insert is no end: the message
// is counted as dropped, the archive logs it, and the node is not ready until an
// insert works again ([Node.Handler]).
//
// A message that was accepted is stored first, if the node has an archive; once
// it is committed it enters the sync set and reaches the stages, in this order.
// What a message's ephemeral field keeps out of the archive stays out of the
// sync set, and reaches the stages. The sync set starts with what the archive
// holds.
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
