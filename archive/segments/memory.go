package segments

import (
	"fmt"
	"io/fs"
	"sync"
)

// Memory is segments that end with the process. It keeps the payloads that it is
// given, not copies of them.
type Memory struct {
	mu       sync.RWMutex
	segments map[int64]map[int64][]byte // payloads by segment and offset
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{segments: make(map[int64]map[int64][]byte)} }

// Append keeps payloads, the first at p and each behind the one before it, as
// [Dir.Append] does. Nobody may change them from then on.
func (m *Memory) Append(p Place, payloads ...[]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.segments == nil {
		return fmt.Errorf("segments: append %d payloads: %w", len(payloads), fs.ErrClosed)
	}
	segment := m.segments[p.Segment]
	if segment == nil {
		segment = make(map[int64][]byte)
		m.segments[p.Segment] = segment
	}
	for _, payload := range payloads {
		segment[p.Offset] = payload
		p.Offset += int64(len(payload))
	}
	return nil
}

// Read returns the payload at p, which is shared: nobody may change it. The error
// wraps ErrDamaged where there is none of this length.
func (m *Memory) Read(p Place) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	payload := m.segments[p.Segment][p.Offset]
	if payload == nil || int64(len(payload)) != p.Length {
		return nil, fmt.Errorf("segments: read segment %d: %w: no payload of %d bytes at %d", p.Segment, ErrDamaged, p.Length, p.Offset)
	}
	return payload, nil
}

// Forget forgets the payloads that begin at places, and frees their memory unless
// somebody else has it.
func (m *Memory) Forget(places ...Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range places {
		delete(m.segments[p.Segment], p.Offset)
		if len(m.segments[p.Segment]) == 0 {
			delete(m.segments, p.Segment)
		}
	}
}

// Close forgets the payloads. Appends fail from then on; a second Close returns
// nil.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.segments = nil
	return nil
}
