package segments

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// ErrDamaged is wrapped by the error for a payload that is not what was
// appended, or not there.
var ErrDamaged = errors.New("damaged")

// A Place is where a payload lies, and how to tell that it is the one.
type Place struct {
	Segment  int64 // number of the file, from 1
	Offset   int64 // bytes
	Length   int64 // bytes
	Checksum uint32
}

// End returns the offset behind the payload.
func (p Place) End() int64 { return p.Offset + p.Length }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of a payload.
func Checksum(payload []byte) uint32 { return crc32.Checksum(payload, castagnoli) }

// A Dir is a folder of segments.
type Dir struct {
	path string

	mu      sync.Mutex
	closed  bool
	number  int64    // of file
	file    *os.File // the segment of the last append, open for writing; nil: none yet
	unnamed bool     // the folder holds names that are not on the disk yet
}

// New returns the folder at path, which is made by the first append. Its parent
// must exist.
func New(path string) *Dir { return &Dir{path: path} }

func (d *Dir) name(segment int64) string {
	return filepath.Join(d.path, fmt.Sprintf("%08d", segment))
}

// Append writes payload at its place, whose checksum is the caller's to have
// made. Nothing else may append to the segment meanwhile.
func (d *Dir) Append(p Place, payload []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.open(p.Segment)
	if err == nil {
		_, err = d.file.WriteAt(payload, p.Offset)
	}
	if err != nil {
		return fmt.Errorf("segments: append %d bytes: %w", len(payload), err)
	}
	return nil
}

// open makes segment the file that is written.
func (d *Dir) open(segment int64) error {
	if d.closed {
		return fs.ErrClosed
	}
	if d.file != nil && d.number == segment {
		return nil
	}
	if err := os.Mkdir(d.path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(d.name(segment), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = d.release()
	d.file, d.number, d.unnamed = f, segment, true
	return err
}

func (d *Dir) release() error {
	if d.file == nil {
		return nil
	}
	err := d.file.Close()
	d.file = nil
	return err
}

// Sync returns when what has been appended to the segments is on the disk. It
// does not hold up appends. After an error nobody knows what is on the disk: the
// system may have given up pages that it could not write (Rebello et al., Can
// Applications Recover from fsync Failures?, USENIX ATC 2020).
func (d *Dir) Sync(numbers ...int64) error {
	for _, n := range numbers {
		if err := syncFile(d.name(n)); err != nil {
			return fmt.Errorf("segments: sync: %w", err)
		}
	}
	if err := d.syncNames(); err != nil {
		return fmt.Errorf("segments: sync: %w", err)
	}
	return nil
}

// syncNames makes the names of new segments, and the folder's own, last.
func (d *Dir) syncNames() error {
	d.mu.Lock()
	unnamed := d.unnamed
	d.unnamed = false
	d.mu.Unlock()
	if !unnamed {
		return nil
	}
	return errors.Join(syncFile(d.path), syncFile(filepath.Dir(d.path)))
}

func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Read returns the payload at p. The error wraps ErrDamaged if it is not what
// was appended there.
func (d *Dir) Read(p Place) ([]byte, error) {
	f, err := os.Open(d.name(p.Segment))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("segments: read: %w: %w", ErrDamaged, err)
	}
	if err != nil {
		return nil, fmt.Errorf("segments: read: %w", err)
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	if info, err := f.Stat(); err != nil {
		return nil, fmt.Errorf("segments: read: %w", err)
	} else if p.Offset < 0 || p.Length < 0 || p.Length > info.Size() || p.Offset > info.Size()-p.Length {
		return nil, fmt.Errorf("segments: read %s: %w: %d bytes at %d are not in its %d",
			f.Name(), ErrDamaged, p.Length, p.Offset, info.Size())
	}
	payload := make([]byte, p.Length)
	if _, err := f.ReadAt(payload, p.Offset); err != nil {
		return nil, fmt.Errorf("segments: read: %w", err)
	}
	if Checksum(payload) != p.Checksum {
		return nil, fmt.Errorf("segments: read %s: %w: %d bytes at %d have another checksum",
			f.Name(), ErrDamaged, p.Length, p.Offset)
	}
	return payload, nil
}

// Cut cuts off what a segment holds behind end. One that is shorter, or not
// there, stays as it is.
func (d *Dir) Cut(segment, end int64) error {
	info, err := os.Stat(d.name(segment))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() <= end {
		return nil
	}
	if err == nil {
		err = os.Truncate(d.name(segment), end)
	}
	if err != nil {
		return fmt.Errorf("segments: cut: %w", err)
	}
	return nil
}

// Close closes the file that is open for writing. It does not sync. Appends fail
// from then on; a second Close returns nil.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if err := d.release(); err != nil {
		return fmt.Errorf("segments: close: %w", err)
	}
	return nil
}
