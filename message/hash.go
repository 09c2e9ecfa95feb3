package message

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/msgpath/msgpath/message/pb"
)

// Hash names a message by its pubsub topic and content.
type Hash [32]byte

// String returns h as 64 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Key orders messages in archives and sync sets: by timestamp, then by hash.
type Key struct {
	Timestamp int64 // Unix time in nanoseconds; 0 where the message has none
	Hash      Hash
}

// Compare returns -1, 0 or +1 as k sorts before, with or after l.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.Timestamp, l.Timestamp), bytes.Compare(k.Hash[:], l.Hash[:]))
}

// Algorithm is how a node hashes messages, chosen once for each node. Hashes of
// different algorithms name the same message differently.
type Algorithm uint8

const (
	// Blake3 is BLAKE3 in key derivation mode over each field preceded by its
	// length, so that no two messages are fed to it as the same bytes.
	Blake3 Algorithm = iota
	// WakuSHA256 is the deterministic hash of RFC 14/WAKU2-MESSAGE: SHA-256 over
	// pubsub topic, payload, content topic, meta and timestamp (big-endian),
	// joined without lengths. Messages that join to the same bytes collide, by
	// the RFC's design.
	WakuSHA256
)

var algorithmNames = [...]string{Blake3: "blake3", WakuSHA256: "waku-sha256"}

// ParseAlgorithm returns the algorithm called name.
func ParseAlgorithm(name string) (Algorithm, error) {
	for a, n := range algorithmNames {
		if n == name {
			return Algorithm(a), nil
		}
	}
	return 0, fmt.Errorf("message: parse hash algorithm %q: want blake3 or waku-sha256", name)
}

// String returns the name that ParseAlgorithm takes.
func (a Algorithm) String() string { return algorithmNames[a] }

// blake3Context separates the message hash from every other use of BLAKE3.
const blake3Context = "github.com/msgpath/msgpath message hash v1"

var (
	blake3Pool = sync.Pool{New: func() any { return blake3.NewDeriveKey(blake3Context) }}
	sha256Pool = sync.Pool{New: func() any { return sha256.New() }}
)

// Sum returns the hash of m on the pubsub topic.
func (a Algorithm) Sum(topic string, m *pb.WakuMessage) Hash {
	if a == WakuSHA256 {
		return sumWakuSHA256(topic, m)
	}
	return sumBlake3(topic, m)
}

func sumBlake3(topic string, m *pb.WakuMessage) (sum Hash) {
	d := blake3Pool.Get().(*blake3.Hasher)
	defer blake3Pool.Put(d)
	d.Reset()
	var head [8]byte
	frame := func(n int) { _, _ = d.Write(binary.LittleEndian.AppendUint64(head[:0], uint64(n))) }
	frame(len(topic))
	_, _ = d.WriteString(topic)
	frame(len(m.GetContentTopic()))
	_, _ = d.WriteString(m.GetContentTopic())
	frame(len(m.GetMeta()))
	_, _ = d.Write(m.GetMeta())
	_, _ = d.Write(binary.LittleEndian.AppendUint64(head[:0], uint64(m.GetTimestamp())))
	frame(len(m.GetPayload()))
	_, _ = d.Write(m.GetPayload())
	d.Sum(sum[:0])
	return sum
}

func sumWakuSHA256(topic string, m *pb.WakuMessage) (sum Hash) {
	d := sha256Pool.Get().(hash.Hash)
	defer sha256Pool.Put(d)
	d.Reset()
	_, _ = d.Write([]byte(topic))
	_, _ = d.Write(m.GetPayload())
	_, _ = d.Write([]byte(m.GetContentTopic()))
	_, _ = d.Write(m.GetMeta())
	var stamp [8]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(m.GetTimestamp()))
	_, _ = d.Write(stamp[:])
	d.Sum(sum[:0])
	return sum
}
