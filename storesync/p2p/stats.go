package p2p

import (
	"fmt"
	"sync/atomic"
)

// Side says who began a session.
type Side uint8

const (
	Began    Side = iota // this node
	Answered             // the peer
	sides
)

// String returns the side as a metric's label.
func (s Side) String() string {
	if s < sides {
		return [...]string{"began", "answered"}[s]
	}
	return fmt.Sprintf("Side(%d)", uint8(s))
}

// Outcome is how a session ended.
type Outcome uint8

const (
	Completed Outcome = iota // all of its range is the same on both sides, but for what was refused
	Partial                  // a limit was reached; another session is to go on
	Declined                 // one side did not want it
	Faulted                  // the peer broke the protocol
	Failed                   // the stream or this side's store failed, or time was up
	outcomes
)

var outcomeNames = [outcomes]string{"completed", "partial", "declined", "faulted", "failed"}

// String returns the outcome as a metric's label.
func (o Outcome) String() string {
	if o < outcomes {
		return outcomeNames[o]
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// Report is what one session did. Units are messages, or ids of messages where
// said so, and bytes of the protocol's stream.
type Report struct {
	Rounds            int // of Negentropy
	BytesIn, BytesOut uint64
	Have, Need        int  // ids that only this side, and only the peer, had; known to the side that began
	Received          int  // came, and are what was asked for
	Pending           int  // of Received, not answered by Stored when the session ended
	Refused           int  // of Received
	Failed            int  // of Received, Accept answered with another error
	Absent            int  // asked for, and not sent
	Served            int  // sent
	More              bool // a limit was reached: the next session goes on
}

// Stats is what a Syncer did so far. Once no session is on,
//
//	Received = Synced + Refused + Failed + Pending
type Stats struct {
	Sessions [sides][outcomes]uint64 // ended, by who began them and how they ended
	Running  int                     // sessions that are on

	Rounds            uint64 // of Negentropy, in sessions that this side began
	BytesIn, BytesOut uint64 // of the protocol's streams

	Received uint64 // messages that came and are what was asked for
	Synced   uint64 // of Received, that are stored now
	Refused  uint64 // of Received, that were refused
	Failed   uint64 // of Received, that were not stored for another reason
	Pending  int    // of Received, that are accepted and not yet any of these
	Absent   uint64 // asked for, and not sent
	Served   uint64 // sent
	Unwanted uint64 // that came and were not asked for; each ended its session
}

type tallies struct {
	sessions                                                    [sides][outcomes]atomic.Uint64
	rounds, bytesIn, bytesOut                                   atomic.Uint64
	received, synced, refused, failed, absent, served, unwanted atomic.Uint64
}

// Stats returns what s did so far.
func (s *Syncer) Stats() Stats {
	t := &s.tallies
	_, pending := s.ledger.counts(nil)
	stats := Stats{
		Running: s.roster.running(), Pending: pending,
		Rounds: t.rounds.Load(), BytesIn: t.bytesIn.Load(), BytesOut: t.bytesOut.Load(),
		Received: t.received.Load(), Synced: t.synced.Load(), Refused: t.refused.Load(), Failed: t.failed.Load(),
		Absent: t.absent.Load(), Served: t.served.Load(), Unwanted: t.unwanted.Load(),
	}
	for side := range t.sessions {
		for outcome := range t.sessions[side] {
			stats.Sessions[side][outcome] = t.sessions[side][outcome].Load()
		}
	}
	return stats
}
