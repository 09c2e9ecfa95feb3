package echo

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/msgpath/msgpath/counters"
)

// MaxNote is the largest encoded note, in bytes.
const MaxNote = 1 << 20

// A validator is what gossipsub asks before it delivers and forwards a note.
type validator struct {
	counts counters.Set
	reuse  bool // leave the decoded note for the handler
}

// validate applies the rules from cheap to dear.
func (v validator) validate(_ context.Context, _ peer.ID, m *pubsub.Message) pubsub.ValidationResult {
	if !fits(m.Data) {
		return pubsub.ValidationReject
	}
	r, err := open(v.counts, siteValidator, m.Data)
	if err != nil || !signed(r) {
		return pubsub.ValidationReject
	}
	if v.reuse {
		m.ValidatorData = r
	}
	return pubsub.ValidationAccept
}

func fits(wire []byte) bool { return len(wire) > 0 && len(wire) <= MaxNote }

func signed(r *received) bool {
	n := r.note
	return len(n.Author) == ed25519.PublicKeySize && len(n.EchoOf) <= sha256.Size &&
		ed25519.Verify(n.Author, r.digest[:], n.Signature)
}
