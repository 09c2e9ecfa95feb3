package corpus

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"strings"
	"time"
)

// errTruncated is wrapped by the error for a file that stops too early.
var errTruncated = errors.New("truncated")

// Read returns the records of the file that r reads, in the order of arrival; name
// is told in errors. It ends after the first error, which names the record, from 1,
// and its offset, and says whether the file was cut, is damaged or is no corpus; an
// error of r is wrapped. A file without its end mark is one that was cut. The
// returned iterator can be used once, and the bytes of its records are the
// caller's.
func Read(r io.Reader, name string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		d := newDecoder(r)
		err := d.begin()
		for err == nil {
			var record Record
			if record, err = d.next(); err == nil && !yield(record, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(Record{}, fmt.Errorf("corpus: read %s: %w", name, err))
		}
	}
}

// A decoder reads one file.
type decoder struct {
	r      *bufio.Reader
	offset int64  // of the next byte
	sum    uint32 // of what was read, but for checksums

	records  int   // read whole
	whole    int64 // offset behind the last of them
	wholeSum uint32
}

func newDecoder(r io.Reader) *decoder { return &decoder{r: bufio.NewReaderSize(r, bufferSize)} }

// begin reads the header.
func (d *decoder) begin() error {
	head := make([]byte, len(header))
	n, err := d.read(head)
	got := string(head[:n])
	switch {
	case err == nil && got == header:
		d.keep()
		return nil
	case err == nil && strings.HasPrefix(got, magic):
		return fmt.Errorf("offset 0x0: it has version %.1q: this program reads version %.1q", got[len(magic):], version)
	case err == nil || !strings.HasPrefix(header, got):
		return fmt.Errorf("offset 0x0: not a corpus: it begins with %q", got)
	}
	return fmt.Errorf("offset 0x0: header: %w", short(err, len(head), n))
}

// next reads one record. It returns io.EOF itself behind the end mark.
func (d *decoder) next() (Record, error) {
	at := d.offset
	r, err := d.record()
	if err == nil || err == io.EOF {
		return r, err
	}
	return Record{}, fmt.Errorf("record %d at offset %#x: %w", d.records+1, at, err)
}

func (d *decoder) record() (Record, error) {
	size, err := d.length()
	if err != nil {
		return Record{}, err
	}
	body := make([]byte, size)
	if n, err := d.read(body); err != nil {
		return Record{}, short(err, size, n)
	}
	if err := d.checksum(); err != nil {
		return Record{}, err
	}
	if size == 0 {
		return Record{}, d.ended()
	}
	r, err := parse(body)
	if err == nil {
		d.records++
		d.keep()
	}
	return r, err
}

// keep notes that all up to here is whole.
func (d *decoder) keep() { d.whole, d.wholeSum = d.offset, d.sum }

// length reads the length of a body.
func (d *decoder) length() (int, error) {
	var raw [binary.MaxVarintLen64]byte
	for i := range raw {
		if _, err := d.read(raw[i : i+1]); err != nil {
			if i == 0 && errors.Is(err, io.EOF) {
				return 0, fmt.Errorf("%w: neither a record nor the end mark: the file was cut, or is still being written", errTruncated)
			}
			return 0, fmt.Errorf("length: %w", short(err, i+1, i))
		}
		if raw[i] < 0x80 {
			break
		}
	}
	size, n := binary.Uvarint(raw[:])
	if n <= 0 || size > MaxRecord {
		return 0, fmt.Errorf("damaged: its length is over %d bytes, the most there is", MaxRecord)
	}
	return int(size), nil
}

func (d *decoder) checksum() error {
	sum, raw := d.sum, make([]byte, checksumSize)
	n, err := d.read(raw)
	if err != nil {
		return fmt.Errorf("checksum: %w", short(err, checksumSize, n))
	}
	d.sum = sum
	if got := binary.LittleEndian.Uint32(raw); got != sum {
		return fmt.Errorf("damaged: its checksum is %08x, its bytes have %08x", got, sum)
	}
	return nil
}

// ended reads the end of the file, and returns io.EOF if it is there.
func (d *decoder) ended() error {
	_, err := d.r.Peek(1)
	if err == nil {
		return fmt.Errorf("it is the end mark, and more bytes follow at offset %#x", d.offset)
	}
	return err
}

// read fills p, and returns io.EOF or io.ErrUnexpectedEOF where the file ends.
func (d *decoder) read(p []byte) (n int, err error) {
	n, err = io.ReadFull(d.r, p)
	d.offset += int64(n)
	d.sum = crc32.Update(d.sum, castagnoli, p[:n])
	return n, err
}

// short says how much of what was wanted is there.
func short(err error, want, have int) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: want %d bytes, have %d", errTruncated, want, have)
	}
	return err
}

// parse reads a body whose checksum is right.
func parse(body []byte) (Record, error) {
	if len(body) <= arrivalSize {
		return Record{}, fmt.Errorf("malformed: a body of %d bytes holds no arrival and topic", len(body))
	}
	at, rest := int64(binary.BigEndian.Uint64(body)), body[arrivalSize:]
	size, n := binary.Uvarint(rest)
	if n <= 0 || size > uint64(len(rest)-n) {
		return Record{}, fmt.Errorf("malformed: its topic is longer than its body of %d bytes", len(body))
	}
	rest = rest[n:]
	return Record{At: time.Unix(0, at), Topic: string(rest[:size]), Message: rest[size:]}, nil
}
