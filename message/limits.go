package message

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/msgpath/msgpath/message/pb"
)

// Default limits, in bytes. A maximum of 150 KiB for the encoded message and of
// 64 bytes for meta are those of the Waku network (RFC 14, RFC 64).
const (
	DefaultMaxSize = 150 * 1024
	DefaultMaxMeta = 64
)

// What a message may violate. Each error that wraps one of these names the
// value found and the limit.
var (
	ErrTooLarge       = errors.New("encoded message is too large")
	ErrMetaTooLong    = errors.New("meta is too long")
	ErrNoContentTopic = errors.New("no content topic")
	ErrInvalidTopic   = errors.New("topic is not valid UTF-8") // content topic or pubsub topic
)

// Limits bound what a node accepts and publishes. The zero value holds the
// defaults.
type Limits struct {
	MaxSize int // largest encoded message in bytes; 0: DefaultMaxSize
	MaxMeta int // largest meta in bytes; 0: DefaultMaxMeta
}

// Validate reports everything wrong with l.
func (l Limits) Validate() error {
	var errs []error
	if l.MaxSize < 0 {
		errs = append(errs, fmt.Errorf("message: limits: MaxSize %d is negative", l.MaxSize))
	}
	if l.MaxMeta < 0 {
		errs = append(errs, fmt.Errorf("message: limits: MaxMeta %d is negative", l.MaxMeta))
	}
	return errors.Join(errs...)
}

// checkSize reports an encoded message of size bytes that is too large. It is
// separate from check so that an oversized message is
// refused before anything is decoded.
func (l Limits) checkSize(size int) error {
	limit := l.MaxSize
	if limit == 0 {
		limit = DefaultMaxSize
	}
	if size > limit {
		return fmt.Errorf("message: %w: %d bytes, limit %d", ErrTooLarge, size, limit)
	}
	return nil
}

// check reports what else m on the pubsub topic violates.
func (l Limits) check(topic string, m *pb.WakuMessage) error {
	limit := l.MaxMeta
	if limit == 0 {
		limit = DefaultMaxMeta
	}
	switch {
	case len(m.GetMeta()) > limit:
		return fmt.Errorf("message: %w: %d bytes, limit %d", ErrMetaTooLong, len(m.GetMeta()), limit)
	case m.GetContentTopic() == "":
		return fmt.Errorf("message: %w", ErrNoContentTopic)
	case !utf8.ValidString(m.GetContentTopic()):
		return fmt.Errorf("message: content %w: %.64q", ErrInvalidTopic, m.GetContentTopic())
	case !utf8.ValidString(topic):
		return fmt.Errorf("message: pubsub %w: %.64q", ErrInvalidTopic, topic)
	}
	return nil
}
