package p2p

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/message"
)

// patience is how often the transfer of one message from one peer may fail
// before it counts as refused.
const patience = 3

// refusingPeers is of how many peers refusals are remembered; beyond, those of the
// one longest unheard of are forgotten.
const refusingPeers = 32

// ledger holds what is on its way, which nobody else is to be asked for, and what
// was refused. It is safe for concurrent use.
type ledger struct {
	slots chan struct{} // one for each message pending: the bound
	most  int           // refusals of one peer
	ttl   time.Duration // of refusals
	now   func() time.Time

	mu       sync.Mutex
	pending  map[message.Hash]*claim
	refusals *simplelru.LRU[peer.ID, refusals]
}

// claim is a message on its way.
type claim struct {
	from     peer.ID
	session  *Report // of the session that asked for it
	accepted bool    // given to Accept: Stored answers
}

// copyOf is a message as one peer has it. What a hash does not cover can make us
// refuse a message; no peer is to keep another's copy from us.
type copyOf struct {
	peer peer.ID
	hash message.Hash
}

// refusals are those of one peer's copies. To forget the oldest for a new one would
// be to ask for all of them in turn, for ever: when there are as many as may be, the
// peer is asked for nothing new until all are forgotten at once.
type refusals struct {
	until  time.Time
	copies map[message.Hash]refusal
}

// refusal is what is remembered of a copy that was refused or did not come.
type refusal struct {
	fails uint8
	final bool // it was refused, and did not just fail
}

func newLedger(o Options) *ledger {
	refusals, err := simplelru.NewLRU[peer.ID, refusals](refusingPeers, nil)
	if err != nil { // only for a size below 1
		panic(err)
	}
	return &ledger{
		slots: make(chan struct{}, o.Pending), most: o.Refusals, ttl: o.RefusalTTL, now: o.Now,
		pending: make(map[message.Hash]*claim), refusals: refusals,
	}
}

// verdict says whether a message is to be asked for.
type verdict uint8

const (
	wanted  verdict = iota
	onWay           // somebody was asked for it
	refused         // it would be refused
	failing         // not now: it failed too often, or too much of the peer's was refused
)

func (l *ledger) judge(c copyOf) verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.judgeLocked(c)
}

func (l *ledger) judgeLocked(c copyOf) verdict {
	if _, ok := l.pending[c.hash]; ok {
		return onWay
	}
	copies := l.refusalsOf(c.peer).copies
	r, known := copies[c.hash]
	switch {
	case r.final:
		return refused
	case r.fails >= patience, !known && len(copies) >= l.most:
		return failing
	}
	return wanted
}

// refusalsOf returns what is remembered of a peer's copies: the zero value if nothing
// is. The caller holds l.mu.
func (l *ledger) refusalsOf(p peer.ID) refusals {
	if r, ok := l.refusals.Get(p); ok && l.now().Before(r.until) {
		return r
	}
	return refusals{}
}

// claim notes that a peer is asked for a message. It waits for room, if told to,
// until ctx ends. ok is false if there is no room or the verdict is not wanted.
func (l *ledger) claim(ctx context.Context, c copyOf, session *Report, wait bool) (v verdict, ok bool) {
	if !l.takeSlot(ctx, wait) {
		return wanted, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if v = l.judgeLocked(c); v != wanted {
		<-l.slots
		return v, false
	}
	l.pending[c.hash] = &claim{from: c.peer, session: session}
	return wanted, true
}

func (l *ledger) takeSlot(ctx context.Context, wait bool) bool {
	select {
	case l.slots <- struct{}{}:
		return true
	default:
	}
	if !wait {
		return false
	}
	select {
	case l.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// accepting notes that a message that was claimed is given to Accept now.
func (l *ledger) accepting(h message.Hash) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.pending[h]; c != nil {
		c.accepted = true
	}
}

// answer takes the claim on a message away that Accept was given, and returns it;
// nil if there is none.
func (l *ledger) answer(h message.Hash) *claim {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.pending[h]
	if c == nil || !c.accepted {
		return nil
	}
	l.drop(h)
	return c
}

func (l *ledger) drop(h message.Hash) {
	delete(l.pending, h)
	<-l.slots
}

// release takes away the claims on those of the ids that a session asked for and
// Accept was not given.
func (l *ledger) release(session *Report, ids []message.Hash) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range ids {
		if c := l.pending[h]; c != nil && c.session == session && !c.accepted {
			l.drop(h)
		}
	}
}

// refuse remembers that a copy was refused, or that it failed, which counts as a
// refusal when it has failed as often as patience allows.
func (l *ledger) refuse(c copyOf, final bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.refusalsOf(c.peer)
	r, known := of.copies[c.hash]
	if !known && len(of.copies) >= l.most {
		return // it is not asked for either
	}
	if of.copies == nil {
		of = refusals{until: l.now().Add(l.ttl), copies: make(map[message.Hash]refusal)}
	}
	of.copies[c.hash] = refusal{fails: min(r.fails+1, patience), final: final}
	l.refusals.Add(c.peer, of)
}

// forget forgets all refusals.
func (l *ledger) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals.Purge()
}

// counts returns how many messages are on their way, and how many of them a
// session's Accept was given.
func (l *ledger) counts(session *Report) (all, accepted int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.pending {
		if c.accepted && (session == nil || c.session == session) {
			accepted++
		}
	}
	return len(l.pending), accepted
}
