// Package scale holds how the cost of a message grows: with the number of
// messages, their size, the window, topics, peers, processors, and with the rows
// that are in the archive already. It fits an exponent to each, and writes and
// reads results as JSON, CSV and text. It measures nothing: package bench does.
//
// A [Row] is one thing that is varied. For each value of it there is a [Point],
// which has all its runs. A cost is fitted as
//
//	cost = factor × x^exponent
//
// by a straight line through the logarithms of the medians ([FitPoints]). An
// exponent of 0 says that a message costs the same whatever x is; 1, that its
// cost grows as x does. A fit describes the values that were measured and
// promises nothing beyond them, and where a fixed part and a part that grows add
// up, no one exponent is true everywhere: R² says how straight the line is.
//
// What it will not do: judge a time. [Result.ExitCode] looks at counts, which are
// exact, and at runs that are not valid.
package scale
