package p2p

import (
	"context"
	"maps"
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

// inRow is how many sessions Run begins one after the other, while they bring more.
const inRow = 16

// syncAny begins sessions for as long as a peer has more that is taken, each with a
// peer chosen by chance: none that is slow is to keep this node for itself. It
// reports whether one worked.
func (s *Syncer) syncAny(ctx context.Context) (worked bool) {
	more := make(map[peer.ID]bool) // of those asked, whether they had more
	var last peer.ID
	for range inRow {
		p, ok := s.choose(last, more)
		if !ok {
			break
		}
		report, err := s.Sync(ctx, p)
		if err != nil {
			s.opts.Logger.Info("store-sync failed", "peer", p, "error", err)
		}
		worked = worked || err == nil
		more[p] = err == nil && report.More && report.Received > report.Refused+report.Failed
		if last = p; !slices.Contains(slices.Collect(maps.Values(more)), true) {
			break
		}
	}
	return worked
}

// choose returns a peer to begin a session with, which had more if it was asked
// before; the one asked last only if there is no other.
func (s *Syncer) choose(last peer.ID, more map[peer.ID]bool) (p peer.ID, ok bool) {
	peers := slices.DeleteFunc(s.candidates(), func(p peer.ID) bool {
		had, asked := more[p]
		return asked && !had || s.roster.shunned(p)
	})
	if len(peers) > 1 {
		peers = slices.DeleteFunc(peers, func(p peer.ID) bool { return p == last })
	}
	if len(peers) == 0 {
		return "", false
	}
	return peers[s.opts.Rand.IntN(len(peers))], true
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
