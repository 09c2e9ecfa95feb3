// Package segments keeps payloads in files that are only appended to, so that a
// payload is written once. It is half of an archive: where each payload lies is
// for a database to remember.
//
// A [Dir] is a folder of segments, each a file named by its number, in which
// payloads follow each other, but for what is left of a [Block] where a large
// append goes around the page cache. Whoever appends says where, and so keeps the
// end of what counts: what a file holds behind that end is the tail of something
// that was not committed, and is written over by the next append, or cut off by
// [Dir.Cut]. A read checks the payload against the checksum (CRC-32C) that it was
// appended with, so that a payload that did not reach the disk is an error that
// wraps [ErrDamaged], never other bytes.
//
// A [Memory] is the same for payloads that need not outlive the process: it keeps
// them as they are, copies nothing, checks no more than a payload's length, and
// forgets each by itself ([Memory.Forget]). A Dir removes whole segments
// ([Dir.Remove]).
//
// # What the caller sees to
//
// Appends to one segment at a time, also between processes: package sqlite
// appends under the database's write lock. An append is on the disk after
// [Dir.Sync] of its segment. The usual order is append, sync, commit the row; a
// row that is committed first has to be checked after a crash, or after a Sync that
// failed, with [Dir.Uncache] and [Dir.Read].
//
// # Limits
//
// The package has no index, no record headers and no limit of its own on the
// size of a segment. It deletes nothing unless it is told to: which segments hold
// nothing any more is for the database to know. It starts no goroutine. A Dir is safe
// for concurrent use; it keeps 2 MiB of memory to write from, which no garbage
// collector knows. Close frees that and the segment that it holds open.
package segments
