package archive

import "time"

// Stats is what an Archive did so far, at one moment:
// Accepted = Stored + Duplicates + Failed + Ephemeral + Queued.
type Stats struct {
	Accepted   uint64 // messages that Store returned nil for
	Stored     uint64 // committed and new
	Duplicates uint64 // whose hash was there before
	Failed     uint64 // not stored, because of an error
	Ephemeral  uint64 // not stored, because they ask for it
	Queued     uint64 // accepted, and none of the above yet

	Batches    uint64        // inserts asked of the backend, failed ones included
	InsertTime time.Duration // spent in them

	Pruned        uint64 // deleted by the retention
	PruneFailures uint64 // passes of the retention that ended with an error
}

// Stats returns what a did so far.
func (a *Archive) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.stats
	s.Queued = s.Accepted - s.Stored - s.Duplicates - s.Failed - s.Ephemeral
	return s
}

// add counts a batch and returns how many of it are not ephemeral.
func (s *Stats) add(batch []item, fresh []bool, err error) (rows int) {
	for _, it := range batch {
		if it.ephemeral() {
			s.Ephemeral++
		} else {
			rows++
		}
	}
	if err != nil {
		s.Failed += uint64(rows)
		return rows
	}
	for _, isNew := range fresh {
		if isNew {
			s.Stored++
		} else {
			s.Duplicates++
		}
	}
	return rows
}
