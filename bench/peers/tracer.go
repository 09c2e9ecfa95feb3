package peers

import (
	"sync"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// tracer tells what nobody else would: when the mesh is there, and what was
// dropped. It is the benchmark's, not that of whoever writes a relay by hand.
type tracer struct {
	once                          sync.Once
	grafted                       chan struct{}
	dropped, rejected, duplicates atomic.Uint64
}

var _ pubsub.RawTracer = (*tracer)(nil)

func newTracer() *tracer { return &tracer{grafted: make(chan struct{})} }

func (t *tracer) Graft(peer.ID, string) { t.once.Do(func() { close(t.grafted) }) }

func (t *tracer) DropRPC(rpc *pubsub.RPC, _ peer.ID) { t.dropped.Add(uint64(len(rpc.GetPublish()))) }

// RejectMessage tells a full queue, where a message is dropped, from a verdict.
func (t *tracer) RejectMessage(_ *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectValidationQueueFull, pubsub.RejectValidationThrottled:
		t.dropped.Add(1)
	default:
		t.rejected.Add(1)
	}
}

func (t *tracer) UndeliverableMessage(*pubsub.Message) { t.dropped.Add(1) }
func (t *tracer) DuplicateMessage(*pubsub.Message)     { t.duplicates.Add(1) }

func (*tracer) OnNewOutboundStream(peer.ID, protocol.ID)             {}
func (*tracer) OnClosedOutboundStream(peer.ID)                       {}
func (*tracer) Join(string)                                          {}
func (*tracer) Leave(string)                                         {}
func (*tracer) Prune(peer.ID, string)                                {}
func (*tracer) ValidateMessage(*pubsub.Message)                      {}
func (*tracer) DeliverMessage(*pubsub.Message)                       {}
func (*tracer) ThrottlePeer(peer.ID)                                 {}
func (*tracer) RecvRPC(*pubsub.RPC)                                  {}
func (*tracer) SendRPC(*pubsub.RPC, peer.ID)                         {}
func (*tracer) SendRPCCompleted(*pubsub.RPC, peer.ID, time.Duration) {}
