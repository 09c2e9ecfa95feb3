// Package storesync finds which messages two stores do not share.
//
// A [Set] holds the keys of the messages that one store has, ordered by timestamp
// and hash. Its Add method is a stage of the message path. A set is told of each
// message that the store has, from whichever side it comes first: inserting a key
// twice and deleting one twice change nothing and are no error.
//
// A [Snapshot] is what a set held at one moment in a range of time, as the items
// of a [negentropy.Set], for a session with the set of another store; it does not
// change while the set does. A snapshot holds no message from before 1970, which
// the protocol cannot name.
//
// It will not fetch or keep a message, knows no archive and no network, deletes
// nothing by itself and has no bound: who deletes from the store deletes from the
// set. Nothing here runs or needs closing.
//
// # Costs
//
// A set is a B+tree that keeps, for each part of it, the number of its keys and
// the sum of their hashes. To insert, delete or find a key, to take a snapshot, and
// to ask one for an item or for the fingerprint of a range, takes time in
// O(log n). A key takes 42 bytes if they come in ascending order, as messages do,
// about 61 in random order, and at most about 120, after others around it were
// deleted. A snapshot takes 160 bytes and copies nothing; each part of 5 KB that
// changes after it is copied once, and what it was stays for as long as the
// snapshot is in use.
package storesync
