package relay

import (
	"context"
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// mesh is the set of peers grafted to one topic.
type mesh struct {
	mu      sync.Mutex
	peers   map[peer.ID]struct{}
	changed chan struct{} // closed and replaced at each change
}

func newMesh() *mesh { return &mesh{peers: make(map[peer.ID]struct{}), changed: make(chan struct{})} }

func (m *mesh) add(p peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peers[p] = struct{}{}
	m.announce()
}

func (m *mesh) remove(p peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.peers, p)
	m.announce()
}

func (m *mesh) announce() {
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *mesh) size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.peers)
}

// wait blocks until n peers are grafted, ctx ends or left is closed.
func (m *mesh) wait(ctx context.Context, n int, left <-chan struct{}) error {
	for {
		m.mu.Lock()
		have, changed := len(m.peers), m.changed
		m.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-changed:
		case <-left:
			return ErrNotJoined
		case <-ctx.Done():
			return fmt.Errorf("%d of %d peers grafted: %w", have, n, ctx.Err())
		}
	}
}

// WaitMesh blocks until at least n peers are grafted to a joined topic: only
// then does a published message reach them. A peer that merely joined the topic
// does not count. An error wraps ErrNotJoined, also when the topic is left
// meanwhile, or the context's.
func (r *Relay) WaitMesh(ctx context.Context, topic string, n int) error {
	j := r.joined(topic)
	if j == nil {
		return fmt.Errorf("relay: wait for mesh of %q: %w", topic, ErrNotJoined)
	}
	if err := j.mesh.wait(ctx, n, j.left); err != nil {
		return fmt.Errorf("relay: wait for mesh of %q: %w", topic, err)
	}
	return nil
}

// Peers returns the connected peers that have joined a topic, grafted or not;
// nil if the topic is not joined here. It is answered by gossipsub's event loop,
// and so after everything that the loop has begun before.
func (r *Relay) Peers(topic string) []peer.ID {
	if j := r.joined(topic); j != nil {
		return j.gossip.ListPeers()
	}
	return nil
}
