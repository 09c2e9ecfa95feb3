package message

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
)

// Format is how one node reads, names and bounds messages. It is chosen once
// for each node. The zero value is BLAKE3, the copying decoder, default limits.
type Format struct {
	Hash    Algorithm
	Decoder Decoder
	Limits  Limits
}

// Validate reports everything wrong with f.
func (f Format) Validate() error {
	var errs []error
	if int(f.Hash) >= len(algorithmNames) {
		errs = append(errs, fmt.Errorf("message: format: unknown hash %v", f.Hash))
	}
	if int(f.Decoder) >= len(decoderNames) {
		errs = append(errs, fmt.Errorf("message: format: unknown decoder %v", f.Decoder))
	}
	return errors.Join(append(errs, f.Limits.Validate())...)
}

// An Envelope is one message on one pubsub topic, as its bytes. It decodes and
// hashes them when first asked and remembers the answer, so that all who hold
// it pay once between them. The work is charged to the node's counters at the
// site of whoever asked first.
//
// It is safe for concurrent use. The bytes and the message it returns are
// shared: nobody may change them.
type Envelope struct {
	counts counters.Set // first: see package counters
	format Format
	topic  string
	data   []byte

	mu      sync.Mutex    // held while decoding or hashing
	lender  counters.Site // of the pass that the adopted digest came from
	adopted bool          // sum holds the payload's digest until it holds the hash
	known   atomic.Uint32 // decoded, hashed
	msg     *pb.WakuMessage
	err     error
	sum     Hash
}

// Bits of Envelope.known.
const (
	decoded = 1 << iota
	hashed
)

// Wrap returns an Envelope for the bytes data received on a pubsub topic. It
// takes data over.
func Wrap(counts counters.Set, format Format, topic string, data []byte) *Envelope {
	return &Envelope{counts: counts, format: format, topic: topic, data: data}
}

// Seal encodes m, which it takes over, for a pubsub topic, and returns the
// Envelope of a message that is decoded already. The encode is charged to site;
// a message that is refused is not encoded. Encoding is deterministic. An error
// wraps one of the limits' errors, or is about unknown fields in m that would
// reach a receiver as something else.
func Seal(counts counters.Set, format Format, topic string, m *pb.WakuMessage, site counters.Site) (*Envelope, error) {
	if err := format.Limits.check(topic, m); err != nil {
		return nil, err
	}
	if err := format.Limits.checkSize(proto.Size(m)); err != nil {
		return nil, err
	}
	if err := checkUnknown(m.ProtoReflect().GetUnknown()); err != nil {
		return nil, err
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("message: encode: %w", err)
	}
	if counters.Enabled {
		counters.Encode(counts, site, len(data))
	}
	e := Wrap(counts, format, topic, data)
	e.msg = m
	e.known.Store(decoded)
	return e, nil
}

// checkUnknown reports bytes that are not whole, unknown fields. The encoder
// copies them blindly: a field of the schema among them would replace the one in
// the message, so that publisher and receiver hash different messages.
func checkUnknown(unknown []byte) error {
	if len(unknown) == 0 {
		return nil
	}
	m, err := Aliasing.Decode(unknown) //msgpath:uncounted of the unknown fields of a message to publish, not of a message
	if err != nil {
		return fmt.Errorf("message: encode unknown fields: %w", err)
	}
	if m.ProtoReflect().SetUnknown(nil); !proto.Equal(m, new(pb.WakuMessage)) {
		return errors.New("message: encode unknown fields: a field of the schema is among them")
	}
	return nil
}

// Topic returns the pubsub topic.
func (e *Envelope) Topic() string { return e.topic }

// Bytes returns the encoded message. The caller must not change it.
func (e *Envelope) Bytes() []byte { return e.data }

// Counts returns the counters of the node that e belongs to, for consumers
// that have work of their own to charge.
func (e *Envelope) Counts() counters.Set { return e.counts }

