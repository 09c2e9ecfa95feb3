package archive

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/btree"
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
	keys   *btree.BTreeG[message.Key] // of rows
	bytes  int64                      // of rows
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	less := func(a, b message.Key) bool { return a.Compare(b) < 0 }
	return &Memory{
		rows: make(map[message.Hash]Row),
		keys: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true}),
	}
}

// use reports why nothing can be done: ctx is done, or b closed. The caller holds mu.
func (b *Memory) use(ctx context.Context) error {
	if b.closed {
		return ErrClosed
	}
	return ctx.Err()
}

// Insert implements Backend.
func (b *Memory) Insert(ctx context.Context, rows []Row) ([]bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.use(ctx); err != nil {
		return nil, fmt.Errorf("archive: memory: insert: %w", err)
	}
	fresh := make([]bool, len(rows))
	for i, row := range rows {
		if _, ok := b.rows[row.Key.Hash]; !ok {
			fresh[i] = true
			b.rows[row.Key.Hash] = row.retained()
			b.keys.Set(row.Key)
			b.bytes += SizeOf(row.Topic, row.Message)
		}
	}
	return fresh, nil
}

// Select implements Backend.
func (b *Memory) Select(ctx context.Context, s Selection) ([]Row, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if err := b.use(ctx); err != nil {
		return nil, fmt.Errorf("archive: memory: select: %w", err)
	}
	var found []Row
	b.walk(s, func(k message.Key) bool {
		if row := b.rows[k.Hash]; s.matches(row) {
			found = append(found, s.shown(row))
		}
		return len(found) < s.Limit
	})
	return found, nil
}

// walk calls visit with the keys that s may match, in its order, until visit returns
// false.
func (b *Memory) walk(s Selection, visit func(message.Key) bool) {
	switch {
	case len(s.Hashes) > 0:
		for _, k := range b.keysOf(s) {
			if !visit(k) {
				return
			}
		}
	case s.Descending && s.Before != nil:
		b.keys.Descend(*s.Before, visit)
	case s.Descending:
		b.keys.Reverse(visit)
	case s.After != nil:
		b.keys.Ascend(*s.After, visit)
	default:
		b.keys.Scan(visit)
	}
}

// keysOf returns the keys of s.Hashes in the order of s, each once.
func (b *Memory) keysOf(s Selection) (keys []message.Key) {
	for _, h := range s.Hashes {
		if row, ok := b.rows[h]; ok {
			keys = append(keys, row.Key)
		}
	}
	slices.SortFunc(keys, message.Key.Compare)
	keys = slices.Compact(keys)
	if s.Descending {
		slices.Reverse(keys)
	}
	return keys
}

// matches reports whether s selects r, but for its hashes.
func (s Selection) matches(r Row) bool {
	switch {
	case s.After != nil && r.Key.Compare(*s.After) <= 0,
		s.Before != nil && r.Key.Compare(*s.Before) >= 0,
		s.Topic != "" && r.Topic != s.Topic,
		len(s.ContentTopics) > 0 && !slices.Contains(s.ContentTopics, r.Message.GetContentTopic()):
		return false
	}
	return true
}

// shown returns r as s asks for it.
func (s Selection) shown(r Row) Row {
	shown := Row{Key: r.Key}
	if s.Data {
		shown = r
	}
	if s.Sizes {
		shown.Size = SizeOf(r.Topic, r.Message)
	}
	return shown
}

// Delete implements Backend.
func (b *Memory) Delete(ctx context.Context, keys []message.Key) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.use(ctx); err != nil {
		return fmt.Errorf("archive: memory: delete: %w", err)
	}
	for _, k := range keys {
		if row, ok := b.rows[k.Hash]; ok && row.Key == k {
			delete(b.rows, k.Hash)
			b.keys.Delete(k)
			b.bytes -= SizeOf(row.Topic, row.Message)
		}
	}
	return nil
}

// Size implements Backend.
func (b *Memory) Size(ctx context.Context) (Size, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if err := b.use(ctx); err != nil {
		return Size{}, fmt.Errorf("archive: memory: size: %w", err)
	}
	return Size{Messages: int64(len(b.rows)), Bytes: b.bytes}, nil
}

// Close implements Backend. It forgets the rows.
func (b *Memory) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.rows, b.keys = true, nil, nil
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
