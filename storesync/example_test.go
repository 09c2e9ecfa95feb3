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
