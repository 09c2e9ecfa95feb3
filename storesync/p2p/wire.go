package p2p

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/multiformats/go-varint"
)

// A duplex is what a session runs over: a stream of libp2p, a net.Conn.
type duplex interface {
	io.ReadWriter
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// bufferSize is how much is gathered before a write: many small messages, while
// a large one passes by it.
const bufferSize = 16 << 10

// wire reads and writes frames. Sides take turns, so that one goroutine does both.
type wire struct {
	stream duplex
	step   time.Duration // for one frame, either way
	end    time.Time     // of the session
	in     *bufio.Reader
	out    *bufio.Writer

	bytesIn, bytesOut uint64
}

func newWire(stream duplex, step time.Duration, end time.Time) *wire {
	w := &wire{stream: stream, step: step, end: end}
	w.in = bufio.NewReaderSize(counting{stream, &w.bytesIn}, bufferSize)
	w.out = bufio.NewWriterSize(counting{stream, &w.bytesOut}, bufferSize)
	return w
}

// counting counts the bytes that pass a stream.
type counting struct {
	io.ReadWriter
	n *uint64
}

func (c counting) Read(b []byte) (int, error) {
	n, err := c.ReadWriter.Read(b)
	*c.n += uint64(n)
	return n, err
}

func (c counting) Write(b []byte) (int, error) {
	n, err := c.ReadWriter.Write(b)
	*c.n += uint64(n)
	return n, err
}

// deadline returns when what begins now must have ended.
func (w *wire) deadline() time.Time {
	if d := time.Now().Add(w.step); d.Before(w.end) {
		return d
	}
	return w.end
}

// write writes a frame whose body has these parts. It may wait for flush.
func (w *wire) write(k kind, parts ...[]byte) error {
	if err := w.stream.SetWriteDeadline(w.deadline()); err != nil {
		return fmt.Errorf("write %v: %w", k, err)
	}
	size := kindSize
	for _, p := range parts {
		size += len(p)
	}
	var head [maxVarint + kindSize]byte
	_, err := w.out.Write(append(binary.AppendUvarint(head[:0], uint64(size)), byte(k)))
	for _, p := range parts {
		if err == nil {
			_, err = w.out.Write(p)
		}
	}
	if err != nil {
		return fmt.Errorf("write %v: %w", k, err)
	}
	return nil
}

func (w *wire) flush() error {
	if err := w.stream.SetWriteDeadline(w.deadline()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// read ends this side's turn and reads a frame of up to limit bytes, kind
// included. The body is the caller's.
func (w *wire) read(limit int) (kind, []byte, error) {
	if err := w.flush(); err != nil {
		return 0, nil, err
	}
	if err := w.stream.SetReadDeadline(w.deadline()); err != nil {
		return 0, nil, fmt.Errorf("read frame: %w", err)
	}
	size, err := varint.ReadUvarint(w.in)
	switch {
	case errors.Is(err, varint.ErrOverflow), errors.Is(err, varint.ErrNotMinimal):
		return 0, nil, faultf("length of a frame: %w", err)
	case err != nil:
		return 0, nil, fmt.Errorf("read frame: %w", ended(err))
	case size == 0, size > uint64(limit):
		return 0, nil, faultf("frame of %d bytes: want 1 to %d", size, limit)
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(w.in, frame); err != nil {
		return 0, nil, fmt.Errorf("read frame of %d bytes: %w", size, ended(err))
	}
	return kind(frame[0]), frame[kindSize:], nil
}

// ended says of the end of a stream that it came too early.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// expect reads a frame of one kind. The peer may decline instead.
func (w *wire) expect(want kind, limit int) ([]byte, error) {
	got, body, err := w.read(limit)
	switch {
	case err != nil:
		return nil, err
	case got == kindDecline:
		return nil, fmt.Errorf("%w: %.*q", ErrDeclined, maxReason, body)
	case got != want:
		return nil, unexpected(got, want)
	}
	return body, nil
}

func unexpected(got kind, want ...kind) error {
	if got == kindMessage {
		return fmt.Errorf("%w: want %v", errUnasked, want)
	}
	return faultf("got %v: want %v", got, want)
}
