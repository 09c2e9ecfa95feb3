package relay

import (
	"context"
	"fmt"

	"github.com/msgpath/msgpath/message"
)

// Format returns how the relay reads messages: what an Envelope for Receive is
// to be made with.
func (r *Relay) Format() message.Format { return r.format }

// Receive takes a message that came another way than by gossip, from a peer's
// archive say, through its topic's validators, to the store and the stages, in the
// caller's goroutine. It is not forwarded, observers do not see it, and gossipsub
// does not know it: whether it was delivered before is the store's to say.
//
// The error wraps ErrNotJoined or ErrRejected, or is ctx's, env's or the store's; all
// but the first are counted, as for any message. After nil the store answers by
// calling Stored.
func (r *Relay) Receive(ctx context.Context, env *message.Envelope) error {
	j := r.joined(env.Topic())
	if j == nil || !j.intake.enter() {
		return fmt.Errorf("relay: receive on %q: %w", env.Topic(), ErrNotJoined)
	}
	defer j.intake.exit()
	j.recovered.Add(1)
	j.recoveredBytes.Add(uint64(len(env.Bytes())))
	if cause, err := j.check(ctx, r.share(env)); err != nil {
		j.add(cause)
		r.opts.Logger.Debug("recovered message refused", "topic", j.name, "cause", cause.String(), "error", err)
		if cause == DropLeft { // ctx ended: the topic cannot be left meanwhile
			return fmt.Errorf("relay: receive on %q: %w", j.name, context.Cause(ctx))
		}
		return fmt.Errorf("relay: receive on %q: %w: %w", j.name, ErrRejected, err)
	}
	store := r.opts.Restore
	if store == nil {
		store = r.opts.Store
	}
	if err := j.dispatch(ctx, env, store); err != nil {
		return fmt.Errorf("relay: receive on %q: %w", j.name, err)
	}
	return nil
}
