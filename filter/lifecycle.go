package filter

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/network"
)

var errNotRunning = errors.New("not running")

// life is that of a part that runs once.
type life struct {
	started           atomic.Bool // Run was called, or Close before it
	ready, stop, done chan struct{}
	closing           sync.Once
}

func newLife() life {
	return life{ready: make(chan struct{}), stop: make(chan struct{}), done: make(chan struct{})}
}

// begin is how Run begins.
func (l *life) begin(part string) error {
	if !l.started.CompareAndSwap(false, true) {
		return fmt.Errorf("filter: run %s: it has run or was closed before", part)
	}
	return nil
}

// Ready returns a channel that is closed when Run has begun to take streams.
func (l *life) Ready() <-chan struct{} { return l.ready }

// running reports whether Run has begun, and Close was not called.
func (l *life) running() bool {
	select {
	case <-l.stop:
		return false
	case <-l.done:
		return false
	default:
	}
	select {
	case <-l.ready:
		return true
	default:
		return false
	}
}

// Close ends Run, waits for it and returns nil. Before Run it keeps Run from
// starting.
func (l *life) Close() error {
	l.closing.Do(func() { close(l.stop) })
	if l.started.CompareAndSwap(false, true) {
		close(l.done)
	}
	<-l.done
	return nil
}

// streams are those that peers opened, while they are worked on.
type streams struct {
	mu     sync.Mutex
	closed bool
	open   map[network.Stream]bool
	work   sync.WaitGroup
}

// handle runs work on a stream, unless close was called, and resets the stream if
// work returns an error.
func (s *streams) handle(st network.Stream, work func() error) {
	if !s.enter(st) {
		_ = st.Reset()
		return
	}
	defer s.leave(st)
	if err := work(); err != nil {
		_ = st.Reset()
		return
	}
	_ = st.Close()
}

func (s *streams) enter(st network.Stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.open == nil {
		s.open = make(map[network.Stream]bool)
	}
	s.open[st] = true
	s.work.Add(1)
	return true
}

func (s *streams) leave(st network.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, st)
	s.work.Done()
}

// close resets the streams and waits until nobody works on them.
func (s *streams) close() {
	s.mu.Lock()
	s.closed = true
	for st := range s.open {
		_ = st.Reset()
	}
	s.mu.Unlock()
	s.work.Wait()
}
