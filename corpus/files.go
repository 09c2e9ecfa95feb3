package corpus

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// file is the one that is written.
type file struct {
	encoder
	f      *os.File
	buffer *bufio.Writer
}

// name returns the name of the file that is i rotations old.
func (o Options) name(i int) string {
	if i == 0 {
		return o.Path
	}
	return fmt.Sprintf("%s.%d", o.Path, i)
}

// createFile makes FILE, after the one that may be there was rotated.
func (o Options) createFile() (*file, error) {
	if err := o.rotate(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(o.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	out := &file{f: f, buffer: bufio.NewWriterSize(f, bufferSize)}
	out.w = out.buffer
	if err := errors.Join(out.begin(), out.buffer.Flush()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return out, nil
}

// close ends the file, and closes it in any case.
func (f *file) close() error { return errors.Join(f.end(), f.buffer.Flush(), f.f.Close()) }

// rotate makes each file one rotation older, up to the first gap, and removes the
// one that is too old.
func (o Options) rotate() error {
	last := 0
	for ; last < o.Files; last++ {
		if err := ours(o.name(last)); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
	}
	if last == o.Files {
		last--
		if err := os.Remove(o.name(last)); err != nil {
			return err
		}
	}
	for ; last > 0; last-- {
		if err := os.Rename(o.name(last-1), o.name(last)); err != nil {
			return err
		}
	}
	return nil
}

// ours reports what is not a file of this package, which nobody may rename or
// remove. An empty one is of a Writer that was killed at once.
func ours(path string) error {
	if info, err := os.Lstat(path); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", path)
	} else if info.Size() == 0 {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := newDecoder(f).begin(); err != nil && !errors.Is(err, errTruncated) {
		return fmt.Errorf("%s is there and is no recording of this version: %w", path, err)
	}
	return nil
}

// mend ends a file that its Writer did not: what follows the last whole record is
// cut off. It leaves alone what is not there, is whole or is damaged otherwise.
func mend(path string) error {
	if err := ours(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	d := newDecoder(f)
	for err = d.begin(); err == nil; {
		_, err = d.next()
	}
	if !errors.Is(err, errTruncated) || d.whole == 0 {
		return f.Close()
	}
	e := encoder{w: f, sum: d.wholeSum}
	if err = f.Truncate(d.whole); err == nil {
		_, err = f.Seek(d.whole, io.SeekStart)
	}
	if err == nil {
		err = e.end()
	}
	return errors.Join(err, f.Close())
}
