package bench

import (
	"context"
	"time"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// hashAlone is a Target that names each message and does nothing else with it.
type hashAlone struct {
	algorithm message.Algorithm
	messages  []*pb.WakuMessage
	delivered chan Delivery
}

func newHashAlone(o NodeOptions) Target { return &hashAlone{algorithm: o.Hash} }

func (h *hashAlone) Start(_ context.Context, messages []*pb.WakuMessage) error {
	h.messages, h.delivered = messages, make(chan Delivery, len(messages))
	return nil
}

func (h *hashAlone) Publish(_ context.Context, i int) error {
	_ = h.algorithm.Sum(PubsubTopic, h.messages[i]) //msgpath:uncounted of a target that has no node
	h.delivered <- Delivery{Index: i, At: time.Now()}
	return nil
}

func (h *hashAlone) Delivered() <-chan Delivery { return h.delivered }

// Verify has nothing to look at: no message goes anywhere.
func (h *hashAlone) Verify(context.Context) error { return nil }

func (h *hashAlone) Close() error { return nil }
