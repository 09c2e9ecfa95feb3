// Package pb is the wire schema of RFC 14/WAKU2-MESSAGE and the code that
// protoc-gen-go makes of it. "make generate" makes it anew.
package pb

//go:generate protoc --proto_path=. --go_out=. --go_opt=paths=source_relative message.proto
