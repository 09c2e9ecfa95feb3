// Package codec is called by support, which does not make its calls covered.
package codec

import "crypto/sha256"

// Sum has one caller that is left out.
func Sum(data []byte) [32]byte {
	return sha256.Sum256(data) // want `hash not counted: sha256.Sum256 in Sum \(called from support.Twice\)`
}
