package node

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/sethvargo/go-retry"
)

// A peer is dialed again after firstRedial, then after twice as long each time,
// up to lastRedial. A connection that held for lastRedial starts over.
const (
	firstRedial = time.Second
	lastRedial  = time.Minute
)

func redials() retry.Backoff {
	return retry.WithJitterPercent(20, retry.WithCappedDuration(lastRedial, retry.NewExponential(firstRedial)))
}

// keepConnected dials a peer, and dials it again whenever it is not reached or
// its connection is lost, until ctx ends. The pause before a redial is kept
// also when the last dial succeeded: a peer that hangs up at once is not dialed
// in a busy loop.
func (n *Node) keepConnected(ctx context.Context, p peer.AddrInfo) {
	if p.ID == n.host.ID() {
		n.logger.Warn("configured peer is this node itself; not dialed", "peer", p.ID)
		return
	}
	n.host.ConnManager().Protect(p.ID, "configured")
	lost, forget := n.losses(p.ID)
	defer forget()
	pauses := redials()
	for {
		if n.dial(ctx, p) {
			since := time.Now()
			n.awaitLoss(ctx, lost, p.ID)
			if time.Since(since) >= lastRedial {
				pauses = redials()
			}
		}
		pause, _ := pauses.Next()
		if !wait(ctx, pause) {
			return
		}
	}
}

// losses returns a channel that tells of p's lost connections, and how to end
// that. Several losses may be told as one.
func (n *Node) losses(p peer.ID) (lost <-chan struct{}, forget func()) {
	c := make(chan struct{}, 1)
	notifiee := &network.NotifyBundle{DisconnectedF: func(_ network.Network, conn network.Conn) {
		if conn.RemotePeer() != p {
			return
		}
		select {
		case c <- struct{}{}:
		default:
		}
	}}
	n.host.Network().Notify(notifiee)
	return c, func() { n.host.Network().StopNotify(notifiee) }
}

// dial dials once and reports whether p is connected. It passes over the
// host's own memory of failed dials, since keepConnected has its own pauses.
func (n *Node) dial(ctx context.Context, p peer.AddrInfo) bool {
	err := n.host.Connect(network.WithForceDirectDial(ctx, "configured peer"), p)
	switch {
	case err == nil:
		n.logger.Info("peer connected", "peer", p.ID)
	case ctx.Err() == nil:
		n.logger.Warn("peer not reached", "peer", p.ID, "error", err)
	}
	return err == nil
}

// awaitLoss returns when p is not connected any more or ctx ends.
func (n *Node) awaitLoss(ctx context.Context, lost <-chan struct{}, p peer.ID) {
	for n.host.Network().Connectedness(p) == network.Connected {
		select {
		case <-lost:
		case <-ctx.Done():
			return
		}
	}
	n.logger.Warn("peer lost", "peer", p)
}

// wait reports whether d passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
