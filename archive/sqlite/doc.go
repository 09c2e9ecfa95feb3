// Package sqlite is an archive backend in one SQLite database, in memory or in a
// file, through modernc.org/sqlite, which needs no C compiler.
//
// [Open] takes ":memory:" or the path of a file, and no options. A database in
// memory is one connection and ends with [Database.Close]. A file has one
// connection that writes and four that read, in write-ahead log mode: readers
// and the writer do not wait for each other. Several processes may have one
// file open, each writer waiting up to 10 s for the others.
//
// # What is kept
//
// Each known field of a message, absent told from empty; not its unknown fields.
// A hash is stored once: the message that came first stays.
//
// # What survives
//
// A file is synchronised when its log is moved into it, not at each commit
// (PRAGMA synchronous=NORMAL): after the process is killed everything committed
// is there; after the machine loses power the latest transactions may be missing,
// and the database is whole. The log is moved when it has grown to 64 MiB, and
// when the last connection closes. Moving it is most of what a write to a file
// costs: with SQLite's own 4 MiB inserts took about twice as long.
//
// # What is copied
//
// The driver copies each value that it is given into memory of SQLite (payload,
// meta, proof and both topics, once per insert), and SQLite copies it on into its
// pages; what is read comes back the same way. This package copies no payload on
// its way in, and one more time on its way out.
//
// The package has no limit of its own on the size of the database and deletes
// nothing. It starts no goroutine that outlives Close.
package sqlite
