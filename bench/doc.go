// Package bench drives relays with a fixed workload and accounts for what each
// message cost: counts by node and site, time, CPU, memory, and proof that every
// message arrived once and unaltered. It is a library; the command binds flags.
//
// There are two scenarios. In "micro" received bytes enter one node through
// relay.Inject, without a network; in "macro" one node publishes and another,
// over loopback TCP, archives, syncs and delivers. Both run the nodes of package
// node, put together as in production; nothing of a message's path is written
// here again. The path "raw" is bare gossipsub with the same options, a ceiling
// for macro in the same session. Anything else that can be driven is a [Target].
//
// Runs are interleaved over paths and each starts from the same state of memory,
// so that times may be compared within one session. Counts are exact and may be
// compared anywhere.
//
// A run in which a message was lost, duplicated or altered has no measurements:
// it is reported as verdict.Invalid, with what happened.
//
// Beside runs of the path there are studies of one part of a node, such as [Sync].
//
// What it will not do: write a file, print a table or judge; that is package
// verdict's and the command's. A [Run] may be interrupted by its context at any
// time and leaves nothing running.
package bench
