package relay

import (
	"context"
	"errors"
	"fmt"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// Publish seals m for a joined topic and sends it to the topic's mesh and to
// this node's own handler. It takes m over: nobody may change it afterwards. It
// returns the message's hash.
//
// Its errors wrap ErrNotJoined; ErrNoPeers, when nobody is in the mesh and
// AllowNoPeers is not set; ErrDuplicate, when the same bytes were sent or
// received within SeenTTL; an error of message.Limits; or the error of the
// Validator that refused m. What a Validator refused on its way from a peer may
// be published: the validators are asked again.
// The validators are given the topic's context and not ctx: a slow one is waited
// for. A nil error means that the message was handed to the outbound queues of the
// mesh's peers, no more: Stats.SendDropped counts what those queues dropped.
func (r *Relay) Publish(ctx context.Context, name string, m *pb.WakuMessage) (message.Hash, error) {
	j := r.joined(name)
	if j == nil || !j.intake.enter() {
		return message.Hash{}, fmt.Errorf("relay: publish on %q: %w", name, ErrNotJoined)
	}
	defer j.intake.exit()
	hash, err := j.publish(ctx, m)
	if err != nil {
		return message.Hash{}, fmt.Errorf("relay: publish on %q: %w", name, err)
	}
	return hash, nil
}

func (j *topic) publish(ctx context.Context, m *pb.WakuMessage) (message.Hash, error) {
	if counters.Enabled {
		defer counters.Label(j.relay.opts.Counts, sitePublish).End()
	}
	if !j.relay.opts.AllowNoPeers && j.mesh.size() == 0 {
		j.publishNoPeers.Add(1)
		return message.Hash{}, ErrNoPeers
	}
	env, err := message.Seal(j.relay.opts.Counts, j.relay.format, j.name, m, sitePublish)
	if err != nil {
		j.publishRefused.Add(1)
		return message.Hash{}, err
	}
	p := &published{sealed: env}
	if j.relay.opts.Reach >= ReachNode {
		p.carried = env // the validator hashes it, once gossipsub has passed over the payload for its id
	} else if _, err := env.Hash(sitePublish); err != nil {
		j.publishRefused.Add(1)
		return message.Hash{}, err
	}
	err = j.gossip.Publish(ctx, env.Bytes(), pubsub.WithValidatorData(p))
	if err := j.outcome(p, len(env.Bytes()), err); err != nil {
		return message.Hash{}, err
	}
	return env.Hash(sitePublish) // known by now
}

// outcome tells what gossipsub's answer to a publish means. It answers nil to a
// message that it has delivered already, without asking the validator.
func (j *topic) outcome(p *published, size int, err error) error {
	switch {
	case err == nil && p.accepted:
		j.published.Add(1)
		j.publishedBytes.Add(uint64(size))
		return nil
	case err == nil, errors.Is(p.refusal, errKnown):
		j.publishDuplicates.Add(1)
		return ErrDuplicate
	}
	j.publishRefused.Add(1)
	if p.refusal != nil { // gossipsub's error tells less
		return p.refusal
	}
	return err
}
