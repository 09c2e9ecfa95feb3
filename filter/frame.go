package filter

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message"
)

// Fields of MessagePush.
const (
	fieldMessage     = 1
	fieldPubsubTopic = 2
)

// A frame is one MessagePush as it goes over a stream, its length before it. One
// is made for each message, and shared by all queues: data is the message as it
// came, neither encoded again nor copied.
type frame struct {
	hash             message.Hash // of the message, for the log
	to               pair         // who is subscribed to this gets it
	head, data, tail []byte
}

// newFrame returns the frame of an encoded message. Its bytes are those of
// proto.Marshal.
//
//msgpath:uncounted of what surrounds a message, which is not encoded
func newFrame(hash message.Hash, to pair, data []byte) *frame {
	inner := protowire.SizeTag(fieldMessage) + protowire.SizeBytes(len(data)) +
		protowire.SizeTag(fieldPubsubTopic) + protowire.SizeBytes(len(to.pubsub))
	b := make([]byte, 0, protowire.SizeVarint(uint64(inner))+inner-len(data))
	b = protowire.AppendVarint(b, uint64(inner))
	b = protowire.AppendTag(b, fieldMessage, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(data)))
	head := len(b)
	b = protowire.AppendTag(b, fieldPubsubTopic, protowire.BytesType)
	b = protowire.AppendString(b, to.pubsub)
	return &frame{hash: hash, to: to, head: b[:head:head], data: data, tail: b[head:]}
}

// WriteTo writes the frame. Another frame may follow one that was written whole
// only.
func (f *frame) WriteTo(w io.Writer) (n int64, err error) {
	for _, part := range [...][]byte{f.head, f.data, f.tail} {
		k, err := w.Write(part)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// cutPush returns the pubsub topic, "" if there is none, and the message in the
// encoded MessagePush b, of which the message is a slice. It accepts what
// proto.Unmarshal accepts, but for a push with other than one message, which the
// RFC forbids.
//
//msgpath:uncounted cuts the message out of what surrounds it; an Envelope decodes it
func cutPush(b []byte) (topic string, data []byte, err error) {
	found := false
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return "", nil, fmt.Errorf("tag: %w", protowire.ParseError(n))
		}
		if !num.IsValid() {
			return "", nil, fmt.Errorf("tag: field number %d is out of range", num)
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return "", nil, fmt.Errorf("field %d: %w", num, protowire.ParseError(n))
		}
		value := b[:n]
		b = b[n:]
		switch {
		case typ != protowire.BytesType:
		case num == fieldMessage && found:
			return "", nil, errors.New("a second message")
		case num == fieldMessage:
			data, _ = protowire.ConsumeBytes(value)
			found = true
		case num == fieldPubsubTopic:
			text, _ := protowire.ConsumeBytes(value)
			if !utf8.Valid(text) {
				return "", nil, errors.New("pubsub topic is not valid UTF-8")
			}
			topic = string(text)
		}
	}
	if !found {
		return "", nil, errors.New("no message")
	}
	return topic, data[:len(data):len(data)], nil
}

// errMalformed is wrapped by the error for bytes that are not what they should be,
// and not by that of a stream that was lost.
var errMalformed = errors.New("malformed")

// readFrame reads a length and so many bytes, which the caller may keep, and
// refuses a length above limit. io.EOF means that no frame begins.
func readFrame(r *bufio.Reader, limit int) ([]byte, error) {
	n, err := readLength(r)
	if err != nil {
		return nil, err
	}
	if n > uint64(limit) {
		return nil, fmt.Errorf("%w: frame of %d bytes, at most %d", errMalformed, n, limit)
	}
	return readBytes(r, int(n))
}

// readLength reads the length of a frame.
func readLength(r *bufio.Reader) (uint64, error) {
	var b [binary.MaxVarintLen64]byte
	for i := range b {
		c, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && i > 0:
			return 0, fmt.Errorf("%w: length of a frame: %w", errMalformed, io.ErrUnexpectedEOF)
		case err != nil:
			return 0, err
		}
		if b[i] = c; c < 0x80 {
			if n, k := binary.Uvarint(b[:]); k > 0 {
				return n, nil
			}
			break
		}
	}
	return 0, fmt.Errorf("%w: length of a frame: past 64 bits", errMalformed)
}

// firstRoom is what is made room for before any of it has come, in bytes.
const firstRoom = 4096

// readBytes reads n bytes, making room for no more than as many as have come.
func readBytes(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, min(n, firstRoom))
	for read := 0; ; {
		k, err := io.ReadFull(r, b[read:])
		if read += k; read == n {
			return b, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%w: frame of %d bytes ends after %d", errMalformed, n, read)
		}
		if err != nil {
			return nil, err
		}
		b = append(b, make([]byte, min(n-read, read))...)
	}
}

// writeMessage writes a request or an answer with its length before it.
func writeMessage(w io.Writer, m proto.Message) error {
	b, err := proto.Marshal(m) //msgpath:uncounted of a request or an answer, not of a message
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.AppendUvarint(nil, uint64(len(b))), b...))
	return err
}

// readMessage reads a request or an answer with its length before it.
func readMessage(r io.Reader, m proto.Message) error {
	b, err := readFrame(bufio.NewReader(r), maxRequest)
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(b, m); err != nil { //msgpath:uncounted of a request or an answer, not of a message
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}
