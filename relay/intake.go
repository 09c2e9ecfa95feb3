package relay

import (
	"sync"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
)

// intake is what a topic has taken on and not yet handed to its handler.
// gossipsub drops what it has accepted for a topic that is left meanwhile, and
// tells nobody: whoever leaves a topic asks its intake what is still owed.
type intake struct {
	mu       sync.Mutex
	idle     sync.Cond
	opened   bool
	closed   bool
	underway int                          // copies from peers without an outcome, and calls of Publish and Inject
	accepted map[*pubsub.Message]struct{} // accepted and not yet in the subscription
}

func newIntake() *intake {
	in := &intake{accepted: make(map[*pubsub.Message]struct{})}
	in.idle.L = &in.mu
	return in
}

// open lets this node's own messages in, which must be after the topic was
// subscribed.
func (in *intake) open() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.opened = true
}

// close refuses everything that has not been accepted yet.
func (in *intake) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
}

// enter begins a call of Publish or Inject. Unless it returns false, exit ends
// the call.
func (in *intake) enter() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.opened || in.closed {
		return false
	}
	in.underway++
	return true
}

// receive begins one copy from a peer, which exit ends.
func (in *intake) receive() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.underway++
}

func (in *intake) exit() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.underway--; in.underway == 0 {
		in.idle.Broadcast()
	}
}

// accept notes that m is on its way to the subscription. It returns false if
// the topic is being left. It is called between the beginning and the end of
// m's copy or call.
func (in *intake) accept(m *pubsub.Message) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return false
	}
	in.accepted[m] = struct{}{}
	return true
}

// arrive takes m out again. It returns false if rest has.
func (in *intake) arrive(m *pubsub.Message) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	_, owed := in.accepted[m]
	delete(in.accepted, m)
	return owed
}

// rest waits until nothing is under way and returns what was accepted and will
// not reach the subscription. The intake is closed and the topic unsubscribed.
func (in *intake) rest() (owed []*pubsub.Message) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.underway > 0 {
		in.idle.Wait()
	}
	for m := range in.accepted {
		owed = append(owed, m)
	}
	clear(in.accepted)
	return owed
}
