package filter

import (
	"sync"
	"time"

	"github.com/msgpath/msgpath/message"
)

// window knows which messages were pushed lately, so that each is once. It is
// bounded by time and by number.
type window struct {
	length time.Duration
	most   int

	mu        sync.Mutex
	due       map[message.Hash]bool // false once it was taken
	admitted  []admission           // in order
	forgotten uint64                // before their time, for want of room
}

type admission struct {
	hash message.Hash
	at   time.Time
}

func newWindow(length time.Duration, most int) *window {
	return &window{length: length, most: most, due: make(map[message.Hash]bool)}
}

// admit makes h due, unless it is known, and reports whether it did.
func (w *window) admit(h message.Hash, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.admitted) > 0 && now.Sub(w.admitted[0].at) >= w.length {
		w.forget()
	}
	if _, known := w.due[h]; known {
		return false
	}
	if len(w.admitted) == w.most {
		w.forget()
		w.forgotten++
	}
	w.due[h] = true
	w.admitted = append(w.admitted, admission{h, now})
	return true
}

func (w *window) forget() {
	delete(w.due, w.admitted[0].hash)
	w.admitted = w.admitted[1:]
}

// take reports whether h is due, which it is not afterwards.
func (w *window) take(h message.Hash) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.due[h] {
		return false
	}
	w.due[h] = false
	return true
}

func (w *window) early() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.forgotten
}
