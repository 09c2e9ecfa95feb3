package negentropy_test

import (
	"math"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

// Each session of the tests is held with snapshots too. This package imports
// storesync, which the tests inside negentropy cannot: they would import
// themselves.
func init() {
	negentropy.SetSnapshot(func(items []negentropy.Item) negentropy.Set {
		var s storesync.Set
		for _, item := range items {
			s.Insert(message.Key{Timestamp: int64(item.Timestamp), Hash: item.ID})
		}
		return s.Snapshot(0, math.MaxInt64)
	})
}
