package storesync_test

import (
	"fmt"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync"
)

func ExampleSet() {
	var s storesync.Set
	later, earlier := message.Key{Timestamp: 9}, message.Key{Timestamp: 5}
	fmt.Println(s.Insert(later), s.Insert(earlier), s.Insert(later))
	for k := range s.Keys() {
		fmt.Println(k.Timestamp)
	}
	// Output:
	// true true false
	// 5
	// 9
}

func ExampleSnapshot() {
	var s storesync.Set
	for t := range int64(10) {
		s.Insert(message.Key{Timestamp: t})
	}
	window := s.Snapshot(3, 7)
	s.Delete(message.Key{Timestamp: 4})
	fmt.Println("items:", window.Len())
	for k := range window.Keys() {
		fmt.Println(k.Timestamp)
	}
	// Output:
	// items: 4
	// 3
	// 4
	// 5
	// 6
}
