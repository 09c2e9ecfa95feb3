package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/filter"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/storesync/p2p"
)

// Options say what a Node is. The zero value is a node that listens nowhere,
// knows nobody and joins nothing.
type Options struct {
	Relay relay.Options // Counts, Reach, Topics, Stages …; Store and Restore are the node's own

	Identity crypto.PrivKey // nil: a new Ed25519 key, forgotten at the end
	Listen   []string       // multiaddrs, "/ip4/127.0.0.1/tcp/0", each of which must work; none: dials only
	Peers    []string       // multiaddrs with a peer id; dialed, and dialed again when lost

	// Security lists the protocols that secure connections over TCP and WebSocket,
	// SecurityTLS or SecurityNoise, in order of preference; the preference of the
	// side that dials decides. None: both, as DefaultSecurity has them. QUIC brings
	// its own TLS.
	Security []string

	// MuxerWindow is how many bytes of one stream a peer may send before any of
	// them is read, at first, over TCP and WebSocket. A connection that needs it
	// doubles it by itself, up to MaxMuxerWindow. Any more than the least is memory
	// that the resource manager does not know of. 0: MinMuxerWindow.
	MuxerWindow int

	Archive string // "", "memory", "sqlite::memory:", "sqlite:FILE", "postgres://…"; "": keeps nothing

	// Backend opens an archive of the caller's own, in place of Archive, which is
	// "" then. Nil: none.
	Backend func(context.Context) (archive.Backend, error)

	ArchiveQueue int // messages accepted and not yet committed; 0: the archive's default
	ArchiveBatch int // messages a transaction; 0: the archive's default

	// ArchiveWindow is how far a message's timestamp may lie from now for it to be
	// stored when it arrives or is published; others, and those without one, are
	// dropped after they were relayed. 0: any.
	ArchiveWindow time.Duration
	Retention     archive.Retention // what the archive deletes again, and the sync set with it

	// Committed is called after each archive transaction with its number of
	// messages, before they reach the sync set and the stages. It must not block.
	Committed func(messages int, took time.Duration, err error)

	// Sync keeps the set of the archive's messages, answers peers that compare theirs,
	// and takes what only they have. SyncOptions say when the node asks by itself,
	// which it does only with an Interval, and bound what a peer may cost. Counts,
	// Format and Logger are the node's own.
	Sync        bool
	SyncOptions p2p.Options

	// Record says where to record the messages that are accepted, as they came over
	// the wire; without a Path nothing is recorded. Its Logger is the node's if nil.
	Record corpus.Options

	Filter *filter.Options // push to light peers that subscribe; nil: no filter; its Logger is the node's unless it has one

	Logger *slog.Logger // nil: discarded; at debug level it tells of every message
}

// Validate reports everything wrong with o.
func (o Options) Validate() error {
	errs := []error{o.Relay.Validate(), o.SyncOptions.Validate()}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("node: options: "+format, args...)) }
	if o.Relay.Store != nil || o.Relay.Restore != nil {
		bad("Relay.Store or Relay.Restore is set; the node sets them from Archive")
	}
	for i, l := range o.Listen {
		if _, err := multiaddr.NewMultiaddr(l); err != nil {
			bad("Listen[%d] %q: %w", i, l, err)
		}
	}
	for i, p := range o.Peers {
		if _, err := parsePeer(p); err != nil {
			bad("Peers[%d] %q: %w", i, p, err)
		}
	}
	o.checkTransport(bad)
	if _, err := parseArchive(o.Archive, nil); err != nil {
		bad("Archive %q: %w", shownArchive(o.Archive), err)
	}
	if o.Backend != nil && o.Archive != "" {
		bad("Archive %q and a Backend: give one", shownArchive(o.Archive))
	}
	if o.Sync && o.Archive == "" && o.Backend == nil {
		bad("Sync without an Archive: the sync set names messages that are stored")
	}
	if o.Filter != nil {
		errs = append(errs, o.Filter.Validate())
	}
	if !o.Sync && o.SyncOptions.Interval != 0 {
		bad("SyncOptions.Interval %v without Sync", o.SyncOptions.Interval)
	}
	if o.ArchiveQueue < 0 {
		bad("ArchiveQueue %d is negative", o.ArchiveQueue)
	}
	if o.ArchiveBatch < 0 {
		bad("ArchiveBatch %d is negative", o.ArchiveBatch)
	}
	if o.ArchiveWindow < 0 {
		bad("ArchiveWindow %v is negative", o.ArchiveWindow)
	}
	if err := o.Retention.Validate(); err != nil {
		bad("Retention: %w", err)
	}
	if o.Record.Path != "" {
		errs = append(errs, o.Record.Validate())
	}
	return errors.Join(errs...)
}

func (o Options) checkTransport(bad func(string, ...any)) {
	for i, s := range o.Security {
		if securities[s] == nil {
			bad("Security[%d] %q: want %s or %s", i, s, SecurityTLS, SecurityNoise)
		}
		if slices.Contains(o.Security[:i], s) {
			bad("Security[%d] %q: named twice", i, s)
		}
	}
	if o.MuxerWindow != 0 && (o.MuxerWindow < MinMuxerWindow || o.MuxerWindow > MaxMuxerWindow) {
		bad("MuxerWindow %d: want %d to %d bytes", o.MuxerWindow, MinMuxerWindow, MaxMuxerWindow)
	}
}

func parsePeer(address string) (peer.AddrInfo, error) {
	p, err := peer.AddrInfoFromString(address)
	if err != nil {
		return peer.AddrInfo{}, err
	}
	if len(p.Addrs) == 0 {
		return peer.AddrInfo{}, errors.New("no address before the peer id")
	}
	return *p, nil
}

// configuredPeers returns the peers at addresses that Validate has passed, with
// all their addresses each, in the order of their first.
func configuredPeers(addresses []string) []peer.AddrInfo {
	var peers []peer.AddrInfo
	at := make(map[peer.ID]int)
	for _, a := range addresses {
		p, err := parsePeer(a)
		if err != nil {
			continue
		}
		i, known := at[p.ID]
		if !known {
			at[p.ID] = len(peers)
			peers = append(peers, p)
			continue
		}
		peers[i].Addrs = append(peers[i].Addrs, p.Addrs...)
	}
	return peers
}
