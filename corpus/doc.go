// Package corpus keeps messages that a node received in files, so that real
// traffic can be measured again.
//
// A [Writer] records: [Writer.Record] queues a message and never blocks,
// [Writer.Run] writes what is queued, and [Read] returns it in the order of
// arrival. A file that was cut, that is damaged or that is something else is an
// error that names the record and its offset.
//
// # Format
//
// A file is a header, records and an end mark. The header is the text
// "msgpath corpus 1\n", 17 bytes. A record is
//
//	length    unsigned varint, of body in bytes, 1 to MaxRecord
//	body      arrival   8 bytes, Unix time in ns, signed, big-endian
//	          topic     unsigned varint length, then the pubsub topic
//	          message   the rest: the bytes that came over the wire
//	checksum  4 bytes, little-endian: CRC-32C of the header and of all lengths
//	          and bodies up to here
//
// and the end mark is a record of length 0, without a body. The checksum goes on
// from record to record, so that one that is missing, added or out of place is
// found as a changed byte is; without the end mark a file that was cut between two
// records would look whole.
//
// # Files
//
// A file never has more than Options.MaxBytes. Then, and when a Writer is created
// where there is one, FILE becomes FILE.1, FILE.1 becomes FILE.2 and so on; the
// oldest beyond Options.Files is removed. A message is in one file whole. Nothing
// that is not a corpus is renamed or removed.
//
// What was recorded reaches the file when the file is full, at Close and at least
// every second. A process that is killed loses what came later, and leaves a file
// without an end mark, which Read refuses after the last whole record; the next
// Writer with the same path cuts the rest off and ends it. Nothing is synced: a
// loss of power may take more.
//
// # Run, Close and failure
//
// [Create] opens the file and starts nothing. Run writes until its context ends or
// Close is called, and writes what is queued before it returns. Close ends Run,
// waits for it, and ends and closes the file. A write that fails turns recording
// off: it is logged once, what is not written is counted as Failed, and Run goes
// on until it is told to stop, so that nobody else is disturbed.
//
// # Limits
//
// The queue holds [QueueMessages] messages of [QueueBytes] in all; a message that
// finds no room is dropped and counted, and so is one that no file can hold. It
// keeps the bytes that it is handed and does not change or copy them. Read
// allocates [MaxRecord] bytes at most for what a file claims. One Writer may use a
// path at a time; nothing checks that. The package knows nothing of what is in a
// message.
package corpus
