package corpus

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/bits"
	"time"
)

// Record is one message as it arrived.
type Record struct {
	At      time.Time // arrival, to the nanosecond
	Topic   string    // pubsub topic
	Message []byte    // as it came over the wire; shared and read-only
}

// MaxRecord is the largest body of a record in bytes: arrival, topic and message.
const MaxRecord = 16 << 20

const (
	magic   = "msgpath corpus "
	version = "1\n"
	header  = magic + version

	arrivalSize  = 8
	checksumSize = 4
	endSize      = 1 + checksumSize // of the end mark
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// bodySize returns the length of r's body.
func (r Record) bodySize() int {
	return arrivalSize + varintSize(len(r.Topic)) + len(r.Topic) + len(r.Message)
}

// size returns how many bytes of a file r takes.
func (r Record) size() int64 {
	body := r.bodySize()
	return int64(varintSize(body) + body + checksumSize)
}

func varintSize(n int) int { return (bits.Len(uint(n|1)) + 6) / 7 }

// An encoder writes one file to w, with which its zero value has written nothing.
type encoder struct {
	w    io.Writer
	size int64  // bytes written
	sum  uint32 // of them, but for checksums
	head []byte // what stands around a message, used again
}

func (e *encoder) begin() error { return e.write([]byte(header)) }

func (e *encoder) record(r Record) error {
	e.head = binary.AppendUvarint(e.head[:0], uint64(r.bodySize()))
	e.head = binary.BigEndian.AppendUint64(e.head, uint64(r.At.UnixNano()))
	e.head = binary.AppendUvarint(e.head, uint64(len(r.Topic)))
	e.head = append(e.head, r.Topic...)
	if err := e.write(e.head); err != nil {
		return err
	}
	if err := e.write(r.Message); err != nil {
		return err
	}
	return e.checksum()
}

func (e *encoder) end() error {
	if err := e.write([]byte{0}); err != nil {
		return err
	}
	return e.checksum()
}

func (e *encoder) write(p []byte) error {
	n, err := e.w.Write(p)
	e.size += int64(n)
	e.sum = crc32.Update(e.sum, castagnoli, p)
	return err
}

func (e *encoder) checksum() error {
	e.head = binary.LittleEndian.AppendUint32(e.head[:0], e.sum)
	n, err := e.w.Write(e.head)
	e.size += int64(n)
	return err
}
