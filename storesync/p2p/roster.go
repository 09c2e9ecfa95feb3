package p2p

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/time/rate"
)

// rememberedPeers is how many peers are remembered; beyond, the one longest
// unheard of is forgotten, and treated as new.
const rememberedPeers = 1024

// roster holds what is known of peers, and which sessions are on. It is safe for
// concurrent use.
type roster struct {
	opts Options

	mu      sync.Mutex
	on      map[activity]struct{}
	answers int // of on, sessions that peers began
	peers   *simplelru.LRU[peer.ID, *known]
	rewinds uint64
}

type activity struct {
	peer peer.ID
	by   Side
}

// known is what is remembered of a peer.
type known struct {
	rate    *rate.Limiter
	shunned time.Time // until then
	upTo    int64     // of the same messages as the peer has; 0: not known
}

func newRoster(o Options) *roster {
	peers, err := simplelru.NewLRU[peer.ID, *known](rememberedPeers, nil)
	if err != nil { // only for a size below 1
		panic(err)
	}
	return &roster{opts: o, on: make(map[activity]struct{}), peers: peers}
}

// known returns what is remembered of p. The caller holds r.mu.
func (r *roster) known(p peer.ID) *known {
	if k, ok := r.peers.Get(p); ok {
		return k
	}
	every := r.opts.PeerPeriod / time.Duration(r.opts.PeerRate)
	k := &known{rate: rate.NewLimiter(rate.Every(every), r.opts.PeerRate)}
	r.peers.Add(p, k)
	return k
}

// begin notes a session that this side begins.
func (r *roster) begin(p peer.ID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := activity{p, Began}
	if _, on := r.on[a]; on {
		return ErrBusy
	}
	r.on[a] = struct{}{}
	return nil
}

// admit notes a session that a peer began, unless its error says why it is not to
// be.
func (r *roster) admit(p peer.ID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, k := activity{p, Answered}, r.known(p)
	switch _, on := r.on[a]; {
	case r.opts.Now().Before(k.shunned):
		return declined{}
	case on:
		return declined{"a session of yours is on"}
	case r.answers >= r.opts.Sessions:
		return declined{fmt.Sprintf("%d sessions are on", r.answers)}
	case !k.rate.AllowN(r.opts.Now(), 1):
		return declined{fmt.Sprintf("more than %d sessions in %v", r.opts.PeerRate, r.opts.PeerPeriod)}
	}
	r.on[a] = struct{}{}
	r.answers++
	return nil
}

func (r *roster) end(p peer.ID, by Side) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.on, activity{p, by})
	if by == Answered {
		r.answers--
	}
}

// running returns how many sessions are on.
func (r *roster) running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.on)
}

// shun notes that p broke the protocol.
func (r *roster) shun(p peer.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known(p).shunned = r.opts.Now().Add(r.opts.ShunTime)
}

func (r *roster) shunned(p peer.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.peers.Peek(p)
	return ok && r.opts.Now().Before(k.shunned)
}

// mark is a point in the history of failed transfers.
func (r *roster) mark() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rewinds
}

// advance notes that the same messages are here and at p up to a time, unless
// one that was fetched since the mark was not stored.
func (r *roster) advance(p peer.ID, upTo int64, mark uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rewinds == mark {
		r.known(p).upTo = upTo
	}
}

// rewind forgets up to which time peers have the same messages: one of them is
// not stored after all, and nobody knows how old it is.
func (r *roster) rewind() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rewinds++
	for _, k := range r.peers.Values() {
		k.upTo = 0
	}
}

func (r *roster) upTo(p peer.ID) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.peers.Peek(p); ok {
		return k.upTo
	}
	return 0
}
