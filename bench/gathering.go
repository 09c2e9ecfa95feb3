package bench

import (
	"fmt"
	"sync"
	"time"
)

// gathering reports a message as delivered when the receiver and all others that
// stand behind it have it, so that what is measured contains what they cost. A
// message that comes to one of them again is reported again, which the driver
// refuses.
type gathering struct {
	delivered chan Delivery

	mu      sync.Mutex
	waiting []waiting // by number
	seen    [][]bool  // by other and number
}

// waiting is a message on its way.
type waiting struct {
	lacking  int // others that do not have it
	received bool
	delivery Delivery // of the receiver
}

func newGathering(messages, others int) *gathering {
	g := &gathering{delivered: make(chan Delivery, messages+1), waiting: make([]waiting, messages), seen: make([][]bool, others)}
	for i := range g.waiting {
		g.waiting[i].lacking = others
	}
	for i := range g.seen {
		g.seen[i] = make([]bool, messages)
	}
	return g
}

// receive notes that the receiver has a message.
func (g *gathering) receive(d Delivery) error {
	return g.note(d.Index, func(w *waiting) (again bool) {
		again, w.received, w.delivery = w.received, true, d
		return again
	})
}

// arrive notes that one of the others has a message.
func (g *gathering) arrive(other, i int) error {
	return g.note(i, func(w *waiting) (again bool) {
		if g.seen[other][i] {
			return true
		}
		g.seen[other][i] = true
		w.lacking--
		w.delivery.At = time.Now()
		return false
	})
}

// note notes an arrival, and reports the message when it was the last that is
// waited for.
func (g *gathering) note(i int, arrival func(*waiting) (again bool)) error {
	if i < 0 || i >= len(g.waiting) {
		return fmt.Errorf("bench: message %d was not published", i)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	w := &g.waiting[i]
	if again := arrival(w); again || w.received && w.lacking == 0 {
		select {
		case g.delivered <- Delivery{Index: i, At: w.delivery.At, Committed: w.delivery.Committed}:
		default: // there are more reports than messages, which is enough to tell
		}
	}
	return nil
}
