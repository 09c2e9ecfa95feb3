package relay

import (
	"context"
	"errors"
	"fmt"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

// handle takes one accepted message, from a peer or from this node itself,
// through the dispatch.
func (j *topic) handle(ctx context.Context, m *pubsub.Message) {
	if counters.Enabled {
		defer counters.Label(j.relay.opts.Counts, siteHandler).End()
	}
	env := j.take(m)
	if env == nil {
		env = j.relay.wrap(j.name, m.GetData())
	}
	if _, err := env.Message(siteHandler); err != nil { // not after the validator, unless bytes were changed
		j.relay.fail(j.tallies, DropStage, env, fmt.Errorf("relay: handle message: %w", err))
		return
	}
	if j.relay.opts.Reach >= ReachDispatch {
		_, _ = env.Hash(siteEnvelope) // once, up front, for the whole dispatch
	}
	_ = j.dispatch(ctx, env, j.relay.opts.Store) // counted and logged
}

// take takes what came along with m out of it, and returns the Envelope, nil if
// there is none. gossipsub's message cache keeps m for several seconds; gossipsub
// itself never looks at ValidatorData, and a topic has one subscription only.
func (j *topic) take(m *pubsub.Message) *message.Envelope {
	data := m.ValidatorData
	if data != nil { // what is injected without any is not written to
		m.ValidatorData = nil
	}
	if j.relay.opts.Reach < ReachNode {
		return nil
	}
	switch d := data.(type) {
	case *message.Envelope:
		return d
	case *published:
		return d.carried
	}
	return nil
}

// dispatch hands a decoded message to a store, or to the stages if there is none.
// The error is the store's, and is counted.
func (j *topic) dispatch(ctx context.Context, env *message.Envelope, store Stage) error {
	if store == nil {
		j.relay.finish(ctx, j.tallies, env)
		return nil
	}
	err := store(ctx, j.relay.share(env))
	if err != nil {
		j.relay.unstored(j.tallies, env, err)
	}
	return err
}

// Stored is called by the store, once for each message it was handed and did
// not refuse: err nil means committed, and runs the stages; an error that wraps
// ErrDuplicate means that it was stored before; any other that it is not
// stored. The topic may have been left meanwhile.
func (r *Relay) Stored(ctx context.Context, env *message.Envelope, err error) {
	t := r.tally(env.Topic())
	if err != nil {
		r.unstored(t, env, err)
		return
	}
	r.finish(ctx, t, env)
}

func (r *Relay) unstored(t *tallies, env *message.Envelope, err error) {
	if errors.Is(err, ErrDuplicate) {
		t.known.Add(1)
		return
	}
	r.fail(t, DropStore, env, fmt.Errorf("relay: store message: %w", err))
}

// finish runs every stage, whatever an earlier one answered.
func (r *Relay) finish(ctx context.Context, t *tallies, env *message.Envelope) {
	var err error
	for _, stage := range r.opts.Stages {
		if e := stage(ctx, r.share(env)); e != nil { // a list of answers would be an allocation for each message
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		r.fail(t, DropStage, env, fmt.Errorf("relay: run stages: %w", err))
		return
	}
	t.delivered.Add(1)
}

// share returns what a consumer of the dispatch is handed: the Envelope itself,
// or one that is decoded and knows no hash yet.
func (r *Relay) share(env *message.Envelope) *message.Envelope {
	if r.opts.Reach >= ReachDispatch {
		return env
	}
	return env.Fresh()
}

func (r *Relay) fail(t *tallies, c Cause, env *message.Envelope, err error) {
	t.add(c)
	r.opts.Logger.Warn("message not delivered", "topic", env.Topic(), "cause", c.String(), "error", err)
}

// Inject runs one received message through the topic's registered validator,
// handler and dispatch, in the caller's goroutine and without a network.
// Observers do not see it, its ID is not looked at, and the same bytes may be
// injected again. m has no ValidatorData afterwards, if it was accepted. The error
// wraps ErrNotJoined, or says why the validator did not accept; what the store or
// a stage answers is counted and logged, as for any message.
func (r *Relay) Inject(ctx context.Context, m *pubsub.Message) error {
	j := r.joined(m.GetTopic())
	if j == nil || !j.intake.enter() {
		return fmt.Errorf("relay: inject on %q: %w", m.GetTopic(), ErrNotJoined)
	}
	defer j.intake.exit()
	j.received.Add(1)
	j.receivedBytes.Add(uint64(len(m.GetData())))
	if cause, err := j.examine(ctx, m, j.incoming(m, nil), nil); err != nil {
		j.refuse(m, nil, cause, err)
		return fmt.Errorf("relay: inject on %q: %w", j.name, err)
	}
	j.handle(ctx, m)
	return nil
}