// Adopt tells e the digest of its payload, so that its hash makes no pass over
// it: digest is that of the payload that [Cut] found in exactly e's bytes, by
// whoever computed their gossip id. The pass was counted as an id's at site; if a
// hash uses it, the payload's bytes are counted as that hash's instead. It must
// be called before e is shared or hashed, and once. Under [WakuSHA256], which
// needs a pass of its own, it does nothing.
func (e *Envelope) Adopt(digest PayloadDigest, site counters.Site) {
	if e.format.Hash != Blake3 {
		return
	}
	e.sum, e.adopted = Hash(digest), true
	e.lender = site
}

// Fresh returns an Envelope for the same message that has been decoded if e has
// been, with the same result, and has neither been hashed nor adopted a digest.
func (e *Envelope) Fresh() *Envelope {
	f := Wrap(e.counts, e.format, e.topic, e.data)
	if e.knows(decoded) {
		f.msg, f.err = e.msg, e.err
		f.known.Store(decoded)
	}
	return f
}

// knows reports whether e has been decoded, or hashed: what it found can then be
// read without the lock.
func (e *Envelope) knows(bit uint32) bool { return e.known.Load()&bit != 0 }

// Message returns the decoded message, which the caller must not change. The
// error is the decoder's or wraps one of the limits' errors, and is the same at
// each call. A decode is charged to site.
func (e *Envelope) Message(site counters.Site) (*pb.WakuMessage, error) {
	if !e.knows(decoded) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.decode(site)
	}
	return e.msg, e.err
}

// decode decodes e once. The caller holds e.mu.
func (e *Envelope) decode(site counters.Site) {
	if e.knows(decoded) {
		return
	}
	e.msg, e.err = e.decodeChecked(site)
	e.known.Or(decoded) // last: whoever sees it reads msg and err
}

func (e *Envelope) decodeChecked(site counters.Site) (*pb.WakuMessage, error) {
	if err := e.format.Limits.checkSize(len(e.data)); err != nil {
		return nil, err
	}
	m, err := e.format.Decoder.Decode(e.data)
	if counters.Enabled {
		counters.Decode(e.counts, site, len(e.data))
	}
	if err != nil {
		return nil, err
	}
	if counters.Enabled && e.format.Decoder != Aliasing {
		counters.Copy(e.counts, site, len(m.GetPayload()))
	}
	if err := e.format.Limits.check(e.topic, m); err != nil {
		return nil, err
	}
	return m, nil
}

// Hash returns the message's hash. It decodes the message first if that has not
// been done, and returns Message's error. Decode and hash are charged to site.
func (e *Envelope) Hash(site counters.Site) (Hash, error) {
	if !e.knows(hashed) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.hash(site)
	}
	return e.sum, e.err
}

// hash decodes and hashes e once. The caller holds e.mu.
func (e *Envelope) hash(site counters.Site) {
	if e.decode(site); e.err != nil {
		e.sum = Hash{}
		return
	}
	if e.knows(hashed) {
		return
	}
	e.sum = e.hashDecoded()
	if counters.Enabled {
		payload := len(e.msg.GetPayload())
		counters.Hash(e.counts, site, payload+len(e.msg.GetMeta()))
		if e.adopted {
			counters.IDHashShared(e.counts, e.lender, payload)
		}
	}
	e.known.Or(hashed)
}

func (e *Envelope) hashDecoded() Hash {
	if e.adopted {
		return sumBlake3(e.topic, e.msg, PayloadDigest(e.sum))
	}
	return e.format.Hash.Sum(e.topic, e.msg)
}

// Key returns the key under which archives and sync sets hold the message. Its
// errors and charges are those of Hash.
func (e *Envelope) Key(site counters.Site) (Key, error) {
	h, err := e.Hash(site)
	if err != nil {
		return Key{}, err
	}
	return Key{Timestamp: e.msg.GetTimestamp(), Hash: h}, nil
}
