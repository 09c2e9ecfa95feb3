package negentropy_test

import (
	"testing"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync"
)

// A key that is inserted or deleted twice, as by two stages, changes no
// fingerprint.
func TestFingerprintOfASet(t *testing.T) {
	var s storesync.Set
	for i := range 100 {
		s.Insert(message.Key{Timestamp: int64(i), Hash: message.Hash{byte(i)}})
	}
	v := set(&s)
	want := v.Fingerprint(0, v.Len())
	again, other := message.Key{Timestamp: 50, Hash: message.Hash{50}}, message.Key{Timestamp: 50, Hash: message.Hash{51}}
	s.Insert(again)
	s.Insert(other)
	s.Delete(other)
	s.Delete(other)
	v = set(&s)
	if got := v.Fingerprint(0, v.Len()); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}
