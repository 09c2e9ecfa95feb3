package relay

import (
	"context"
	"errors"
	"fmt"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

// published is what Publish sends along with a message to this node's own
// validator and handler.
type published struct {
	sealed   *message.Envelope // for the validator; nil once it has run
	carried  *message.Envelope // for the handler, at ReachNode
	accepted bool              // the validator ran and accepted
	refusal  error             // why it did not
}

// validate is the topic's only validator in gossipsub. It ends the copy of a
// peer that the tracer began.
func (j *topic) validate(ctx context.Context, m *pubsub.Message) pubsub.ValidationResult {
	local, _ := m.ValidatorData.(*published)
	if local == nil {
		defer j.intake.exit()
	}
	env := j.incoming(m, local)
	if j.relay.opts.Reach >= ReachNode {
		j.share(env, m.ID, local)
	}
	cause, err := j.examine(ctx, m, env, local)
	if err == nil {
		cause, err = j.admit(m)
	}
	if err == nil {
		if local != nil {
			local.accepted = true
		}
		return pubsub.ValidationAccept
	}
	return j.refuse(m, local, cause, err)
}

// refuse counts a message of a peer that was refused. What this node published
// itself is refused by Publish's error.
func (j *topic) refuse(m *pubsub.Message, local *published, cause Cause, err error) pubsub.ValidationResult {
	switch {
	case local != nil:
		local.refusal = err
	case errors.Is(err, errKnown):
		j.duplicates.Add(1)
	default:
		j.add(cause)
		j.relay.opts.Logger.Debug("message refused", "topic", j.name, "peer", m.ReceivedFrom, "cause", cause.String(), "error", err)
	}
	if cause == RejectIgnored || cause == DropLeft {
		return pubsub.ValidationIgnore
	}
	return pubsub.ValidationReject
}

// examine decodes what peers sent, while what this node published was checked
// when it was sealed, and asks the validators. It returns what refused m.
func (j *topic) examine(ctx context.Context, m *pubsub.Message, env *message.Envelope, local *published) (Cause, error) {
	if cause, err := j.check(ctx, env); err != nil {
		return cause, err
	}
	if local == nil && j.relay.opts.Reach >= ReachNode {
		m.ValidatorData = env
	}
	return 0, nil
}

// check decodes a message, unless it is, and asks the validators. It returns what
// refused it.
func (j *topic) check(ctx context.Context, env *message.Envelope) (Cause, error) {
	if counters.Enabled {
		defer counters.Label(j.relay.opts.Counts, siteValidator).End()
	}
	if ctx.Err() != nil {
		return DropLeft, errLeft
	}
	if _, err := env.Message(siteValidator); err != nil {
		return rejection(err), err
	}
	return j.consult(ctx, env)
}

func (j *topic) incoming(m *pubsub.Message, local *published) *message.Envelope {
	if local != nil {
		env := local.sealed
		local.sealed = nil // local waits with the message for the handler
		return env
	}
	return j.relay.wrap(j.name, m.GetData())
}

// share gives env the payload's digest in the gossip id, which gossipsub has
// computed of the same bytes before it asks a validator. What this node published
// is hashed with it here, before anybody else sees env.
func (j *topic) share(env *message.Envelope, id string, local *published) {
	if digest, ok := payloadDigest(id); ok {
		env.Adopt(digest, siteGossipID)
	}
	if local != nil {
		_, _ = env.Hash(sitePublish) // sealed, and so without an error
	}
}

// consult asks each validator in turn.
func (j *topic) consult(ctx context.Context, env *message.Envelope) (Cause, error) {
	for _, v := range j.validators {
		err := v(ctx, env)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil: // it may have been told so
			return DropLeft, errLeft
		case errors.Is(err, ErrIgnore):
			return RejectIgnored, fmt.Errorf("ignored by validator: %w", err)
		}
		return RejectValidator, fmt.Errorf("rejected by validator: %w", err)
	}
	return 0, nil
}

// Why a message that no validator refused is not accepted.
var (
	errLeft  = fmt.Errorf("%w any more", ErrNotJoined)
	errKnown = fmt.Errorf("accepted before: %w", ErrDuplicate)
)

// admit takes a message on that every validator accepted. gossipsub lets one
// that is received and published at the same time through its validators twice,
// delivers it once and says nothing.
func (j *topic) admit(m *pubsub.Message) (Cause, error) {
	if !j.intake.accept(m) {
		return DropLeft, errLeft
	}
	if !j.relay.accepted.Add(m.ID) {
		j.intake.arrive(m)
		return RejectIgnored, errKnown
	}
	return 0, nil
}
