package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/storesync/negentropy"
	"github.com/msgpath/msgpath/storesync/p2p"
)

// newSyncer returns the Syncer between the archive and those of peers.
func (n *Node) newSyncer() (*p2p.Syncer, error) {
	o := n.options.SyncOptions
	o.Counts, o.Format, o.Logger = n.options.Relay.Counts, n.relay.Format(), n.logger
	return p2p.New(n.host, p2p.Store{
		Snapshot: n.snapshot, Load: n.load, Has: n.archive.Has, Accept: n.restore, Oldest: n.archive.Oldest,
	}, o)
}

// runSyncer runs the Syncer once the relay has joined its topics: before, it would
// refuse every message.
func (n *Node) runSyncer(ctx context.Context) error {
	select {
	case <-n.relay.Ready():
	case <-ctx.Done():
		return nil
	}
	return n.syncer.Run(ctx)
}

// Join joins a topic of the relay beside the configured ones. Of it store-sync then
// fetches what it had refused, which Relay().Join alone leaves until
// SyncOptions.RefusalTTL is over, and older messages for good.
func (n *Node) Join(topic string, validators ...relay.Validator) error {
	err := n.relay.Join(topic, validators...)
	if err == nil && n.syncer != nil {
		n.syncer.Reconsider()
	}
	return err
}

func (n *Node) snapshot(from, to int64) (negentropy.Set, error) {
	return n.set.Snapshot(from, to), nil
}

func (n *Node) load(ctx context.Context, h message.Hash) (topic string, m *pb.WakuMessage, err error) {
	row, err := n.archive.Get(ctx, h)
	if errors.Is(err, archive.ErrNotFound) {
		return "", nil, nil
	}
	return row.Topic, row.Message, err
}

// restore hands a message of a peer's archive to the relay. What the relay would
// refuse again is not to be fetched again.
func (n *Node) restore(ctx context.Context, env *message.Envelope) error {
	err := n.relay.Receive(ctx, env)
	if errors.Is(err, relay.ErrRejected) || errors.Is(err, relay.ErrNotJoined) || errors.Is(err, archive.ErrTimestamp) {
		return fmt.Errorf("%w: %w", p2p.ErrRefused, err)
	}
	return err
}

// Descriptions of what is read from p2p.Stats.
var (
	descSyncSessions  = desc("storesync_sessions_total", "Sessions of store-sync that ended, by the side that began them and by outcome.", "side", "outcome")
	descSyncRunning   = desc("storesync_sessions", "Sessions of store-sync that are on.")
	descSyncRounds    = desc("storesync_rounds_total", "Rounds of Negentropy in sessions that the node began.")
	descSyncBytes     = desc("storesync_bytes_total", "Bytes of the streams of store-sync, by direction.", "direction")
	descSyncTransfers = desc("storesync_transfers_total", "Messages of store-sync: synced, refused and failed are those received, absent those asked for and not sent, served those sent, unwanted those that nobody asked for.", "outcome")
	descSyncPending   = desc("storesync_pending_messages", "Messages received by store-sync and not yet stored.")
)

func (s sink) sync(t p2p.Stats) {
	for side, outcomes := range t.Sessions {
		for outcome, v := range outcomes {
			s.counter(descSyncSessions, v, p2p.Side(side).String(), p2p.Outcome(outcome).String())
		}
	}
	s.gauge(descSyncRunning, t.Running)
	s.counter(descSyncRounds, t.Rounds)
	s.counter(descSyncBytes, t.BytesIn, "in")
	s.counter(descSyncBytes, t.BytesOut, "out")
	s.counter(descSyncTransfers, t.Synced, "synced")
	s.counter(descSyncTransfers, t.Refused, "refused")
	s.counter(descSyncTransfers, t.Failed, "failed")
	s.counter(descSyncTransfers, t.Absent, "absent")
	s.counter(descSyncTransfers, t.Served, "served")
	s.counter(descSyncTransfers, t.Unwanted, "unwanted")
	s.gauge(descSyncPending, t.Pending)
}
