package corpus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Stats are what a Writer did since it was created. Messages handed to Record are
// Recorded, Dropped or Failed, or still queued or in the file's buffer.
type Stats struct {
	Recorded uint64 // messages that reached the file
	Bytes    uint64 // of these messages, as they came over the wire
	Dropped  uint64 // messages that found the queue full or closed, or that no file can hold
	Failed   uint64 // messages that could not be written
}

// A Writer records messages. See the package's documentation.
type Writer struct {
	options Options
	queue   chan Record
	closing chan struct{}
	done    chan struct{} // closed when Run has returned
	once    sync.Once

	mu      sync.Mutex
	started bool
	closed  bool  // nothing is queued any more
	waiting int64 // bytes queued
	stats   Stats
	failure error // why recording is off; nil: it is on

	// Of the goroutine that runs Run, or Close after it.
	file *file
	held Stats // what is in the file's buffer and counts once that is flushed
}

// Create opens the file to record to. What is there already is rotated, or is an
// error where it is no corpus; the error names the file.
func Create(o Options) (*Writer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	w := &Writer{
		options: o,
		queue:   make(chan Record, QueueMessages),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	err := mend(o.Path)
	if err == nil {
		w.file, err = o.createFile()
	}
	if err != nil {
		return nil, fmt.Errorf("corpus: create %s: %w", o.Path, err)
	}
	return w, nil
}

// Record queues a message and never blocks: one that finds no room is dropped and
// counted. It may be called by several goroutines. The message's bytes are kept
// until they are written and must not change.
func (w *Writer) Record(r Record) {
	size := int64(len(r.Message))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.waiting+size > QueueBytes || !w.fits(r) {
		w.stats.Dropped++
		return
	}
	select {
	case w.queue <- r:
		w.waiting += size
	default:
		w.stats.Dropped++
	}
}

// fits reports whether a file can hold r.
func (w *Writer) fits(r Record) bool {
	return r.bodySize() <= MaxRecord && int64(len(header))+r.size()+endSize <= w.options.MaxBytes
}

// Stats returns what was done so far.
func (w *Writer) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// Err returns why recording is off, nil while it is on.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

// Run writes what is queued until ctx ends or Close is called. It may be called
// once, and returns an error only if it is called again or after Close.
func (w *Writer) Run(ctx context.Context) error {
	w.mu.Lock()
	began := !w.started && !w.closed
	w.started = w.started || began
	w.mu.Unlock()
	if !began {
		return errors.New("corpus: run: has run or was closed before")
	}
	defer close(w.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case r := <-w.queue:
			w.write(r)
		case <-tick.C:
			w.flush()
		case <-w.closing:
			w.drain()
			return nil
		case <-ctx.Done():
			w.drain()
			return nil
		}
	}
}

// Close ends Run, waits for it, and ends and closes the file. If Run was never
// called, it writes what is queued in its place. The error says why recording was
// turned off, which was logged too. A second Close returns nil.
func (w *Writer) Close() (err error) {
	w.once.Do(func() {
		w.mu.Lock()
		w.closed = true
		started := w.started
		w.mu.Unlock()
		close(w.closing)
		if started {
			<-w.done
		}
		w.drain()
		if w.file != nil {
			if err := w.finish(); err != nil {
				w.turnOff(err)
			}
		}
		err = w.Err()
	})
	return err
}

// drain writes what is queued, up to the file.
func (w *Writer) drain() {
	for {
		select {
		case r := <-w.queue:
			w.write(r)
		default:
			w.flush()
			return
		}
	}
}

var errOff = errors.New("recording is off")

// write writes a message that was queued.
func (w *Writer) write(r Record) {
	w.mu.Lock()
	w.waiting -= int64(len(r.Message))
	w.mu.Unlock()
	err := errOff
	if w.file != nil {
		err = w.makeRoom(r)
	}
	w.held.Recorded++
	w.held.Bytes += uint64(len(r.Message))
	if err == nil {
		err = w.file.record(r)
	}
	if err != nil {
		w.turnOff(err)
	}
}

// makeRoom goes on to a new file if the old one cannot hold r.
func (w *Writer) makeRoom(r Record) (err error) {
	if w.file.size+r.size()+endSize <= w.options.MaxBytes {
		return nil
	}
	if err = w.finish(); err == nil {
		w.file, err = w.options.createFile()
	}
	return err
}

// finish ends and closes the file.
func (w *Writer) finish() error {
	f := w.file
	w.file = nil
	err := f.close()
	if err == nil {
		w.credit()
	}
	return err
}

func (w *Writer) flush() {
	if w.file == nil || w.held.Recorded == 0 {
		return
	}
	if err := w.file.buffer.Flush(); err != nil {
		w.turnOff(err)
		return
	}
	w.credit()
}

// credit counts what has reached the file.
func (w *Writer) credit() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Recorded += w.held.Recorded
	w.stats.Bytes += w.held.Bytes
	w.held = Stats{}
}

// turnOff ends recording, and counts as failed what may not have reached the file.
func (w *Writer) turnOff(err error) {
	w.mu.Lock()
	w.stats.Failed += w.held.Recorded
	w.held = Stats{}
	first := w.failure == nil
	if first {
		w.failure = fmt.Errorf("corpus: write %s: %w", w.options.Path, err)
	}
	w.mu.Unlock()
	if w.file != nil {
		_ = w.file.f.Close() // why it failed is known
		w.file = nil
	}
	if first {
		w.options.Logger.Error("recording of messages is off", "error", w.failure)
	}
}
