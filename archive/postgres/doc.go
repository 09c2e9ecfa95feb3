// Package postgres is an archive backend in one PostgreSQL database, version 13 or
// later, through pgx.
//
// [Open] takes a URL, "postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…", or
// libpq's keywords, and reads the environment and files that libpq reads, so that
// a password need not stand in a command line. In a URL, an @ or / in the password is
// written %40 or %2F, or the URL is refused. Errors and log lines show the host, the
// user and the database that were given, and never a password. The table messages is made in the first schema
// of the search path (?search_path=…); one of that name that is another program's
// is refused.
//
// # What is kept
//
// Each known field of a message, absent told from empty; not its unknown fields.
// A hash is stored once: the message that came first stays. Topics are stored as
// bytes, since PostgreSQL's text has no zero byte. There are no partitions.
//
// # When the server is away
//
// An insert that finds the server stopped, starting, read-only (a standby, before it
// is promoted), out of connections or cut off is tried again, first after 50 ms and then with waits that double up to 2 s, until
// the server has been away for Options.Patience. From then on each insert has one
// attempt, until one works. [Database.Ready] has the reason meanwhile, and
// Options.Logger is told when it begins and ends. Which errors pass is decided by
// their SQLSTATE; any other ends the insert at once, as a full disk or a missing
// table does. A deadlock is tried again too.
//
// A connection may be lost when the commit was sent and not answered. The next one
// asks what became of that transaction, by its id, so that its rows are stored
// once and told new once. From that commit on the insert's context does not end it;
// Options.Patience does, and then the error says that rows may be stored.
//
// Reads and deletes do not wait. A read is tried again once, since a restart ends
// the connections that lie ready. A delete whose commit was not answered is done
// again, as patiently as an insert: what is gone needs no deleting, so whatever became
// of the first, its rows are gone when it returns. Only if patience ends before does
// its error say that rows may be deleted.
//
// # Several nodes
//
// Nodes may share a database: they may open it at the same time, insert the same
// messages and delete them. What one inserts is a duplicate to the others, which
// says nothing about what they have seen themselves: see [Database.Shared].
//
// The table messages_size says how much is stored. The statement that inserts or
// deletes changes it too, so that Size reads 16 rows, however many messages there are.
// Who changes messages by hand changes it as well, or else Size, and what the
// retention keeps by count and bytes, is wrong by as much. So is what a node of a
// version before this table writes: stop those before one of this opens the database.
//
// # Connections
//
// One writes, and up to Options.Readers read. They are opened when needed, and
// closed after 30 minutes without use. The server ends a statement after
// Options.Timeout; twice that ends it here, and Close waits for it. Migrations hold
// an advisory lock of the session, and settings are sent when connecting: a pooler
// in between must be one by session.
//
// # Run and Close
//
// There is no Run: pgx keeps a goroutine for each of the two pools, from Open to
// Close, which checks what lies ready each minute. Close waits for the calls at
// work, except that an insert which waits for the server gives up.
//
// # What is copied
//
// The driver copies a batch into one message to the server, and each value that
// is read out of the one from it. Payloads are stored as they are, not compressed,
// and those over 2 kB beside the row, which selecting keys and sizes does not read.
//
// The package has no limit of its own on the size of the database, and no policy
// of what to delete. Deleted rows are the server's to clean up (autovacuum).
package postgres
