package echo

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/msgpath/msgpath/counters"
	"google.golang.org/protobuf/proto"

	"example.org/echo-relay/pb"
)

// A received note is decoded and hashed.
type received struct {
	note   *pb.Note
	digest [sha256.Size]byte
}

// seal signs a note and encodes it.
func seal(counts counters.Set, note *pb.Note, key ed25519.PrivateKey) ([]byte, error) {
	digest := digestOf(counts, sitePublish, note)
	note.Author = key.Public().(ed25519.PublicKey)
	note.Signature = ed25519.Sign(key, digest[:])
	wire, err := proto.Marshal(note)
	if err != nil {
		return nil, fmt.Errorf("echo: encode note: %w", err)
	}
	if counters.Enabled {
		counters.Encode(counts, sitePublish, len(wire))
	}
	return wire, nil
}

// open decodes a note and computes its digest, for whoever works at site.
func open(counts counters.Set, site counters.Site, wire []byte) (*received, error) {
	note := new(pb.Note)
	if err := proto.Unmarshal(wire, note); err != nil {
		return nil, fmt.Errorf("echo: decode note: %w", err)
	}
	if counters.Enabled {
		counters.Decode(counts, site, len(wire))
	}
	return &received{note, digestOf(counts, site, note)}, nil
}

// digestOf returns what an author signs: the SHA-256 of what is echoed and of the
// body, the former with its length before it.
func digestOf(counts counters.Set, site counters.Site, note *pb.Note) (digest [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte{byte(len(note.EchoOf))})
	h.Write(note.EchoOf)
	h.Write(note.Body)
	h.Sum(digest[:0])
	if counters.Enabled {
		counters.Hash(counts, site, len(note.Body))
	}
	return digest
}

// messageID returns the id of an encoded note, which gossipsub asks for once per
// received copy.
func messageID(counts counters.Set) func(*pubsubpb.Message) string {
	return func(m *pubsubpb.Message) string {
		id := sha256.Sum256(m.Data)
		if counters.Enabled {
			counters.IDHash(counts, siteMessageID, len(m.Data))
		}
		return string(id[:])
	}
}
