// Package storesync finds which messages two stores do not share.
//
// Today it holds the [Set] of message keys, ordered by timestamp and hash, that
// one store has. Its Add method is a stage of the message path. A set is told of
// each message that the store has, from whichever side it comes first: inserting
// a key twice and deleting one twice change nothing and are no error.
//
// It will not fetch or keep a message, knows no archive and no network, deletes
// nothing by itself and has no bound: who deletes from the store deletes from the
// set. A key takes 40 to 80 bytes. Nothing here runs or needs closing.
package storesync
