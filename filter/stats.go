package filter

import (
	"fmt"
	"sync/atomic"
)

// Drop is why a copy of a message was not pushed to a peer.
type Drop uint8

const (
	DropQueue   Drop = iota // the peer's queue was full
	DropStream              // no stream could be opened to it
	DropWrite               // the copy could not be written, or not in time
	DropRemoved             // its subscription to it ended before the copy was written
	drops
)

// String returns the cause's name.
func (d Drop) String() string {
	return nameOf("Drop", []string{"queue", "stream", "write", "removed"}, uint8(d))
}

// Refusal is why a request was refused.
type Refusal uint8

const (
	RefuseMalformed Refusal = iota // not a request: 400
	RefuseInvalid                  // it lacks something, or has too much of it: 400
	RefuseUnknown                  // the peer has no such subscription: 404
	RefuseFull                     // there is no room for it: 503
	refusals
)

// String returns the cause's name.
func (r Refusal) String() string {
	return nameOf("Refusal", []string{"malformed", "invalid", "unknown", "full"}, uint8(r))
}

// code returns the status of an answer.
func (r Refusal) code() uint32 {
	switch r {
	case RefuseUnknown:
		return StatusNotFound
	case RefuseFull:
		return StatusUnavailable
	}
	return StatusBadRequest
}

// Removal is why a peer is no longer subscribed.
type Removal uint8

const (
	RemoveUnsubscribed Removal = iota // it asked for that
	RemoveExpired                     // it neither subscribed nor pinged in time
	RemoveUnreachable                 // pushes to it failed for too long
	RemoveStopped                     // the server stopped
	removals
)

// String returns the cause's name.
func (r Removal) String() string {
	return nameOf("Removal", []string{"unsubscribed", "expired", "unreachable", "stopped"}, uint8(r))
}

func nameOf(kind string, names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// Stats is what a Server did so far. Of each message that was due, each peer
// subscribed to it was to get a copy: whenever none waits or is being written,
//
//	Copies = Pushed + the sum of Dropped.
type Stats struct {
	Subscribers int // peers subscribed now
	Topics      int // their pairs of pubsub and content topic, over all peers
	Waiting     int // copies in their queues

	Due       uint64 // messages that somebody wanted, and that were not pushed before
	Repeated  uint64 // messages that somebody wanted, and that were, within the window
	Forgotten uint64 // messages that the window had no more room for

	Copies  uint64        // of messages due, one for each peer subscribed
	Pushed  uint64        // written to the peer's stream
	Dropped [drops]uint64 // by Drop

	Requests uint64           // answered with success
	Refused  [refusals]uint64 // by Refusal
	Removed  [removals]uint64 // peers, by Removal
}

// tallies are the counts of Stats that only grow.
type tallies struct {
	due, repeated, copies, pushed, requests atomic.Uint64

	dropped [drops]atomic.Uint64
	refused [refusals]atomic.Uint64
	removed [removals]atomic.Uint64
}

func load(to []uint64, from []atomic.Uint64) {
	for i := range from {
		to[i] = from[i].Load()
	}
}

// Stats returns what s did so far.
func (s *Server) Stats() Stats {
	t := &s.tally
	stats := Stats{
		Due: t.due.Load(), Repeated: t.repeated.Load(), Forgotten: s.window.early(),
		Copies: t.copies.Load(), Pushed: t.pushed.Load(), Requests: t.requests.Load(),
	}
	load(stats.Dropped[:], t.dropped[:])
	load(stats.Refused[:], t.refused[:])
	load(stats.Removed[:], t.removed[:])
	s.mu.RLock()
	defer s.mu.RUnlock()
	stats.Subscribers = len(s.table.peers)
	for _, sub := range s.table.peers {
		stats.Topics += len(sub.pairs)
		stats.Waiting += len(sub.queue)
	}
	return stats
}
