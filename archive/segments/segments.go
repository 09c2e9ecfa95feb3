package segments

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
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

// Writes around the page cache.
const (
	// Block is what each is a multiple of, in bytes.
	Block = 4096
	// DirectBytes is how much an append has at least that makes any: a smaller one
	// would cost more in waiting for the disk than it saves in fresh pages.
	DirectBytes = 256 << 10
)

// aroundCache is the flag of open(2) for writes around the page cache; 0 where the
// system has none.
var aroundCache int

// dropCache has the system forget what it holds of a file and needs not write any
// more; nil where it cannot be told.
var dropCache func(*os.File) error

// blocksBytes is the most of one write around the page cache: a huge page of the
// usual systems.
const blocksBytes = 2 << 20

// newBlocks returns blocksBytes of memory that begin at a multiple of Block, and how
// to free them.
var newBlocks = heapBlocks

func heapBlocks() (b []byte, free func() error) {
	return blocksIn(make([]byte, blocksBytes+Block), Block), func() error { return nil }
}

// blocksIn returns blocksBytes of memory that begin at a multiple of align, which the
// memory is larger by.
func blocksIn(memory []byte, align int) []byte {
	skip := align - int(uintptr(unsafe.Pointer(unsafe.SliceData(memory)))%uintptr(align))
	return memory[skip : skip+blocksBytes : skip+blocksBytes]
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of a payload.
func Checksum(payload []byte) uint32 { return crc32.Checksum(payload, castagnoli) }

// A Dir is a folder of segments.
type Dir struct {
	path string
	sync func(name string) error // SyncFile, but in tests

	mu     sync.Mutex
	closed bool
	number int64        // of file
	file   *os.File     // the segment of the last append, open for writing; nil: none yet
	direct *os.File     // the same, around the page cache; nil: the file system cannot
	blocks []byte       // from which direct is written; nil: not used yet
	free   func() error // of blocks

	naming sync.Mutex
	named  map[int64]bool // segments whose names are known to be on the disk
}

// New returns the folder at path, which is made by the first append. Its parent
// must exist.
func New(path string) *Dir {
	return &Dir{path: path, sync: SyncFile, named: make(map[int64]bool)}
}

func (d *Dir) name(segment int64) string {
	return filepath.Join(d.path, fmt.Sprintf("%08d", segment))
}

// Append writes payloads, the first at p and each behind the one before it. Their
// places and checksums are the caller's to have made. Nothing else may append to
// the segment meanwhile.
//
// Where p begins a [Block] and the payloads have [DirectBytes] or more, they go
// around the system's page cache, if the file system can do that, and what they
// leave of their last block is zeros.
func (d *Dir) Append(p Place, payloads ...[]byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.open(p.Segment)
	if err == nil {
		err = d.write(p.Offset, payloads)
	}
	if err != nil {
		return fmt.Errorf("segments: append %d payloads: %w", len(payloads), err)
	}
	return nil
}

func (d *Dir) write(offset int64, payloads [][]byte) error {
	if d.direct != nil && offset%Block == 0 && size(payloads) >= DirectBytes {
		err := d.writeBlocks(offset, payloads)
		if !errors.Is(err, syscall.EINVAL) {
			return err
		}
		err = d.direct.Close() // it cannot, with blocks of this size
		if d.direct = nil; err != nil {
			return err
		}
	}
	for _, payload := range payloads {
		if _, err := d.file.WriteAt(payload, offset); err != nil {
			return err
		}
		offset += int64(len(payload))
	}
	return nil
}

func size(payloads [][]byte) (sum int) {
	for _, payload := range payloads {
		sum += len(payload)
	}
	return sum
}

// writeBlocks copies payloads into blocks and writes those. Memory that is used
// again costs less than fresh pages of the cache do.
func (d *Dir) writeBlocks(offset int64, payloads [][]byte) error {
	if d.blocks == nil {
		d.blocks, d.free = newBlocks()
	}
	filled := 0
	flush := func() error {
		whole := (filled + Block - 1) / Block * Block
		clear(d.blocks[filled:whole])
		n, err := d.direct.WriteAt(d.blocks[:whole], offset)
		offset, filled = offset+int64(n), 0
		return err
	}
	for _, payload := range payloads {
		for len(payload) > 0 {
			n := copy(d.blocks[filled:], payload)
			payload, filled = payload[n:], filled+n
			if filled < len(d.blocks) {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if filled == 0 {
		return nil
	}
	return flush()
}

// open makes segment the file that is written.
func (d *Dir) open(segment int64) error {
	if d.closed {
		return fs.ErrClosed
	}
	if d.file != nil && d.number == segment {
		return nil
	}
	if err := d.makeFolder(); err != nil {
		return err
	}
	f, err := os.OpenFile(d.name(segment), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = d.release()
	d.file, d.number = f, segment
	if aroundCache != 0 {
		d.direct, _ = os.OpenFile(d.name(segment), os.O_WRONLY|aroundCache, 0) // nil where the file system cannot
	}
	return err
}

// makeFolder makes the folder, and its name last from then on: so a folder that is
// not there was not taken by a loss of power.
func (d *Dir) makeFolder() error {
	err := os.Mkdir(d.path, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.sync(filepath.Dir(d.path))
}

func (d *Dir) release() (err error) {
	for _, f := range []**os.File{&d.file, &d.direct} {
		if *f != nil {
			err = errors.Join(err, (*f).Close())
			*f = nil
		}
	}
	return err
}

// Sync returns when what has been appended to the segments is on the disk. It
// does not hold up appends. After an error nobody knows what is on the disk: the
// system may have given up pages that it could not write (Rebello et al., Can
// Applications Recover from fsync Failures?, USENIX ATC 2020).
func (d *Dir) Sync(numbers ...int64) error {
	for _, n := range numbers {
		if err := d.sync(d.name(n)); err != nil {
			return fmt.Errorf("segments: sync: %w", err)
		}
	}
	if err := d.syncNames(numbers); err != nil {
		return fmt.Errorf("segments: sync: %w", err)
	}
	return nil
}

// syncNames makes the names of segments, and the folder's own, last. Another Dir
// or another process may have given them, so that only what was done here is known
// to be done. Whoever comes meanwhile waits for it.
func (d *Dir) syncNames(numbers []int64) error {
	d.naming.Lock()
	defer d.naming.Unlock()
	if !slices.ContainsFunc(numbers, func(n int64) bool { return !d.named[n] }) {
		return nil
	}
	if err := errors.Join(d.sync(d.path), d.sync(filepath.Dir(d.path))); err != nil {
		return err
	}
	for _, n := range numbers {
		d.named[n] = true
	}
	return nil
}

// SyncFile brings a file, or the names in a folder, to the disk.
func SyncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Check returns an error that wraps fs.ErrNotExist where the folder is not there, or
// a segment of it is not; 0 is none.
func (d *Dir) Check(segment int64) error {
	name := d.path
	if segment > 0 {
		name = d.name(segment)
	}
	if _, err := os.Stat(name); err != nil {
		return fmt.Errorf("segments: check: %w", err)
	}
	return nil
}

// Uncache has the next reads of a segment look at the disk, where the system can
// do that (Linux): after a failed write its page cache may hold whole payloads, as
// if they had been written. What is still to be written stays in it. A segment that
// is not there is no error.
func (d *Dir) Uncache(segment int64) error {
	if dropCache == nil {
		return nil
	}
	f, err := os.Open(d.name(segment))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(dropCache(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("segments: uncache: %w", err)
	}
	return nil
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

// Segments returns the numbers of the segments that are there, in order.
func (d *Dir) Segments() (numbers []int64, err error) {
	entries, err := os.ReadDir(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("segments: list: %w", err)
	}
	for _, e := range entries {
		if n, err := strconv.ParseInt(e.Name(), 10, 64); err == nil && n > 0 && d.name(n) == filepath.Join(d.path, e.Name()) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Remove removes segments, which nobody may append to any more. One that is not
// there is no error.
func (d *Dir) Remove(numbers ...int64) error {
	for _, n := range numbers {
		if err := d.remove(n); err != nil {
			return fmt.Errorf("segments: remove: %w", err)
		}
	}
	return nil
}

func (d *Dir) remove(n int64) (err error) {
	d.mu.Lock()
	if d.number == n {
		err = d.release() // else the system keeps what it holds
	}
	d.mu.Unlock()
	if removeErr := os.Remove(d.name(n)); !errors.Is(removeErr, fs.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	d.naming.Lock()
	defer d.naming.Unlock()
	delete(d.named, n)
	return err
}

// Close closes the file that is open for writing, and frees the memory that it was
// written from. It does not sync. Appends fail from then on; a second Close returns
// nil.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	err := d.release()
	if d.blocks != nil {
		err = errors.Join(err, d.free())
		d.blocks, d.free = nil, nil
	}
	if err != nil {
		return fmt.Errorf("segments: close: %w", err)
	}
	return nil
}
