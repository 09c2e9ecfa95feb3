// Command node is a small program in which traffic is counted. It calls a
// method by a name that the linker does not know, as large programs do, so that
// the linker keeps every method that reflection could reach.
package main

import (
	"fmt"
	"os"
	"reflect"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/internal/provezero/testdata/traffic"
)

func main() {
	r := traffic.New(counters.New())
	m, err := r.Receive([]byte(os.Args[0]))
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Send([]traffic.Store{new(traffic.Shelf)}, func(_ counters.Site, n int) { fmt.Println(n) }))
	for _, name := range os.Args[1:] {
		fmt.Println(reflect.ValueOf(any(m)).MethodByName(name).Call(nil))
	}
}
