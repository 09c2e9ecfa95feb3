// Package study is the result of a measurement that is not a run of the message
// path: tables of what was measured beside what it is compared with. It knows no
// relay.
//
// A [Study] is written as JSON, which [ReadJSON] reads again, as text for a terminal
// and as a Markdown page; the values of all three are the same. It measures and
// judges nothing, and has no Run and nothing to close.
package study
