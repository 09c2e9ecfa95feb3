package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/filter"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
)

// MaxFilterPeers is the most light peers of a run.
const MaxFilterPeers = 100

// setFilter gives the receiver a server for the light peers of the run. Its queues
// hold all that may be in flight, and no subscription ends within a run.
func (o NodeOptions) setFilter(n *node.Options) {
	if o.FilterPeers > 0 {
		n.Filter = &filter.Options{MaxPeers: o.FilterPeers, Queue: relay.DefaultSubscription, TTL: 2 * longest}
	}
}

// light is a light peer: a host of its own that is subscribed at the receiver. It
// counts nothing, and is the same on every path.
type light struct {
	host    host.Host
	client  *filter.Client
	ended   chan error
	strange atomic.Pointer[error] // the first message that is not one of those published
	stopped sync.Once
	err     error
}

// startLight starts a light peer, subscribed to each content topic, and hands on the
// number of each message.
func (t *nodeTarget) startLight(ctx context.Context, topics []string, arrive func(number int) error) (l *light, err error) {
	base, at := t.options.node(), t.receiver.AddrInfo()
	l = &light{ended: make(chan error, 1)}
	if l.host, err = libp2p.New(node.HostOptions(base)...); err != nil {
		return nil, fmt.Errorf("bench: start light peer: %w", err)
	}
	l.client, err = filter.NewClient(l.host, filter.ClientOptions{
		Format: message.Format{Decoder: message.Aliasing, Limits: base.Relay.Limits},
		Handle: func(_ peer.ID, env *message.Envelope) {
			i, err := t.same(env)
			if err == nil {
				err = arrive(i)
			}
			if err != nil {
				l.strange.CompareAndSwap(nil, &err)
			}
		},
	})
	if err != nil {
		return nil, errors.Join(err, l.host.Close())
	}
	go func() { l.ended <- l.client.Run(context.WithoutCancel(ctx)) }()
	<-l.client.Ready()
	err = l.host.Connect(ctx, at)
	for some := range slices.Chunk(topics, filter.MaxContentTopics) {
		if err == nil {
			err = l.client.Subscribe(ctx, at.ID, PubsubTopic, some...)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("bench: start light peer: %w", err), l.stop())
	}
	return l, nil
}

// same returns the number of a message that is what was sent under it, in all that
// its hash covers. To compare takes less time than to hash, which would be charged to
// what is measured.
func (t *nodeTarget) same(env *message.Envelope) (int, error) {
	i, err := t.number(env)
	if err != nil {
		return 0, err
	}
	m, err := env.Message(siteApp) // decoded already
	if err != nil {
		return 0, err
	}
	want := t.sent[i]
	if env.Topic() != PubsubTopic || !bytes.Equal(m.GetPayload(), want.GetPayload()) || m.GetContentTopic() != want.GetContentTopic() ||
		m.GetTimestamp() != want.GetTimestamp() || !bytes.Equal(m.GetMeta(), want.GetMeta()) {
		return 0, fmt.Errorf("bench: message %d was altered on its way to a light peer", i)
	}
	return i, nil
}

// contentTopics returns each content topic that is sent.
func (t *nodeTarget) contentTopics() []string {
	all := make([]string, len(t.sent))
	for i, m := range t.sent {
		all[i] = m.GetContentTopic()
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// verify checks that the peer was pushed n messages, each one of those published.
func (l *light) verify(n int) error {
	if err := l.strange.Load(); err != nil {
		return invalid("%w", *err)
	}
	if got, want := l.client.Stats(), (filter.ClientStats{Delivered: uint64(n)}); got != want {
		return invalid("a light peer has %+v, want %+v", got, want)
	}
	return nil
}

func (l *light) stop() error {
	l.stopped.Do(func() {
		l.client.Close()
		l.err = errors.Join(<-l.ended, l.host.Close())
	})
	return l.err
}

// startLights starts the light peers of a run, subscribed at the receiver.
func (t *nodeTarget) startLights(ctx context.Context) error {
	topics := t.contentTopics()
	for i := range t.options.FilterPeers {
		l, err := t.startLight(ctx, topics, func(number int) error { return t.arrive(i, number) })
		if err != nil {
			return err
		}
		t.lights = append(t.lights, l)
	}
	return nil
}

// verifyLights checks that each light peer was pushed each message once.
func (t *nodeTarget) verifyLights() error {
	for _, l := range t.lights {
		if err := l.verify(len(t.sent)); err != nil {
			return err
		}
	}
	return nil
}

// lightLosses returns what light peers got that they should not have.
func (t *nodeTarget) lightLosses() (lines []string) {
	for i, l := range t.lights {
		if err := l.strange.Load(); err != nil {
			lines = append(lines, fmt.Sprintf("light peer %d: %v", i+1, *err))
		}
	}
	return lines
}

// stopReceiver stops the receiver, and then its light peers.
func (t *nodeTarget) stopReceiver() error {
	errs := []error{t.receiver.stop()}
	for _, l := range t.lights {
		errs = append(errs, l.stop())
	}
	return errors.Join(errs...)
}
