package negentropy_test

import (
	"fmt"
	"log"
	"math"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

func Example() {
	var ours, theirs storesync.Set
	for i := range 1000 {
		k := message.Key{Timestamp: int64(i), Hash: message.Hash{byte(i >> 8), byte(i)}}
		if i != 17 {
			ours.Insert(k)
		}
		if i != 801 {
			theirs.Insert(k)
		}
	}
	initiator, err := negentropy.NewInitiator(ours.Snapshot(0, math.MaxInt64), negentropy.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	responder, err := negentropy.NewResponder(theirs.Snapshot(0, math.MaxInt64), negentropy.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	frame, err := initiator.Start()
	for frame != nil && err == nil {
		var answer []byte
		if answer, err = responder.Step(frame); err != nil {
			break
		}
		var diff negentropy.Diff
		frame, diff, err = initiator.Step(answer)
		for _, id := range diff.Have {
			fmt.Printf("have %x\n", id[:2])
		}
		for _, id := range diff.Need {
			fmt.Printf("need %x\n", id[:2])
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// have 0321
	// need 0011
}
