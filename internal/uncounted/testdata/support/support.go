package support

import (
	"crypto/sha256"

	"github.com/msgpath/msgpath/internal/uncounted/testdata/support/codec"
)

// Sum is excepted with its package.
func Sum(data []byte) [32]byte { return sha256.Sum256(data) }

// Twice has a call that is excepted with its package.
func Twice(data []byte) [32]byte {
	h := codec.Sum(data)
	return codec.Sum(h[:])
}
