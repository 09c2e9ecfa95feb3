package relay

import (
	"context"
	"errors"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/message"
)

// published is what Publish sends along with a message to this node's own
// validator and handler.
type published struct {
	sealed   *message.Envelope // for the validator; nil once it has run
	carried  *message.Envelope // for the handler, at ReachNode
	accepted bool              // the validator ran and accepted
	known    bool              // the validator ran and had accepted the same bytes before
}

// validate is the topic's only validator in gossipsub: several would run at
// once on one message and race to write its ValidatorData. It decodes what
// peers sent; what this node published was checked when it was sealed.
func (j *topic) validate(ctx context.Context, _ peer.ID, m *pubsub.Message) pubsub.ValidationResult {
	local, _ := m.ValidatorData.(*published)
	env := j.incoming(m, local)
	if _, err := env.Message(siteValidator); err != nil {
		j.add(rejection(err))
		j.relay.opts.Logger.Debug("message rejected", "topic", j.name, "peer", m.ReceivedFrom, "error", err)
		return pubsub.ValidationReject
	}
	if result := j.consult(ctx, env, local); result != pubsub.ValidationAccept {
		return result
	}
	if !j.first(m.ID) {
		if local != nil {
			local.known = true
		} else {
			j.duplicates.Add(1)
		}
		return pubsub.ValidationIgnore
	}
	switch {
	case local != nil:
		local.accepted = true
	case j.relay.opts.Reach >= ReachNode:
		m.ValidatorData = env
	}
	return pubsub.ValidationAccept
}

func (j *topic) incoming(m *pubsub.Message, local *published) *message.Envelope {
	if local != nil {
		env := local.sealed
		local.sealed = nil
		return env
	}
	return j.relay.wrap(j.name, m.GetData())
}

// consult asks each validator in turn. What this node published itself is
// refused by Publish's error and not counted as a message rejected.
func (j *topic) consult(ctx context.Context, env *message.Envelope, local *published) pubsub.ValidationResult {
	for _, v := range j.validators {
		err := v(ctx, env)
		if err == nil {
			continue
		}
		cause, result := RejectValidator, pubsub.ValidationReject
		if errors.Is(err, ErrIgnore) {
			cause, result = RejectIgnored, pubsub.ValidationIgnore
		}
		if local == nil {
			j.add(cause)
		}
		j.relay.opts.Logger.Debug("message refused by validator", "topic", j.name, "error", err)
		return result
	}
	return pubsub.ValidationAccept
}

// first reports whether no message of this gossip id was accepted before.
// gossipsub lets a message that is received and published at the same time
// through its validators twice, delivers it once and says nothing. Injected
// messages have no id.
func (j *topic) first(id string) bool { return id == "" || j.relay.accepted.Add(id) }
