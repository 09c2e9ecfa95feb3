// Package sqlite is an archive backend in one SQLite database, in memory or in a
// file, through modernc.org/sqlite, which needs no C compiler.
//
// [Open] takes ":memory:" or the path of a file. A database in memory is one
// connection and ends with [Database.Close]. A file has one connection that
// writes, four that read and one that checkpoints, in write-ahead log mode:
// readers and the writer do not wait for each other. Several processes may have
// one file open, each writer waiting up to 10 s for the others.
//
// # One node
//
// A file is the archive of one node. Others may read it, and tools may write to it,
// with several handles. Two nodes may not share one: Insert says what is new to the
// file, and a node takes what another stored first for a message that it has handled
// itself (archive.ErrDuplicate) and does not deliver it; nor is it told what the
// other's retention deletes. Nothing here keeps two nodes from it. Several nodes
// share a database of package postgres, which tells them that it is shared.
//
// # What is kept
//
// Each known field of a message, absent told from empty; not its unknown fields.
// A hash is stored once: the message that came first stays. That rests on the hash
// covering the timestamp of its key, as package message's do.
//
// What is stored counts in a table, in the transaction that changes it, so that
// [Database.Size] reads as many rows as there are segments. Messages are indexed by
// their time, and by their hash in pieces of [EpochRows], so that an insert costs the
// same however many there are; a look-up by hash takes a step for each piece.
//
// # Where
//
// A file keeps rows and payloads under 4 KiB. Larger payloads are appended to
// segments of 256 MiB in the folder FILE.payloads, see package segments, and the
// row says where and with which checksum: so a payload is written once, not into
// the log and then into the file. Who copies or moves the file takes the folder
// along: a file without it is not opened. FILE is what links lead to. A database
// in memory keeps such payloads beside its rows too, as they are: with them the
// received bytes that they are part of, unless those are large for a payload. Files
// of earlier versions open, and what they hold stays where it is; the first time,
// all rows are read once.
//
// # What is deleted
//
// [Database.Delete] deletes rows. The pages that they leave in the file are used
// again by later inserts: a file from which as much is deleted as is inserted stays
// as large as it once was, and no file shrinks. Nothing is ever vacuumed here, since
// VACUUM copies the file while inserts wait (nwaku#2164), and incremental_vacuum does
// nothing in a file that was not made for it. Who wants the space of a file back runs
// VACUUM while nobody has it open.
//
// Large payloads go with their segment: once no row has one in it, and a later
// segment was begun, it is removed. The log that says so is on the disk by then. What
// a killed process left is removed when the file is opened again; what cannot be
// removed is the error of the next Delete, before it deletes. Another process that
// appended to a segment last keeps its space until it appends again. The place of the
// next payload never moves back. In memory each payload is free at once.
//
// A Select that finds a row whose segment goes before the payload is read selects
// again, and the third time goes on behind what it found: it returns fewer rows than
// it was asked for only if there are no more. A row that is there is never called
// damaged because another was deleted.
//
// # What survives
//
// A killed process loses nothing that Insert has returned for. A loss of power
// may take, with [SyncLater], the latest of it: payloads are synchronised, and
// the log is moved into the file, when 32 MiB of payload have come together, by
// [Database.Checkpoint] and by Close. (Large ones are synchronised every 4 MiB, so that a
// write waits for the disk for a short time only.) With [SyncEach] it takes nothing.
//
// No row is seen without its payload. Rows are committed before their payloads
// are on the disk only with SyncLater; the database remembers up to where they
// are, and Open reads those behind, from the disk (Linux), deletes the rows of
// those that are damaged or whose segment is gone, and counts them
// ([Database.Lost]). What segments hold behind the last place, of a batch that was
// not committed, is written over. Every read of a file checks the checksum, and one
// that does not match is an error that wraps segments.ErrDamaged.
//
// # Goroutines
//
// Synchronising goes on beside the inserts, on a goroutine that Insert starts and
// Close waits for; there is one at most. Inserts wait for it when 128 MiB have come
// together meanwhile. If the payloads could not be synchronised, by any call, each
// further insert fails, until the file is opened again; another error of a
// checkpoint is that of the next insert, and it is tried again. Checkpoint and
// Close fail if the log is still read after 10 s.
//
// An insert whose context ends before it writes payloads ends with it, but for a
// wait for another process's lock; later it goes on to its end.
//
// # What is copied
//
// The driver copies each value that it is given into memory of SQLite, and SQLite
// copies it on into its pages; what is read comes back the same way. Payloads in
// segments are written from the memory that they are in; a batch of 256 KiB or more
// is copied once, see package segments. In memory a payload beside the rows is
// copied only if its received buffer is large for it, which counts, and what is read
// is the payload itself: nobody may change it. This package copies no other payload
// on its way in, and one in a row one more time on its way out.
//
// The package has no limit of its own on the size of the database, and deletes
// nothing of its own accord but the rows of lost payloads.
package sqlite
