package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
)

// topic is one joined topic.
type topic struct {
	*tallies
	name       string
	relay      *Relay
	mesh       *mesh
	intake     *intake
	validators []Validator
	subscribed atomic.Bool        // as gossipsub's event loop has it
	cancel     context.CancelFunc // of the validators' context
	gossip     *pubsub.Topic
	sub        *pubsub.Subscription
	left       chan struct{} // closed when the handler has ended
}

// join registers the validator, joins and subscribes, in this order, so that
// no message is ever accepted unvalidated. gossipsub runs several validators of
// a topic at once on one message, where they would race to write its
// ValidatorData, so ours runs them all. What fails undoes only what this call
// did.
func (r *Relay) join(name string, validators []Validator) error {
	r.joining.Lock()
	defer r.joining.Unlock()
	if err := r.joinable(name, validators); err != nil {
		return fmt.Errorf("relay: join %q: %w", name, err)
	}
	ctx, cancel := context.WithCancel(r.ctx)
	j := &topic{
		name: name, relay: r, cancel: cancel, mesh: newMesh(), intake: newIntake(), left: make(chan struct{}),
		validators: slices.Concat(r.opts.Validators, validators),
	}
	if err := j.register(ctx); err != nil {
		cancel()
		return fmt.Errorf("relay: join %q: %w", name, err)
	}
	if err := j.subscribe(); err != nil {
		cancel()
		return fmt.Errorf("relay: join %q: %w", name, errors.Join(err, r.gossip.UnregisterTopicValidator(name)))
	}
	j.intake.open()
	go j.handleAll()
	return nil
}

// joinable says why name cannot be joined. The caller holds r.joining.
func (r *Relay) joinable(name string, validators []Validator) error {
	switch {
	case r.ended:
		return ErrClosed
	case r.joined(name) != nil:
		return ErrJoined
	case slices.ContainsFunc(validators, func(v Validator) bool { return v == nil }):
		return errors.New("a validator is nil")
	}
	return checkTopic(name)
}

func checkTopic(name string) error {
	switch {
	case name == "":
		return errors.New("topic is empty")
	case !utf8.ValidString(name):
		return errors.New("topic is not valid UTF-8")
	}
	return nil
}

// register registers the validator, whose context is ctx rather than
// gossipsub's: it must end when the topic is left.
func (j *topic) register(ctx context.Context) error {
	validate := func(_ context.Context, _ peer.ID, m *pubsub.Message) pubsub.ValidationResult {
		return j.validate(ctx, m)
	}
	err := j.relay.gossip.RegisterTopicValidator(j.name, validate,
		pubsub.WithValidatorConcurrency(j.relay.opts.Validations),
		pubsub.WithValidatorInline(j.inline()))
	if err != nil {
		return fmt.Errorf("register validator: %w", err)
	}
	return nil
}

// inline reports whether validators run in the goroutines that take messages from
// the queue.
func (j *topic) inline() bool {
	switch j.relay.opts.ValidateInline {
	case InlineAlways:
		return true
	case InlineNever:
		return false
	}
	return len(j.validators) == 0
}

func (j *topic) subscribe() (err error) {
	if j.gossip, err = j.relay.gossip.Join(j.name); err != nil {
		return err
	}
	j.relay.enter(j)
	j.sub, err = j.gossip.Subscribe(pubsub.WithBufferSize(j.relay.opts.Subscription), pubsub.WithMessageFilter(j.intake.arrive))
	if err != nil {
		j.relay.forget(j)
		return errors.Join(err, j.gossip.Close())
	}
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

// leave refuses what is not accepted yet, unsubscribes, waits until the handler
// has handled what is, in no particular order at the end, and leaves the topic.
// The caller holds r.joining.
func (r *Relay) leave(j *topic) error {
	j.intake.close()
	j.cancel()
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
// empty, and then those that were still on their way to it.
func (j *topic) handleAll() {
	defer close(j.left)
	for {
		m, err := j.sub.Next(j.relay.ctx)
		if err != nil {
			break
		}
		j.handle(j.relay.ctx, m)
	}
	for _, m := range j.intake.rest() {
		j.handle(j.relay.ctx, m)
	}
}
