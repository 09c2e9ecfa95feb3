// Package p2p is a stub of its documentation.
package p2p
