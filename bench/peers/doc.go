// Package peers measures what people would write instead of this project, beside
// it: bare go-libp2p-pubsub with a handler and SQLite, written by hand as the
// libraries' own documentation writes them. It is for the benchmark alone, and a
// module of its own.
//
// # Where it comes from
//
// The read loop is that of the chat example of go-libp2p-pubsub: Subscribe, Next
// in a loop, skip what this node sent itself, unmarshal, handle. The validator is
// as RegisterTopicValidator has it: unmarshal, look at the fields, accept or
// reject. The log line names a message by the SHA-256 of its bytes, and so does
// its row. SQLite is modernc.org/sqlite through database/sql, with the settings
// that most introductions end with: WAL, synchronous NORMAL, a busy timeout, one
// open connection, a statement that is prepared once, and one insert a message in
// a transaction of its own, which SQLite makes by itself.
//
// # What is not the default
//
//   - StrictNoSign, which a relay of RFC 11/WAKU2-RELAY must have. The default
//     message id is made of author and sequence number, which such messages lack,
//     so that an id has to be given: the SHA-256 of the data, as in the issues and
//     relays that needed one.
//   - An outbound queue of 1024 RPCs for each peer, and a subscription of 1024
//     messages. The defaults of 32 lose messages of the workload, about which
//     nobody is told: the one at a window of 32, since each large message has an
//     IDONTWANT before it, the other where the read loop has to wait for a
//     processor while its own node publishes.
//
// Everything else is as NewGossipSub and libp2p.New have it, TLS before Noise
// among it; only the listening address is given, since all is on one machine.
//
// # Where it is treated well
//
// Where habits differ, it has the cheaper one: the statement is prepared, the hash
// is made once for log and key, what a node sent itself is neither decoded nor
// logged, synchronous is NORMAL, as in this project's archive, and the log has a
// level at which the line is not written. It does less than the project's node:
// no sync set, no accounts, no observers, no identity in the archive that others
// share. The pages of its database in memory are mapped beforehand, as those of
// the project's are: see ReserveMemory. Who writes it less well measures more.
//
// It counts nothing: its decodes and hashes are n/a in every result.
package peers
