package p2p

import (
	"context"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// startInterval is the most that Run waits before a session until one has worked:
// a node that was away is not to wait for the whole Interval.
const startInterval = 10 * time.Second

// loop calls round at each Interval until ctx ends.
func (s *Syncer) loop(ctx context.Context, round func(context.Context) bool) {
	if s.opts.Interval == 0 {
		<-ctx.Done()
		return
	}
	for worked := false; ; worked = round(ctx) || worked {
		wait := s.opts.Interval - s.opts.Jitter
		if s.opts.Jitter > 0 {
			wait += time.Duration(s.opts.Rand.Int64N(2 * int64(s.opts.Jitter)))
		}
		if !worked {
			wait = min(wait, startInterval)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// inRow is how many sessions Run begins with one peer, one after the other, while
// they bring more.
const inRow = 16

// syncAny begins sessions with a peer chosen by chance for as long as they bring
// more, and reports whether one worked.
func (s *Syncer) syncAny(ctx context.Context) bool {
	peers := slices.DeleteFunc(s.candidates(), s.roster.shunned)
	if len(peers) == 0 {
		return false
	}
	p := peers[s.opts.Rand.IntN(len(peers))]
	for range inRow {
		report, err := s.Sync(ctx, p)
		if err != nil {
			s.opts.Logger.Info("store-sync failed", "peer", p, "error", err)
			return false
		}
		if !report.More || report.Received+report.Served == 0 {
			break
		}
	}
	return true
}

func (s *Syncer) candidates() []peer.ID {
	if s.opts.Peers != nil {
		return slices.Clone(s.opts.Peers())
	}
	return slices.DeleteFunc(s.host.Network().Peers(), func(p peer.ID) bool {
		spoken, err := s.host.Peerstore().SupportsProtocols(p, ID)
		return err != nil || len(spoken) == 0
	})
}
