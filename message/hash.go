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
	"unsafe"

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
	// Blake3 is BLAKE3 in key derivation mode. Pubsub topic, content topic and
	// meta, each after its length, the timestamp, and the payload's digest are
	// fed to it, every number as 8 bytes, little-endian: no two messages feed it
	// the same bytes.
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
func (a Algorithm) String() string {
	if int(a) < len(algorithmNames) {
		return algorithmNames[a]
	}
	return fmt.Sprintf("Algorithm(%d)", uint8(a))
}

// Sum returns the hash of m on the pubsub topic. It allocates nothing and is
// safe for concurrent use, as long as nobody changes m.
func (a Algorithm) Sum(topic string, m *pb.WakuMessage) Hash {
	if a == WakuSHA256 {
		return sumWakuSHA256(topic, m)
	}
	return sumBlake3(topic, m, DigestPayload(m.GetPayload()))
}

// blake3Context separates the message hash from every other use of BLAKE3. It
// does not name the module, whose path may change while hashes may not.
const blake3Context = "msgpath 2026-11-30 message hash v2"

// The pools keep what a sum needs on the heap. Numbers and sums go through buf
// there, because escape analysis loses them in assembly or behind an interface:
// as local variables they would be allocations.
var (
	blake3Pool = sync.Pool{New: func() any { return &blake3State{Hasher: blake3.NewDeriveKey(blake3Context)} }}
	sha256Pool = sync.Pool{New: func() any { return &sha256State{Hash: sha256.New()} }}
)

type blake3State struct {
	*blake3.Hasher
	buf Hash
}

// sumBlake3 returns the hash of m on the pubsub topic, whose payload has this
// digest.
func sumBlake3(topic string, m *pb.WakuMessage, payload PayloadDigest) Hash {
	d := blake3Pool.Get().(*blake3State)
	defer blake3Pool.Put(d)
	d.Reset()
	d.framedString(topic)
	d.framedString(m.GetContentTopic())
	d.framed(m.GetMeta())
	d.number(uint64(m.GetTimestamp()))
	d.buf = Hash(payload)
	_, _ = d.Write(d.buf[:])
	d.Sum(d.buf[:0])
	return d.buf
}

func (d *blake3State) number(n uint64) {
	binary.LittleEndian.PutUint64(d.buf[:], n)
	_, _ = d.Write(d.buf[:8])
}

func (d *blake3State) framed(b []byte) {
	d.number(uint64(len(b)))
	_, _ = d.Write(b)
}

func (d *blake3State) framedString(s string) {
	d.number(uint64(len(s)))
	_, _ = d.WriteString(s)
}

type sha256State struct {
	hash.Hash
	buf Hash
}

func sumWakuSHA256(topic string, m *pb.WakuMessage) Hash {
	d := sha256Pool.Get().(*sha256State)
	defer sha256Pool.Put(d)
	d.Reset()
	d.writeString(topic)
	_, _ = d.Write(m.GetPayload())
	d.writeString(m.GetContentTopic())
	_, _ = d.Write(m.GetMeta())
	binary.BigEndian.PutUint64(d.buf[:], uint64(m.GetTimestamp()))
	_, _ = d.Write(d.buf[:8])
	d.Sum(d.buf[:0])
	return d.buf
}

// writeString hands s over without a copy: a hash.Hash neither keeps nor
// changes what it is given.
func (d *sha256State) writeString(s string) {
	_, _ = d.Write(unsafe.Slice(unsafe.StringData(s), len(s)))
}
