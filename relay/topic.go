package relay

import (
	"errors"
	"fmt"
	"slices"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
)

// topic is one joined topic.
type topic struct {
	*tallies
	name       string
	relay      *Relay
	mesh       *mesh
	validators []Validator
	gossip     *pubsub.Topic
	sub        *pubsub.Subscription
	left       chan struct{} // closed when the handler has ended
}

// join registers the validator, joins and subscribes, in this order, so that
// no message is ever accepted unvalidated. gossipsub has room for one validator
// a topic that may set ValidatorData, so ours runs them all. What fails undoes
// only what this call did.
func (r *Relay) join(name string, validators []Validator) (err error) {
	r.joining.Lock()
	defer r.joining.Unlock()
	if r.joined(name) != nil {
		return fmt.Errorf("relay: join %q: %w", name, ErrJoined)
	}
	j := &topic{
		name: name, relay: r, mesh: newMesh(), left: make(chan struct{}),
		validators: slices.Concat(r.opts.Validators, validators),
	}
	if err := r.gossip.RegisterTopicValidator(name, j.validate); err != nil {
		return fmt.Errorf("relay: join %q: register validator: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("relay: join %q: %w", name, err), r.gossip.UnregisterTopicValidator(name))
		}
	}()
	if j.gossip, err = r.gossip.Join(name); err != nil {
		return err
	}
	r.enter(j)
	if j.sub, err = j.gossip.Subscribe(pubsub.WithBufferSize(r.opts.Subscription)); err != nil {
		r.forget(j)
		return errors.Join(err, j.gossip.Close())
	}
	go j.handleAll()
	return nil
}

// enter makes j known to the tracer, which must be before it is subscribed.
func (r *Relay) enter(j *topic) {
	j.tallies = r.tally(j.name)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.topics[j.name] = j
}

func (r *Relay) forget(j *topic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.topics, j.name)
}

// leave unsubscribes, waits until the handler has handled what the subscription
// held, and leaves the topic. The caller holds r.joining.
func (r *Relay) leave(j *topic) error {
	j.sub.Cancel()
	<-j.left
	r.forget(j)
	err := errors.Join(j.gossip.Close(), r.gossip.UnregisterTopicValidator(j.name))
	if err != nil {
		return fmt.Errorf("relay: leave %q: %w", j.name, err)
	}
	return nil
}

// handleAll handles accepted messages until the subscription is cancelled and
// empty.
func (j *topic) handleAll() {
	defer close(j.left)
	for {
		m, err := j.sub.Next(j.relay.ctx)
		if err != nil {
			return
		}
		j.handle(j.relay.ctx, m)
	}
}
