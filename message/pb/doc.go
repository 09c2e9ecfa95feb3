// Package pb is the wire schemas of RFC 14/WAKU2-MESSAGE and RFC 12/WAKU2-FILTER
// and the code that protoc-gen-go makes of them. "make generate" makes it anew.
package pb
