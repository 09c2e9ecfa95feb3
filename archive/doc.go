// Package archive keeps messages for a while, answers for each whether it is stored,
// and answers queries about them.
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
// # Queries
//
// [Archive.Query] answers as 13/WAKU2-STORE has it, version 3: by pubsub topic and
// content topics, by hashes, by a range of time, forward or back, in pages. A page is
// ascending by timestamp and hash in either direction; its cursor is the hash of the
// message that the next page begins behind, and there is none where there is no more.
// A cursor whose message is not stored, or was pruned since, is an error that wraps
// [ErrCursor]. Rows that are stored between two pages are seen if they lie behind
// the cursor. [Archive.Pages] carries the cursor from page to page. There is no index
// by topic: a query for a topic of few messages reads over the others of its time.
//
// # Time
//
// With Options.Window, Store takes only messages from about now, and refuses others
// with an error that wraps [ErrTimestamp]: so nobody who chose a time far ahead is
// the latest for ever. [Archive.Restore] is for messages that other archives had: any
// age goes, but nothing from ahead, and nothing that the retention would delete next
// ([Archive.Oldest]).
//
// Options.Retention deletes by age, by number and by size, each for itself, from the
// oldest on and to the exact bound, in batches beside the inserts: one batch is what
// an insert waits for at most. Options.Pruned tells what is gone, never before Stored
// told of it. Nothing is compacted: what a database does with the room is said in its
// package.
//
// # Run and Close
//
// New starts nothing. Run blocks until its context is done or Close is called;
// both commit what was accepted first. A commit is not interrupted: Run ends
// after the backend's own limits. Close waits for Run, or commits in its place if
// it was never called, and closes the backend. An Archive runs once. Before Run,
// Store accepts until the queue is full; after it, Store returns an error that
// wraps [ErrClosed]. The retention runs with Run, on a goroutine that ends before it.
//
// A failed insert is answered, counted, logged when it is the first in a row, and
// ends readiness ([Archive.Ready]) until an insert works. The Archive does not try it
// again; a backend may within its Insert, and says meanwhile that it is not ready.
// A panic of the backend in an insert ends Run with an error, and the archive for
// good. A deletion that fails or panics is counted and logged, and made up for by the
// next look.
//
// # Limits
//
// At most Options.Queue messages are accepted and not answered; past that Store
// blocks, and with it the message path. Nothing is dropped. A page has at most
// [MaxPage] rows. Without a Retention there is no limit on what it keeps.
//
// # Copies
//
// No payload byte is copied between Envelope.Bytes and Backend.Insert. [Memory]
// keeps the message it is given, and with an aliasing decoder the received bytes
// behind it; it copies the message when less than half of a buffer over 1 KiB
// would be in use, counted at the site archive.retain. What a database's driver
// copies is said in its package.
package archive
