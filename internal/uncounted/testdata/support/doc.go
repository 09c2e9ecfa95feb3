// Package support serves tests.
//
//msgpath:uncounted is linked by tests alone
package support
