// Package echo is a small relay over gossipsub. It validates each note, hands it
// to the application, and may answer it with an echo.
//
// It stands for a relay that exists: its message type, its validators and its
// versions of go-libp2p and go-libp2p-pubsub are its own. What was added to it
// are the sites in sites.go and one block under counters.Enabled beside each
// decode, hash, encode and copy. In a build without the tag msgpathcounters
// nothing of that is left.
//
// Limits: one topic, notes of at most 1 MiB, no storage. [New] opens the sockets,
// [Node.Run] reads until its context ends, and [Node.Close] returns when all is
// closed; a second Close returns nil.
package echo
