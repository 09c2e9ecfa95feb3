// Package postgrestest starts private, throw-away PostgreSQL servers for tests and
// measurements, from the newest binaries in /usr/lib/postgresql or in PATH.
//
// [Database] gives a test an empty database of its own on the one server of its
// test binary, which starts when the first test asks and ends with [Main]. [Start]
// gives a test a server of its own, to stop, kill and start. Both skip the test
// where there is no PostgreSQL, and with MSGPATH_REQUIRE_POSTGRES=1 they fail it.
// [Options.Launch] is for programs that measure.
//
// A server keeps everything in one new folder that nobody else may enter, listens
// on a socket in it and on no port, and asks for a random password. Where the
// process is root, which PostgreSQL refuses, the server runs as the user postgres
// or nobody. [Server.Close] stops it and removes the folder. If the process dies
// before, Linux stops the server; its folder then stays in the directory for
// temporary files.
//
// It is no way to run a server for anything that should last: without
// Options.Sync nothing is synchronised to the disk.
package postgrestest
