// Package pb holds the messages of the echo relay, generated from note.proto.
//
//	protoc --go_out=. --go_opt=paths=source_relative pb/note.proto
package pb
