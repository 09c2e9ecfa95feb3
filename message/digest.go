package message

import (
	"sync"

	"github.com/zeebo/blake3"
	"google.golang.org/protobuf/encoding/protowire"
)

// A PayloadDigest stands for a payload in both names of a message, the hash
// under [Blake3] and the gossip id, so that one pass over the payload serves
// both. It is no name by itself: messages with one payload share it.
type PayloadDigest [32]byte

// payloadContext separates the digest from every other use of BLAKE3.
const payloadContext = "msgpath 2026-11-30 payload digest v1"

var payloadPool = sync.Pool{New: func() any { return &blake3State{Hasher: blake3.NewDeriveKey(payloadContext)} }}

// DigestPayload returns the digest of a payload: BLAKE3 in key derivation mode
// over its bytes. An absent payload is an empty one. It allocates nothing and is
// safe for concurrent use.
func DigestPayload(payload []byte) PayloadDigest {
	d := payloadPool.Get().(*blake3State)
	defer payloadPool.Put(d)
	d.Reset()
	_, _ = d.Write(payload)
	d.Sum(d.buf[:0])
	return PayloadDigest(d.buf)
}

// maxCutFields is how many fields Cut walks over. A message has 7, and an id is
// computed under gossipsub's lock: who sends thousands of fields must not make
// everybody wait.
const maxCutFields = 32

// Cut finds the payload in the bytes of a message without decoding it. The three
// parts joined are data; payload is what either [Decoder] gives as the message's
// payload, if it accepts data at all. It is false for bytes that cannot be a
// message, and for some that nobody needs to send: with a group, or with more
// than 32 fields. It allocates nothing.
func Cut(data []byte) (before, payload, after []byte, ok bool) {
	begin, end := 0, 0
	for at, fields := 0, 0; at < len(data); fields++ {
		num, typ, n := protowire.ConsumeTag(data[at:]) //msgpath:uncounted walks over tags and decodes nothing
		if n < 0 || !num.IsValid() || typ == protowire.StartGroupType || fields == maxCutFields {
			return nil, nil, nil, false
		}
		at += n
		if n = protowire.ConsumeFieldValue(num, typ, data[at:]); n < 0 {
			return nil, nil, nil, false
		}
		at += n
		if num == fieldPayload && typ == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(data[at-n:])
			begin, end = at-len(value), at // the last of repeated fields wins
		}
	}
	return data[:begin], data[begin:end], data[end:], true
}
