// Package archive keeps messages and answers for each whether it is stored.
//
// An [Archive] is what a node mounts: its Store method is a stage of the message
// path. Store hands the message to the committer, [Archive.Run], which puts all
// that waits, up to a bound, into one transaction of a [Backend], and then tells
// Options.Stored what became of each message. Only committed means stored.
//
// # What it keeps
//
// Each known field of a message, absent told from empty, so that the hash
// recomputed from a stored row is its key's. An absent and an empty payload are
// the same message and are not told apart. Unknown fields are not kept: they
// are outside the hash, and nobody here can tell what they mean. A hash is
// stored once. Copies of a message that differ in what its hash does not cover
// (version, proof, unknown fields) are duplicates of the one that came first.
//
// Ephemeral messages are not stored, but are answered in order with the others.
// Whether a message is ephemeral is outside its hash too: a copy that is not
// ephemeral is stored under the same hash. Nobody remembers ephemeral messages,
// so that copies of one that differ in what the hash does not cover are answered
// each as new: an application that must see such a message once has to look at
// its hash itself.
//
// # Run and Close
//
// New starts nothing. Run blocks until its context is done or Close is called;
// both commit what was accepted first. A commit is not interrupted: Run ends
// after the backend's own limits. Close waits for Run, or commits in its place if
// it was never called, and closes the backend. An Archive runs once. Before Run,
// Store accepts until the queue is full; after it, Store returns an error that
// wraps [ErrClosed].
//
// A failed insert is answered, counted, logged when it is the first in a row, and
// ends readiness ([Archive.Ready]) until an insert works. The Archive does not try it
// again; a backend may within its Insert, and says meanwhile that it is not ready.
// A panic of the backend ends Run with an error, and the archive for good.
//
// # Limits
//
// At most Options.Queue messages are accepted and not answered; past that Store
// blocks, and with it the message path. Nothing is dropped. It deletes nothing
// and has no limit on what it keeps.
//
// # Copies
//
// No payload byte is copied between Envelope.Bytes and Backend.Insert. [Memory]
// keeps the message it is given, and with an aliasing decoder the received bytes
// behind it; it copies the message when less than half of a buffer over 1 KiB
// would be in use, counted at the site archive.retain. What a database's driver
// copies is said in its package.
package archive
