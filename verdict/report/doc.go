// Package report makes one HTML page of benchmark results: the verdict first,
// then what was counted, what it cost, and how to run it again.
//
// [Write] writes the page, [Plots] returns its plots as SVG files. With one
// [Side] the page sets that side's paths beside each other; with several, each
// path of one side beside the same path of the others, in the order given.
//
// # The page
//
// It is one file without a script that loads nothing: it can be mailed, kept and
// printed. It follows its reader's preference for light or dark, and has each
// plot in two widths, so that no text in a plot is smaller than 11 CSS pixels on
// a phone of 360. Each plot has its numbers in a table below it. No verdict is
// told by colour alone.
//
// # What it will not do
//
// It judges nothing: the verdict and its lines are handed in as an [Input]. A
// headline that is not handed in is made of counts alone. Of times it shows
// medians and every run, and says of none that it is better.
//
// What is not known is "n/a", never 0, and an invalid run is listed with its
// reason and has no figure.
//
// # Limits and life cycle
//
// Everything is a function of its arguments: no goroutine, no file, no clock.
// The page is made in memory and written whole or not at all. A name that does
// not fit in a plot is cut with "…" there, and is whole in the table. There is
// nothing to Run and nothing to Close.
package report
