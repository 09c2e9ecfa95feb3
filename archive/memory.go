package archive

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

var siteRetain = counters.NewSite("archive.retain")

// Memory is a Backend in Go memory. It keeps the messages themselves, not
// copies, and with them the received bytes that they may be slices of, unless
// those are large for what they hold.
type Memory struct {
	mu     sync.RWMutex
	closed bool
	rows   map[message.Hash]Row
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{rows: make(map[message.Hash]Row)} }

// Insert implements Backend.
func (b *Memory) Insert(ctx context.Context, rows []Row) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("archive: memory: insert: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, fmt.Errorf("archive: memory: insert: %w", ErrClosed)
	}
	fresh := make([]bool, len(rows))
	for i, row := range rows {
		if _, ok := b.rows[row.Key.Hash]; !ok {
			fresh[i] = true
			b.rows[row.Key.Hash] = row.retained()
		}
	}
	return fresh, nil
}

// Get implements Backend.
func (b *Memory) Get(ctx context.Context, h message.Hash) (Row, error) {
	if err := ctx.Err(); err != nil {
		return Row{}, fmt.Errorf("archive: memory: get %s: %w", h, err)
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return Row{}, fmt.Errorf("archive: memory: get %s: %w", h, ErrClosed)
	}
	row, ok := b.rows[h]
	if !ok {
		return Row{}, fmt.Errorf("archive: memory: get %s: %w", h, ErrNotFound)
	}
	return row, nil
}

// Keys implements Backend. It yields the keys that were there when the
// iteration began, from a sorted copy.
func (b *Memory) Keys(ctx context.Context) iter.Seq2[message.Key, error] {
	return func(yield func(message.Key, error) bool) {
		keys, err := b.keys()
		if err != nil {
			yield(message.Key{}, err)
			return
		}
		slices.SortFunc(keys, message.Key.Compare)
		for _, k := range keys {
			if err := ctx.Err(); err != nil {
				yield(message.Key{}, fmt.Errorf("archive: memory: list keys: %w", err))
				return
			}
			if !yield(k, nil) {
				return
			}
		}
	}
}

func (b *Memory) keys() ([]message.Key, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, fmt.Errorf("archive: memory: list keys: %w", ErrClosed)
	}
	keys := make([]message.Key, 0, len(b.rows))
	for row := range maps.Values(b.rows) {
		keys = append(keys, row.Key)
	}
	return keys, nil
}

// Close implements Backend. It forgets the rows.
func (b *Memory) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.rows = true, nil
	return nil
}

// A buffer is worth leaving behind when less than half of it is kept and it is
// not small anyway: a message of 10 bytes padded with unknown or repeated fields
// must not hold 150 KiB.
const smallBuffer = 1024

// retained returns r fit to be kept: without unknown fields, and as a copy if
// its message may hold a buffer that is large for it.
func (r Row) retained() Row {
	m := r.Message
	switch {
	case r.wasteful(len(m.GetPayload()) + len(m.GetContentTopic()) + len(m.GetMeta()) + len(m.GetRateLimitProof())):
		m = known(m)
		m.ContentTopic = strings.Clone(m.ContentTopic)
		m.Payload = r.copyPayload()
		m.Meta = bytes.Clone(m.Meta)
		m.RateLimitProof = bytes.Clone(m.RateLimitProof)
	case len(m.ProtoReflect().GetUnknown()) > 0:
		m = known(m)
	}
	return Row{Key: r.Key, Topic: r.Topic, Message: m}
}

// wasteful reports whether kept bytes of r's message would hold a buffer that is
// large for them.
func (r Row) wasteful(kept int) bool { return r.wire > smallBuffer && kept < r.wire/2 }

// HeldPayload returns the payload fit to be kept: shared with the message unless
// it would hold a received buffer that is large for it, else a copy.
func (r Row) HeldPayload() []byte {
	if payload := r.Message.GetPayload(); !r.wasteful(len(payload)) {
		return payload
	}
	return r.copyPayload()
}

func (r Row) copyPayload() []byte {
	payload := r.Message.GetPayload()
	if counters.Enabled {
		counters.Copy(r.counts, siteRetain, len(payload))
	}
	return bytes.Clone(payload)
}

// known returns a message with the known fields of m, sharing their bytes.
func known(m *pb.WakuMessage) *pb.WakuMessage {
	k := &pb.WakuMessage{
		Payload: m.Payload, ContentTopic: m.ContentTopic, Meta: m.Meta, RateLimitProof: m.RateLimitProof,
	}
	if m.Version != nil {
		k.Version = proto.Uint32(m.GetVersion())
	}
	if m.Timestamp != nil {
		k.Timestamp = proto.Int64(m.GetTimestamp())
	}
	if m.Ephemeral != nil {
		k.Ephemeral = proto.Bool(m.GetEphemeral())
	}
	return k
}
