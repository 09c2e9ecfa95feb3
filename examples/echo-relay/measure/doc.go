// Package measure drives two nodes of the echo relay over loopback, in one
// process, and writes what they did as a result that msgpath reads.
//
// A [Pair] has the shape in which any relay can be driven: Start, Publish,
// Delivered, Close. [Drive] publishes through it, waits for every echo, and
// refuses a run in which a note was lost, doubled or altered. The counts are
// exact then: nothing is at work any more.
//
// It measures no more than is asked of it here: times are those of a short run
// without warm-up, and no judgement should rest on them.
package measure
